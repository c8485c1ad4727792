import { Buffer } from "node:buffer";
import { Pool } from "undici";
import { abortReason } from "../../platform/base/abort.ts";
import { isRecord, type JsonObject } from "../../platform/base/json.ts";
import type { ParsedEndpoint } from "./pooled-endpoint.ts";
import { ClientError } from "./errors.ts";
import {
  type BatchDeps,
  type BatchOptions,
  planRequests,
  sendBatch,
  createPendingCall,
  type PendingCall,
  type HttpResponse,
  type HttpTransport,
} from "./request-batch.ts";
import type { RpcCaller, RpcOutcome } from "./rpc-caller.ts";

/** Limits of a batching client. */
export interface BatchingOptions extends BatchOptions {
  /** Largest number of calls in one request; see {@link planRequests}. */
  readonly maxBatch: number;
  /** Largest number of pending calls. A further call rejects with `overloaded`. */
  readonly maxPending: number;
}

/** Creates a JSON-RPC client that sends all calls of one turn of the event loop in as few requests as possible. */
export function createBatchingRpcClient(options: BatchingOptions, deps: BatchDeps): RpcCaller {
  const pending = new Set<PendingCall>();
  let queue: PendingCall[] = [];
  let nextId = 1;
  let isClosed = false;

  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> => {
    if (isClosed) return Promise.reject(closedError());
    if (pending.size >= options.maxPending) return Promise.reject(overloadedError(options));
    return new Promise((resolve, reject) => {
      const startedMs = deps.clock.monotonicMs();
      const onSettled = (settled: PendingCall, outcome: RpcOutcome): void => {
        pending.delete(settled);
        const durationMs = deps.clock.monotonicMs() - startedMs;
        deps.observer.onCall({ endpoint: options.endpoint, method, outcome, durationMs });
      };
      enqueue(createPendingCall({ id: nextId++, method, params, signal, resolve, reject, onSettled }));
    });
  };

  const enqueue = (created: PendingCall): void => {
    if (created.isSettled()) return;
    pending.add(created);
    // setImmediate runs after all microtasks, so calls that follow a few awaits in the same turn still join the batch.
    if (queue.length === 0) setImmediate(flush);
    queue.push(created);
  };

  const flush = (): void => {
    const calls = queue.filter((queued) => !queued.isSettled());
    queue = [];
    for (const batch of planRequests(calls, options.maxBatch)) void sendBatch(batch, options, deps);
  };

  const close = (): void => {
    isClosed = true;
    for (const unsettled of pending) unsettled.reject(closedError());
    deps.transport.close();
  };
  return { call, close };
}

function overloadedError({ endpoint, maxPending }: BatchingOptions): ClientError {
  return new ClientError(
    { code: "overloaded", endpoint, limit: maxPending },
    `${maxPending} calls to ${endpoint} are pending already`,
  );
}

function closedError(): ClientError {
  return new ClientError({ code: "closed" }, "the client is closed");
}

/** Limits of a transport. */
interface HttpTransportOptions {
  /** Largest number of connections to the endpoint. Further requests wait for a free one. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** A longer response rejects with `too-large`. */
  readonly maxResponseBytes: number;
}

/** Creates a transport over a pool of keep-alive connections. */
export function createHttpTransport(endpoint: ParsedEndpoint, options: HttpTransportOptions): HttpTransport {
  // The caller's signal is the only deadline. With undici's own timeouts the error would depend on which fires first.
  const pool = new Pool(endpoint.origin, {
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.connectTimeoutMs },
  });
  const headers = { ...endpoint.headers, "content-type": "application/json", accept: "application/json" };
  const post = async (body: string, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      const response = await pool.request({ method: "POST", path: endpoint.path, headers, body, signal });
      return { status: response.statusCode, body: await readBounded(response.body, endpoint.name, options) };
    } catch (error) {
      throw toClientError(error, endpoint.name, signal);
    }
  };
  const close = (): void => {
    pool.destroy().catch(() => {});
  };
  return { post, close };
}

/** Reads the complete body. Throwing inside the loop destroys the stream and its connection. */
async function readBounded(
  body: AsyncIterable<Uint8Array>,
  endpoint: string,
  { maxResponseBytes }: HttpTransportOptions,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxResponseBytes)
      throw new ClientError(
        { code: "too-large", endpoint, limitBytes: maxResponseBytes },
        `the response of ${endpoint} has more than ${maxResponseBytes} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function toClientError(error: unknown, endpoint: string, signal: AbortSignal): Error {
  if (error instanceof ClientError) return error;
  if (signal.aborted) return abortReason(signal);
  const reason = errorCode(error);
  if (reason === "UND_ERR_DESTROYED" || reason === "UND_ERR_CLOSED")
    return new ClientError({ code: "closed" }, "the client is closed");
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `${endpoint} is unreachable or closed the connection (${reason})`,
  );
}

/**
 * Returns the code of a socket error, such as ECONNREFUSED. A host name with several addresses yields an AggregateError
 * with one error for each address.
 */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError) {
    const [first] = error.errors;
    if (first !== undefined) return errorCode(first);
  }
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  return error instanceof Error ? error.name : "unknown";
}
