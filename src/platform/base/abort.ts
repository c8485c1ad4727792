import { CodedError } from "./errors.ts";

/** The part of a clock that a timed wait needs; see `Clock.sleep`. */
export interface Sleeper {
  /** Resolves after `delayMs`; rejects with the signal's reason when the signal aborts first. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** Thrown when an operation exceeds its deadline. */
export class DeadlineError extends CodedError<{
  readonly code: "deadline";
  readonly what: string;
  readonly afterMs: number;
}> {}

/** Returns the signal's reason as an `Error`. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal.reason });
}

/** Returns whether `error` was caused by the abort of this signal. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return (
    error === signal.reason ||
    (error instanceof Error && (error.name === "AbortError" || error.cause === signal.reason))
  );
}

const callbacksOf = new WeakMap<AbortSignal, Set<(reason: Error) => void>>();

/**
 * Calls `callback` once with the reason when `signal` aborts, or immediately when it is aborted already.
 * Returns a function that removes the callback.
 *
 * All callbacks of one signal share one event listener. Hundreds of calls on a signal that lives as long as the process
 * therefore cause no MaxListeners warning and no linear search at removal.
 */
export function onAbort(signal: AbortSignal, callback: (reason: Error) => void): () => void {
  if (signal.aborted) {
    callback(abortReason(signal));
    return () => {};
  }
  const callbacks = callbacksOf.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}

/** Adds the one event listener of this signal. */
function listen(signal: AbortSignal): Set<(reason: Error) => void> {
  const callbacks = new Set<(reason: Error) => void>();
  callbacksOf.set(signal, callbacks);
  signal.addEventListener("abort", () => fire(signal, callbacks), { once: true });
  return callbacks;
}

function fire(signal: AbortSignal, callbacks: ReadonlySet<(reason: Error) => void>): void {
  callbacksOf.delete(signal);
  for (const callback of callbacks) callback(abortReason(signal));
}

/** The signal of one call. Its callbacks need no event listener, which would take longer than the rest of a short wait. */
function createOwnSignal(): Pick<AbortController, "signal" | "abort"> {
  const own = new AbortController();
  const callbacks = new Set<(reason: Error) => void>();
  callbacksOf.set(own.signal, callbacks);
  return {
    signal: own.signal,
    abort: (reason) => {
      if (own.signal.aborted) return;
      own.abort(reason);
      fire(own.signal, callbacks);
    },
  };
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}

/** Waits for shared work; rejects with the signal's reason when the signal aborts first. The work itself goes on. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unwatch = onAbort(signal, reject);
    work.then(resolve, reject).finally(unwatch);
  });
}

/**
 * Runs `work` for at most `afterMs`. Rejects with {@link DeadlineError} at the deadline and with the signal's reason on
 * abort, even when `work` ignores the signal that it receives.
 */
export async function withDeadline<T>(
  what: string,
  afterMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = createOwnSignal();
  const unwatch = onAbort(signal, (reason) => own.abort(reason));
  const timer = setTimeout(() => {
    // Not before: an error captures a stack, which takes longer than all else here.
    const text = `${what} took longer than ${afterMs} ms`;
    own.abort(new DeadlineError({ code: "deadline", what, afterMs }, text));
  }, afterMs);
  try {
    own.signal.throwIfAborted();
    return await raceAbort(work(own.signal), own.signal);
  } finally {
    clearTimeout(timer);
    unwatch();
  }
}

/** One for all waits: an error captures a stack, which took longer than the rest of a short wait. */
const WAIT_IS_OVER = new Error("the wait is over");
const TIME_IS_OVER = new Error("the time is over");

/**
 * Runs `work` for at most `delayMs` and returns its result, or undefined when the time is over. `work` must stop when
 * the signal that it receives aborts. Errors of `work` and the abort of `signal` are thrown.
 */
export async function withTimeout<T>(
  delayMs: number,
  clock: Sleeper,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const own = createOwnSignal();
  const unwatch = onAbort(signal, (reason) => own.abort(reason));
  let isOver = false;
  clock.sleep(delayMs, own.signal).then(
    () => {
      // The signal may have aborted for another reason before.
      isOver = !own.signal.aborted;
      return own.abort(TIME_IS_OVER);
    },
    () => {},
  );
  try {
    return await work(own.signal);
  } catch (error) {
    if (isOver && error === TIME_IS_OVER) return undefined;
    throw error;
  } finally {
    unwatch();
    // Ends the sleep, so that its timer does not outlive the call.
    own.abort(WAIT_IS_OVER);
  }
}

/** Waits `delayMs` or until the signal aborts; never rejects. */
export async function pause(delayMs: number, clock: Sleeper, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await withTimeout(delayMs, clock, signal, rejectOnAbort).catch(() => undefined);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    onAbort(signal, reject);
  });
}
