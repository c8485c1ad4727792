import { onAbort } from "../../../platform/base/abort.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import type { RpcOutcome } from "./rpc-caller.ts";

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
export interface PendingCallRequest {
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
export function outcomeOf(error: unknown): RpcOutcome {
  return error instanceof CodedError ? error.facts.code : "aborted";
}
