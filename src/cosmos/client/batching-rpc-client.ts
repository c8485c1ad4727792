import { Buffer } from "node:buffer";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { abortReason } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { isRecord, type JsonObject } from "../../platform/base/json.ts";
import { createRemoteConnections, followRedirect, proxyOf } from "../../platform/http/remote.ts";
import type { ParsedEndpoint } from "./endpoint.ts";
import { ClientError, closedError } from "../client-error.ts";
import {
  type BatchTarget,
  planRequests,
  sendBatch,
  createPendingCall,
  type PendingCall,
  type HttpResponse,
  type HttpTransport,
} from "./request-batch.ts";
import type { RpcCaller } from "./rpc-caller.ts";

/** Maximum number of pending calls per endpoint. Above this number, calls reject with `overloaded`. */
const MAX_PENDING = 10_000;

interface BatchingOptions extends Omit<BatchTarget, "onRefused"> {
  /** Initial maximum number of calls per request. The maximum is lowered if the endpoint refuses a batch; see {@link planRequests}. */
  readonly maxBatch: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Creates a JSON-RPC client that sends all calls made in one turn of the event loop in as few requests as possible. */
export function createBatchingRpcClient({ maxBatch, clock, ...given }: BatchingOptions): RpcCaller {
  const { endpoint, observer, transport } = given;
  const pending = new Set<PendingCall>();
  let queue: PendingCall[] = [];
  let nextId = 1;
  let isClosed = false;

  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> => {
    if (isClosed) return Promise.reject(closedError());
    if (pending.size >= MAX_PENDING) {
      const text = `${endpoint} already has ${MAX_PENDING} pending calls`;
      return Promise.reject(new ClientError({ code: "overloaded", endpoint, limit: MAX_PENDING }, text));
    }
    const startedMs = clock.monotonicMs();
    const created = createPendingCall({ id: nextId++, method, params }, signal, (settled, outcome) => {
      pending.delete(settled);
      const durationMs = clock.monotonicMs() - startedMs;
      observer.onCall({ endpoint, method, outcome, durationMs });
    });
    if (!created.isSettled()) enqueue(created);
    return created.response;
  };

  const enqueue = (created: PendingCall): void => {
    pending.add(created);
    // setImmediate runs after all microtasks, so calls that are made after a few awaits in the same turn still join the batch.
    if (queue.length === 0) setImmediate(flush);
    queue.push(created);
  };

  // Maximum number of calls per batch. A batch that the endpoint refuses is halved, and later batches keep the smaller size.
  let batchSize = maxBatch;
  const onRefused = (size: number): void => {
    batchSize = Math.min(batchSize, size);
  };
  const flush = (): void => {
    const calls = queue.filter((queued) => !queued.isSettled());
    queue = [];
    for (const batch of planRequests(calls, batchSize)) void sendBatch(batch, { ...given, onRefused });
  };

  const close = (): void => {
    isClosed = true;
    for (const unsettled of pending) unsettled.reject(closedError());
    transport.close();
  };
  return { call, batchSize: () => batchSize, close };
}

const CONNECT_TIMEOUT_MS = 3_000;
const MAX_REDIRECTS = 3;

/**
 * Creates a transport with a pool of at most `connections` keep-alive connections. The transport follows redirects to the same
 * host. A request fails if its response exceeds `maxResponseBytes`, before or after decompression.
 */
export function createHttpTransport(
  endpoint: ParsedEndpoint,
  { connections, maxResponseBytes }: { readonly connections: number; readonly maxResponseBytes: number },
): HttpTransport {
  const { name } = endpoint;
  const settings = {
    connections,
    pipelining: 1,
    // Disable undici's timeouts, so that the caller's signal is the only deadline. Otherwise, the error would depend on which
    // timeout fires first.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxResponseBytes,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  };
  const remote = createRemoteConnections(settings, endpoint.network);
  const dispatcher = remote.to(new URL(endpoint.origin));
  const proxy = proxyOf(new URL(endpoint.origin), endpoint.network);
  const place = proxy === undefined ? name : `${name}, through the proxy ${proxy.host},`;
  const headers = { ...endpoint.headers, "content-type": "application/json", accept: "application/json" };
  let address = new URL(endpoint.path, endpoint.origin);
  const toClientError = (error: unknown, signal: AbortSignal): Error => {
    if (error instanceof ClientError) return error;
    if (signal.aborted) return abortReason(signal);
    const reason = errorCode(error);
    if (reason === "UND_ERR_DESTROYED" || reason === "UND_ERR_CLOSED") return closedError();
    return reason === "UND_ERR_RES_EXCEEDED_MAX_SIZE"
      ? new ClientError(
          { code: "too-large", endpoint: name, limitBytes: maxResponseBytes },
          `the response from ${name} exceeds ${maxResponseBytes} bytes`,
        )
      : new ClientError(
          { code: "unreachable", endpoint: name, reason },
          `${place} is unreachable or closed the connection (${reason})`,
        );
  };
  const post = async (body: string, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      for (let redirects = 0; ; redirects++) {
        const target = { origin: address.origin, path: `${address.pathname}${address.search}` };
        const response = await dispatcher.request({ method: "POST", ...target, headers, body, signal });
        const { location, "retry-after": retryAfter, "content-encoding": encoding } = response.headers;
        const bytes = Buffer.from(await response.body.arrayBuffer());
        const status = response.statusCode;
        if (status < 300 || status >= 400 || typeof location !== "string") {
          const text = decoded(bytes, encoding, maxResponseBytes);
          return { status, body: text, retryAfterMs: retryAfterMs(retryAfter) };
        }
        const next = followRedirect(address, location);
        if (typeof next === "string" || status === 303 || redirects >= MAX_REDIRECTS)
          throw redirected(name, status, typeof next === "string" ? next : "itself");
        address = next;
      }
    } catch (error) {
      throw toClientError(error, signal);
    }
  };
  const close = (): void => {
    remote.close().catch(() => {});
  };
  return { post, close };
}

function redirected(endpoint: string, status: number, target: string): ClientError {
  return new ClientError(
    { code: "http-status", endpoint, status },
    `${endpoint} redirects to ${target} (HTTP status ${status}); configure that address if you trust it`,
  );
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string") return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? ms : undefined;
}

/** Decompresses a response, because some gateways compress responses without being asked. */
function decoded(bytes: Buffer, encoding: string | string[] | undefined, maxOutputLength: number): string {
  const inflate = encoding === "gzip" ? gunzipSync : encoding === "br" ? brotliDecompressSync : undefined;
  return (inflate?.(bytes, { maxOutputLength }) ?? bytes).toString("utf8");
}

/**
 * Returns a socket error's code, such as ECONNREFUSED. For a host with several addresses, the error is an AggregateError that
 * contains one error per address.
 */
function errorCode(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  if (first !== undefined) return errorCode(first);
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  return error instanceof Error ? error.name : "unknown";
}
