import { Buffer } from "node:buffer";
import { onAbort } from "../../platform/base/abort.ts";
import { CONNECTION_ENDED } from "../../platform/http/remote.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import { CodedError } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { isRequestTooLarge, readAnswer } from "./answers.ts";
import { ClientError } from "../client-error.ts";
import type { RpcObserver } from "./rpc-caller.ts";
import { badResponse, parseRpcResponses, type RpcFailure, type RpcResponse } from "./rpc-response.ts";

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
  /** Wait requested by the `Retry-After` header, in ms. */
  readonly retryAfterMs?: number | undefined;
}

/** Sends JSON bodies to one endpoint over HTTP. */
export interface HttpTransport {
  /**
   * Sends one body. The transport has no deadline. Rejects with `unreachable`, `too-large` or `closed`, or with the signal's reason
   * on abort.
   */
  readonly post: (body: string, signal: AbortSignal) => Promise<HttpResponse>;
  /** Destroys all connections, so that requests in flight reject with `closed`. */
  readonly close: () => void;
}

/** The endpoint that receives batches of calls. */
export interface BatchTarget {
  /** The endpoint's name in errors and metrics. */
  readonly endpoint: string;
  /** Calls without a response are rejected with `timeout` after this time. */
  readonly deadlineMs: number;
  readonly transport: HttpTransport;
  readonly observer: RpcObserver;
  /** Called when the endpoint refuses a batch of more than `size` calls. */
  readonly onRefused: (size: number) => void;
}

/**
 * Maximum number of characters in the parameters of a call that shares a request with other calls. A call with larger parameters is
 * sent in a separate request. Ten calls (the usual `maxBatch`) below this limit fit into CometBFT's `max_body_bytes` of 1,000,000.
 */
const MAX_SHARED_CHARACTERS = 90_000;

/**
 * Groups calls, in order, into requests of at most `maxBatch` calls. CometBFT responds to a batch of more than
 * `rpc.max_request_batch_size` calls (10 by default) with a single error.
 *
 * A broadcast is sent in a separate request. Otherwise, if another call caused an error for the entire request, it would be unknown
 * whether the node accepted the transaction. A call with large parameters, such as a simulation, is also sent in a separate
 * request, because two such calls could exceed the node's request limit.
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

/** Returns the number of characters in a call's string parameters. Parameters of other types are short and not counted. */
function charactersOf({ params }: PendingCall): number {
  return Object.values(params).reduce<number>(
    (sum, value) => (typeof value === "string" ? sum + value.length : sum),
    0,
  );
}

/** Sends one request and settles all its calls by the deadline. Never rejects. */
export async function sendBatch(batch: readonly PendingCall[], target: BatchTarget): Promise<void> {
  const stop = new AbortController();
  // Use one timer for all calls in the batch, because the calls were made in the same turn of the event loop.
  const timer = setTimeout(() => {
    // Reject before aborting, because the abort makes `exchange` fail and only a call's first rejection takes effect.
    for (const call of batch) call.reject(timeoutError(call, target));
    stop.abort(new Error("deadline"));
  }, target.deadlineMs);
  // Free the connection once all calls have settled, e.g. because they were aborted.
  void Promise.allSettled(batch.map(({ response }) => response)).then(() => stop.abort(ALL_SETTLED));
  try {
    await exchange(batch, target, stop.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Abort reason that frees a request's connection once all its calls have settled. Created only once, because capturing a stack
 * trace is slow.
 */
const ALL_SETTLED = new Error("all calls of the request are settled");

/**
 * Sends one request and settles its calls. If the endpoint refuses the batch or a response is too large, sends the two halves of
 * the batch separately. Continues in this way down to single calls. Returns the error if no call got a response.
 */
async function exchange(
  batch: readonly PendingCall[],
  target: BatchTarget,
  signal: AbortSignal,
): Promise<Error | undefined> {
  let left = batch;
  let refusal: Error;
  let refused: Refusal;
  try {
    left = deliver(batch, await postUncut(batch, target, signal), target.endpoint);
    if (left.length === 0) return undefined;
    refusal = badResponse(target.endpoint, "batch", "has no response to each call");
    refused = "batch";
  } catch (error) {
    refusal = toError(error);
    refused = batch.length < 2 ? undefined : refusalOf(error);
    if (refused === undefined) {
      for (const call of batch) call.reject(ofCall(refusal, call));
      return refusal;
    }
  }
  const middle = left.length === batch.length ? Math.ceil(batch.length / 2) : left.length;
  // Send the halves one after the other. In this way, only one large response is in memory, and an endpoint that is down receives
  // few requests.
  const failed = await exchange(left.slice(0, middle), target, signal);
  if (failed === undefined && refused === "batch") target.onRefused(middle);
  if (failed === undefined || isOfOneCall(failed)) {
    if (middle < left.length) await exchange(left.slice(middle), target, signal);
    return undefined;
  }
  for (const call of left) call.reject(ofCall(failed, call));
  return left.length === batch.length ? failed : undefined;
}

function isOfOneCall(error: Error): boolean {
  return (
    error instanceof ClientError &&
    (["rpc", "too-large"].includes(error.facts.code) || isRequestTooLarge(error))
  );
}

/**
 * The endpoint's limit that a request exceeded and that a smaller request could meet. Undefined if a smaller request would not
 * help, e.g. for a rate limit.
 */
type Refusal = "batch" | "size" | undefined;

/** Infers which limit a request exceeded from an HTTP status, an HTML page, one error for all calls, or a closed connection. */
function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ClientError)) return undefined;
  const { facts } = error;
  if (facts.code === "too-large") return "size";
  // The result "size" splits this batch without lowering the size of later batches, because the node has often only closed an idle
  // connection.
  if (facts.code === "unreachable") return isCut(error) ? "size" : undefined;
  if (facts.code === "http-status") return BATCH_STATUS.test(facts.status.toString()) ? "batch" : undefined;
  const isOfAll = facts.code === "rpc" && ["not-here", "final"].includes(readAnswer(error).class);
  return isOfAll || facts.code === "bad-answer" ? "batch" : undefined;
}

/** HTTP statuses that can mean that the batch was refused. Statuses for credentials, timeouts, rate limits and gateways are excluded. */
const BATCH_STATUS = /^(?:4(?!0[1278]|2[59])..|50[01])$/;

/** Returns true if the connection ended before the response. */
function isCut(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return error.facts.code === "unreachable" && CONNECTION_ENDED.has(error.facts.reason);
}

/**
 * Sends a single call again if its connection ends before the response, because a node may close an idle connection at any time.
 * Never repeats a broadcast, because its sender decides about repeating it. Never repeats a batch, because its halves are sent
 * next.
 */
async function postUncut(
  batch: readonly PendingCall[],
  target: BatchTarget,
  signal: AbortSignal,
): Promise<Responses> {
  try {
    return await post(batch, target, signal);
  } catch (error) {
    const isRepeatable = batch.length === 1 && batch[0]?.method.startsWith("broadcast_") === false;
    if (!isRepeatable || !isCut(error) || signal.aborted) throw error;
    return post(batch, target, signal);
  }
}

async function post(
  batch: readonly PendingCall[],
  { endpoint, transport, observer }: BatchTarget,
  signal: AbortSignal,
): Promise<Responses> {
  const frames = batch.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, method, params }));
  const body = JSON.stringify(frames.length === 1 ? frames[0] : frames);
  const request = { endpoint, calls: batch.length, bytesOut: Buffer.byteLength(body) };
  try {
    const response = await transport.post(body, signal);
    const responses = parseBody(response, batch, endpoint);
    observer.onRequest({ ...request, bytesIn: Buffer.byteLength(response.body), outcome: "ok" });
    return responses;
  } catch (error) {
    observer.onRequest({ ...request, bytesIn: 0, outcome: outcomeOf(error) });
    throw error;
  }
}

/** HTTP status and `Retry-After` of a response, which are added to the JSON-RPC errors in its body. */
type HttpFacts = Omit<HttpResponse, "body">;

interface Responses {
  readonly responses: readonly RpcResponse[];
  readonly facts: HttpFacts;
}

/**
 * Parses the body regardless of the HTTP status, because nodes send some JSON-RPC errors with status 400 or 500. The status
 * becomes the error only if the body is not JSON-RPC. Throws if the body is one JSON-RPC error for all calls.
 */
function parseBody(
  { body, ...facts }: HttpResponse,
  batch: readonly PendingCall[],
  endpoint: string,
): Responses {
  const responses = parseResponses(body, facts, endpoint);
  const [only] = responses;
  const isForAll = responses.length === 1 && (batch.length > 1 || only?.id !== batch[0]?.id);
  if (isForAll && only !== undefined && "rpcCode" in only)
    throw rpcError(only, batch[0]?.method ?? "", facts, endpoint);
  return { responses, facts };
}

function parseResponses(body: string, facts: HttpFacts, endpoint: string): readonly RpcResponse[] {
  try {
    return parseRpcResponses(body, endpoint);
  } catch (error) {
    if (facts.status === 200) throw error;
    throw new ClientError(
      { code: "http-status", endpoint, ...facts },
      `${endpoint} responded with HTTP status ${facts.status}`,
    );
  }
}

/**
 * Settles each call with the response that has the call's id, because JSON-RPC allows responses in any order. Returns the batched
 * calls that got no response or were refused because of the batch. A single call without a response rejects with `bad-answer`.
 */
function deliver(
  batch: readonly PendingCall[],
  { responses, facts }: Responses,
  endpoint: string,
): readonly PendingCall[] {
  const byId = new Map(responses.map((response) => [String(response.id), response]));
  return batch.filter((call) => {
    const response = byId.get(call.id.toString());
    if (response !== undefined && "result" in response) {
      call.resolve(response.result);
      return false;
    }
    const error =
      response === undefined
        ? badResponse(endpoint, `response to ${call.method}`, "is missing")
        : rpcError(response, call.method, facts, endpoint);
    const isOfBatch = response === undefined || readAnswer(error).lack === "batch";
    if (batch.length > 1 && isOfBatch) return true;
    call.reject(ofCall(error, call));
    return false;
  });
}

function rpcError(
  { rpcCode, message, data }: RpcFailure,
  method: string,
  facts: HttpFacts,
  endpoint: string,
): ClientError {
  const text = data === "" ? message : `${message}: ${data}`;
  return new ClientError(
    { code: "rpc", endpoint, method, rpcCode, data, message, ...facts },
    `${endpoint} refused ${method} (${rpcCode}): ${text}`,
  );
}

/** Adds the call's method to the request's error, because errors of broadcasts are classified differently. */
function ofCall(error: Error, { method }: PendingCall): Error {
  if (!(error instanceof ClientError)) return error;
  const { facts } = error;
  if (facts.code === "rpc") return new ClientError({ ...facts, method }, error.message);
  const isOfRequest =
    facts.code === "unreachable" || facts.code === "http-status" || facts.code === "bad-answer";
  return isOfRequest ? new ClientError({ ...facts, method }, error.message) : error;
}

function timeoutError(call: PendingCall, { endpoint, deadlineMs }: BatchTarget): ClientError {
  return new ClientError(
    { code: "timeout", endpoint, method: call.method, afterMs: deadlineMs },
    `${endpoint} did not respond to ${call.method} within ${deadlineMs} ms`,
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("request failed", { cause: error });
}

/** A call whose response has not arrived yet. A call settles only once, so later calls to `resolve` and `reject` have no effect. */
export interface PendingCall {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly response: Promise<unknown>;
  readonly isSettled: () => boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Creates a call that rejects with the signal's reason if the signal aborts first. `onSettled` runs after `resolve` or `reject`.
 */
export function createPendingCall(
  request: Pick<PendingCall, "id" | "method" | "params">,
  signal: AbortSignal,
  onSettled: (call: PendingCall, outcome: string) => void,
): PendingCall {
  const { promise: response, resolve, reject } = createDeferred<unknown>();
  let isSettled = false;
  let unwatch: (() => void) | undefined;
  const end = (outcome: string, finish: () => void): void => {
    // Only the first of response, deadline and abort settles the call.
    if (isSettled) return;
    isSettled = true;
    unwatch?.();
    finish();
    onSettled(call, outcome);
  };
  const call: PendingCall = {
    ...request,
    response,
    isSettled: () => isSettled,
    resolve: (result) => end("ok", () => resolve(result)),
    reject: (error) => end(outcomeOf(error), () => reject(error)),
  };
  unwatch = onAbort(signal, (reason) => end("aborted", () => reject(reason)));
  return call;
}

/** Returns the error's code for a metric label, which has a closed set of values. */
function outcomeOf(error: unknown): string {
  return error instanceof CodedError ? error.facts.code : "aborted";
}
