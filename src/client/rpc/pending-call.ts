import { onAbort } from "../../base/abort.ts";
import type { JsonObject } from "../../base/json.ts";
import { CodedError } from "../../base/errors.ts";
import type { RpcOutcome } from "./rpc-caller.ts";

/** A call that waits for its answer. Settles once; what comes later is ignored. */
export interface PendingCall {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly isSettled: () => boolean;
  /** Calls `listener` when it settles; at once when it has. */
  readonly whenSettled: (listener: () => void) => void;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What is asked, and who wants to know how it ended: first `resolve` or `reject`, then `onSettled`. */
export interface PendingCallRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onSettled: (call: PendingCall, outcome: RpcOutcome) => void;
}

/** Creates a call; it rejects by itself when the signal fires. */
export function createPendingCall(request: PendingCallRequest): PendingCall {
  const listeners: (() => void)[] = [];
  let settled = false;
  let forget = notWatchedYet;
  const settle = (outcome: RpcOutcome, finish: () => void): void => {
    if (settled) return;
    settled = true;
    forget();
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
  forget = onAbort(request.signal, (reason) => settle("aborted", () => request.reject(reason)));
  return call;
}

/** The code of an error, for metrics: a closed set. */
export function outcomeOf(error: unknown): RpcOutcome {
  return error instanceof CodedError ? error.facts.code : "aborted";
}

function notWatchedYet(): void {}
