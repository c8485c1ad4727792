import { Buffer } from "node:buffer";
import type { Clock } from "../../base/clock.ts";
import { ClientError } from "../errors.ts";
import type { HttpAnswer, HttpTransport } from "./http-transport.ts";
import { outcomeOf, type PendingCall } from "./pending-call.ts";
import { badAnswer, parseRpcAnswers, type RpcAnswer } from "./rpc-response.ts";
import type { RpcObserver } from "./rpc-caller.ts";

/** How requests to one endpoint are made. */
export interface BatchOptions {
  /** How errors and metrics name the endpoint. */
  readonly endpoint: string;
  /** From the call to its answer. */
  readonly deadlineMs: number;
}

/** What sending needs from its surroundings. */
export interface BatchDeps {
  readonly transport: HttpTransport;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly observer: RpcObserver;
}

/** Broadcasts alone, everything else in order in groups of at most `maxBatch`. */
export function planRequests(
  calls: readonly PendingCall[],
  maxBatch: number,
): readonly (readonly PendingCall[])[] {
  const requests: PendingCall[][] = [];
  let open: PendingCall[] = [];
  for (const call of calls) {
    if (call.method.startsWith("broadcast_")) {
      requests.push([call]);
      continue;
    }
    if (open.length === 0) requests.push(open);
    open.push(call);
    if (open.length >= maxBatch) open = [];
  }
  return requests;
}

/** Sends one request and settles every call of it: with its answer, with an error, or at the deadline. Never throws. */
export async function sendBatch(
  batch: readonly PendingCall[],
  options: BatchOptions,
  deps: BatchDeps,
): Promise<void> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    for (const call of batch) call.reject(timeoutError(call, options));
    stop.abort(new Error("deadline"));
  }, options.deadlineMs);
  stopWhenSettled(batch, stop);
  try {
    await exchange(batch, options, { ...deps, signal: stop.signal });
  } catch (error) {
    for (const call of batch) call.reject(toError(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Made once: it ends every request, and a stack trace for each costs more than the request's own code. */
const NOBODY_WAITS = new Error("nobody waits for the answer");

/** Frees the connection once nobody waits for the answer any more. */
function stopWhenSettled(batch: readonly PendingCall[], stop: AbortController): void {
  let waiting = batch.length;
  for (const call of batch)
    call.whenSettled(() => {
      waiting -= 1;
      if (waiting === 0) stop.abort(NOBODY_WAITS);
    });
}

interface ExchangeDeps extends BatchDeps {
  readonly signal: AbortSignal;
}

/** One request and its answer; halves the batch when the answer is too large for us. */
async function exchange(
  batch: readonly PendingCall[],
  options: BatchOptions,
  deps: ExchangeDeps,
): Promise<void> {
  try {
    deliver(batch, await post(batch, options, deps), options.endpoint);
  } catch (error) {
    if (batch.length < 2 || outcomeOf(error) !== "too-large") throw error;
    const middle = Math.ceil(batch.length / 2);
    for (const half of [batch.slice(0, middle), batch.slice(middle)])
      await exchange(half, options, deps).catch((cause: unknown) => {
        for (const call of half) call.reject(toError(cause));
      });
  }
}

async function post(
  batch: readonly PendingCall[],
  { endpoint }: BatchOptions,
  deps: ExchangeDeps,
): Promise<readonly RpcAnswer[]> {
  const body = encodeRequest(batch);
  const note = (outcome: string, bytesIn: number): void =>
    deps.observer.onRequest({
      endpoint,
      calls: batch.length,
      bytesOut: Buffer.byteLength(body),
      bytesIn,
      outcome,
    });
  try {
    const answer = await deps.transport.post(body, deps.signal);
    const answers = parseAnswer(answer, endpoint);
    note("ok", Buffer.byteLength(answer.body));
    return answers;
  } catch (error) {
    note(outcomeOf(error), 0);
    throw error;
  }
}

/** A JSON-RPC body counts whatever its HTTP status (older nodes answer errors with 500); without one the status speaks. */
function parseAnswer(answer: HttpAnswer, endpoint: string): readonly RpcAnswer[] {
  try {
    return parseRpcAnswers(answer.body, endpoint);
  } catch (error) {
    if (answer.status === 200) throw error;
    throw new ClientError(
      { code: "http-status", endpoint, status: answer.status },
      `${endpoint} answered with HTTP status ${answer.status}`,
    );
  }
}

function encodeRequest(batch: readonly PendingCall[]): string {
  const frames = batch.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, method, params }));
  return JSON.stringify(frames.length === 1 ? frames[0] : frames);
}

/** Hands every answer to its call. An error without an id speaks for the whole batch; whoever is left without an answer is told. */
function deliver(batch: readonly PendingCall[], answers: readonly RpcAnswer[], endpoint: string): void {
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  const [only] = answers;
  const forAll = answers.length === 1 && only !== undefined && "rpcCode" in only ? only : undefined;
  for (const call of batch) {
    const answer = byId.get(call.id) ?? (isUnaddressed(forAll) ? forAll : undefined);
    if (answer === undefined)
      call.reject(badAnswer(endpoint, `answer to ${call.method}`, "is missing from the response"));
    else settleWith(call, answer, endpoint);
  }
}

function isUnaddressed(answer: RpcAnswer | undefined): boolean {
  return answer?.id === null || answer?.id === -1;
}

function settleWith(call: PendingCall, answer: RpcAnswer, endpoint: string): void {
  if ("result" in answer) {
    call.resolve(answer.result);
    return;
  }
  const { rpcCode, message, data } = answer;
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
    `${endpoint} did not answer ${call.method} within ${deadlineMs} ms`,
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("request failed", { cause: error });
}
