import { Buffer } from "node:buffer";
import { onAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { CodedError } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { ClientError } from "./errors.ts";
import type { RpcObserver, RpcOutcome } from "./rpc-caller.ts";
import { badResponse, parseRpcResponses, type RpcResponse } from "./rpc-response.ts";

/** Settings of the requests to one endpoint. */
export interface BatchOptions {
  /** Name of the endpoint in errors and metrics. */
  readonly endpoint: string;
  /** Longest time from sending the request to settling its calls. */
  readonly deadlineMs: number;
}

/** Response to one POST. */
export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends JSON bodies to one endpoint. */
export interface HttpTransport {
  /** Sends one body. Rejects with `unreachable`, `too-large`, `closed` or the signal's reason. Has no deadline of its own. */
  readonly post: (body: string, signal: AbortSignal) => Promise<HttpResponse>;
  /** Destroys all connections. Requests in flight reject with `closed`. */
  readonly close: () => void;
}

export interface BatchDeps {
  readonly transport: HttpTransport;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly observer: RpcObserver;
}

/**
 * Parameters with more characters than this get a request of their own. Ten calls (the usual `maxBatch`) below the limit
 * fit into the 1,000,000 bytes of CometBFT's `max_body_bytes`.
 */
const MAX_SHARED_CHARACTERS = 90_000;

/**
 * Groups calls into requests of at most `maxBatch` calls, in order. CometBFT responds to a batch of
 * more than `rpc.max_request_batch_size` calls (10 by default) with a single error.
 *
 * A broadcast gets a request of its own. An error for the request as a whole, caused by another call, would hide
 * whether the node accepted the transaction. A call with large parameters, such as a simulation, travels alone too: two
 * of them could exceed the node's limit for a request although each is below it.
 */
export function planRequests(
  calls: readonly PendingCall[],
  maxBatch: number,
): readonly (readonly PendingCall[])[] {
  const requests: PendingCall[][] = [];
  let open: PendingCall[] = [];
  for (const call of calls) {
    if (call.method.startsWith("broadcast_") || charactersOf(call) > MAX_SHARED_CHARACTERS) {
      requests.push([call]);
      continue;
    }
    if (open.length === 0) requests.push(open);
    open.push(call);
    if (open.length >= maxBatch) open = [];
  }
  return requests;
}

/** Counts the characters of the string parameters. All other parameters are short. */
function charactersOf({ params }: PendingCall): number {
  return Object.values(params).reduce<number>(
    (sum, value) => (typeof value === "string" ? sum + value.length : sum),
    0,
  );
}

/** Sends one request and settles all its calls, at the deadline at the latest. Never rejects. */
export async function sendBatch(
  batch: readonly PendingCall[],
  options: BatchOptions,
  deps: BatchDeps,
): Promise<void> {
  const stop = new AbortController();
  // One timer serves the batch, because its calls were made in the same turn of the event loop.
  const timer = setTimeout(() => {
    // Reject before the abort. The abort makes `exchange` fail, and the first rejection of a call counts.
    for (const call of batch) call.reject(timeoutError(call, options));
    stop.abort(new Error("deadline"));
  }, options.deadlineMs);
  abortWhenSettled(batch, stop);
  try {
    await exchange(batch, options, { ...deps, signal: stop.signal });
  } catch (error) {
    for (const call of batch) call.reject(toError(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Created once. Every request ends with it, and capturing a stack trace costs more than the rest of the request's code. */
const ALL_SETTLED = new Error("all calls of the request are settled");

/** Aborts the request when its last call settles, for instance by the abort of its caller. This frees the connection. */
function abortWhenSettled(batch: readonly PendingCall[], stop: AbortController): void {
  let unsettled = batch.length;
  for (const call of batch)
    call.whenSettled(() => {
      unsettled -= 1;
      if (unsettled === 0) stop.abort(ALL_SETTLED);
    });
}

interface ExchangeDeps extends BatchDeps {
  readonly signal: AbortSignal;
}

/**
 * Sends one request and settles its calls. When the request exceeds the node's limit, or the response the transport's
 * limit, sends both halves of the batch instead: ten calls may be too large together while each is acceptable alone.
 */
async function exchange(
  batch: readonly PendingCall[],
  options: BatchOptions,
  deps: ExchangeDeps,
): Promise<void> {
  try {
    deliver(batch, await post(batch, options, deps), options.endpoint);
  } catch (error) {
    if (batch.length < 2 || !TOO_LARGE.has(outcomeOf(error))) throw error;
    const middle = Math.ceil(batch.length / 2);
    // One half after the other, so that only one large response is in memory. The deadline covers both.
    for (const half of [batch.slice(0, middle), batch.slice(middle)])
      await exchange(half, options, deps).catch((cause: unknown) => {
        for (const call of half) call.reject(toError(cause));
      });
  }
}

const TOO_LARGE: ReadonlySet<string> = new Set(["too-large", "request-too-large"]);

async function post(
  batch: readonly PendingCall[],
  { endpoint }: BatchOptions,
  deps: ExchangeDeps,
): Promise<readonly RpcResponse[]> {
  const body = encodeRequest(batch);
  const observe = (outcome: string, bytesIn: number): void =>
    deps.observer.onRequest({
      endpoint,
      calls: batch.length,
      bytesOut: Buffer.byteLength(body),
      bytesIn,
      outcome,
    });
  try {
    const response = await deps.transport.post(body, deps.signal);
    const responses = parseBody(response, endpoint);
    observe("ok", Buffer.byteLength(response.body));
    return responses;
  } catch (error) {
    observe(outcomeOf(error), 0);
    throw error;
  }
}

/**
 * Parses the body whatever the HTTP status is, because nodes send some JSON-RPC errors with status 400 or 500. The
 * status becomes the error only when the body is not JSON-RPC. Throws `request-too-large` when the node did not read the
 * request because of its size.
 */
function parseBody(response: HttpResponse, endpoint: string): readonly RpcResponse[] {
  if (response.status === CONTENT_TOO_LARGE) throw requestTooLarge(endpoint);
  const responses = parseResponses(response, endpoint);
  const error = errorWithoutId(responses);
  if (error !== undefined && "rpcCode" in error && BODY_TOO_LARGE.test(`${error.message} ${error.data}`))
    throw requestTooLarge(endpoint);
  return responses;
}

/** HTTP status of reverse proxies for a request that exceeds their limit. */
const CONTENT_TOO_LARGE = 413;
/** Text of Go's `http.MaxBytesReader`. CometBFT sends it with status 400, code -32600 and no id. */
const BODY_TOO_LARGE = /request body too large/i;

function requestTooLarge(endpoint: string): ClientError {
  return new ClientError(
    { code: "request-too-large", endpoint },
    `${endpoint} refused the request because its body is too large`,
  );
}

function parseResponses(response: HttpResponse, endpoint: string): readonly RpcResponse[] {
  try {
    return parseRpcResponses(response.body, endpoint);
  } catch (error) {
    if (response.status === 200) throw error;
    throw new ClientError(
      { code: "http-status", endpoint, status: response.status },
      `${endpoint} responded with HTTP status ${response.status}`,
    );
  }
}

function encodeRequest(batch: readonly PendingCall[]): string {
  const frames = batch.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, method, params }));
  return JSON.stringify(frames.length === 1 ? frames[0] : frames);
}

/**
 * Settles each call with the response of its id. JSON-RPC allows responses in any order. A lone error without an id
 * applies to all calls. A call without a response rejects with `bad-answer`.
 */
function deliver(batch: readonly PendingCall[], responses: readonly RpcResponse[], endpoint: string): void {
  const byId = new Map(responses.map((response) => [response.id, response]));
  const errorForAll = errorWithoutId(responses);
  for (const call of batch) {
    const response = byId.get(call.id) ?? errorForAll;
    if (response === undefined)
      call.reject(badResponse(endpoint, `response to ${call.method}`, "is missing from the batch"));
    else settleWith(call, response, endpoint);
  }
}

function errorWithoutId(responses: readonly RpcResponse[]): RpcResponse | undefined {
  const [only] = responses;
  if (responses.length !== 1 || only === undefined || "result" in only) return undefined;
  return only.id === null || only.id === -1 ? only : undefined;
}

function settleWith(call: PendingCall, response: RpcResponse, endpoint: string): void {
  if ("result" in response) {
    call.resolve(response.result);
    return;
  }
  const { rpcCode, message, data } = response;
  const text = data === "" ? message : `${message}: ${data}`;
  call.reject(
    new ClientError(
      { code: "rpc", endpoint, method: call.method, rpcCode, data },
      `${endpoint} refused ${call.method} (${rpcCode}): ${text}`,
    ),
  );
}

function timeoutError(call: PendingCall, { endpoint, deadlineMs }: BatchOptions): ClientError {
  return new ClientError(
    { code: "timeout", endpoint, method: call.method, afterMs: deadlineMs },
    `${endpoint} did not respond to ${call.method} within ${deadlineMs} ms`,
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("request failed", { cause: error });
}

/** A call whose response has not arrived yet. Settles once; later calls of `resolve` and `reject` have no effect. */
export interface PendingCall {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly isSettled: () => boolean;
  /** Calls `listener` when the call settles, or immediately when it is settled already. */
  readonly whenSettled: (listener: () => void) => void;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Content and callbacks of a call. `onSettled` runs after `resolve` or `reject`. */
interface PendingCallRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onSettled: (call: PendingCall, outcome: RpcOutcome) => void;
}

/** Creates a call. It rejects with the signal's reason when the signal aborts first. */
export function createPendingCall(request: PendingCallRequest): PendingCall {
  const listeners: (() => void)[] = [];
  let settled = false;
  let unwatch: (() => void) | undefined;
  const settle = (outcome: RpcOutcome, finish: () => void): void => {
    // Response, deadline and abort race. The first one decides.
    if (settled) return;
    settled = true;
    unwatch?.();
    finish();
    for (const listener of listeners) listener();
    request.onSettled(call, outcome);
  };
  const call: PendingCall = {
    id: request.id,
    method: request.method,
    params: request.params,
    isSettled: () => settled,
    whenSettled: (listener) => {
      if (settled) listener();
      else listeners.push(listener);
    },
    resolve: (result) => settle("ok", () => request.resolve(result)),
    reject: (error) => settle(outcomeOf(error), () => request.reject(error)),
  };
  unwatch = onAbort(request.signal, (reason) => settle("aborted", () => request.reject(reason)));
  return call;
}

/** Returns the error's code, as a metric label with a closed set of values. */
function outcomeOf(error: unknown): RpcOutcome {
  return error instanceof CodedError ? error.facts.code : "aborted";
}
