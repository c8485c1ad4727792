import type { JsonObject } from "../base/json.ts";
import { onAbort } from "../base/on-abort.ts";
import { CodedError } from "../base/errors.ts";
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
  readonly reject: (fault: Error) => void;
}

/** What is asked, and who wants to know that it settled. */
export interface PendingCallRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  readonly onSettled: (call: PendingCall, outcome: RpcOutcome) => void;
}

/** Creates a call and the promise of its answer; it rejects by itself when the signal fires. */
export function createPendingCall(request: PendingCallRequest): {
  readonly call: PendingCall;
  readonly answer: Promise<unknown>;
} {
  const { promise, resolve, reject } = withResolvers();
  const listeners: (() => void)[] = [];
  let settled = false;
  let forget = (): void => {};
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
    resolve: (result) => settle("ok", () => resolve(result)),
    reject: (fault) => settle(outcomeOf(fault), () => reject(fault)),
  };
  forget = onAbort(request.signal, (reason) => settle("aborted", () => reject(reason)));
  return { call, answer: promise };
}

/** The code of a fault, for metrics: a closed set. */
export function outcomeOf(fault: unknown): RpcOutcome {
  return fault instanceof CodedError ? fault.facts.code : "aborted";
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers(): {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: Error) => void;
} {
  let resolve: (value: unknown) => void = () => {};
  let reject: (fault: Error) => void = () => {};
  const promise = new Promise<unknown>((good, bad) => {
    resolve = good;
    reject = bad;
  });
  return { promise, resolve, reject };
}
