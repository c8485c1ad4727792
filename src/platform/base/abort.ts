import { CodedError } from "./errors.ts";

/** A signal that ends a wait: any `AbortSignal`, or a cheaper signal created here. {@link onAbort} accepts both kinds. */
export type WaitSignal = Pick<AbortSignal, "aborted" | "reason">;

/** Subset of a `Clock` that a timed wait needs. */
export interface Sleeper {
  /** Resolves after `delayMs`; rejects with the signal's reason if the signal aborts first. */
  readonly sleep: (delayMs: number, signal: WaitSignal) => Promise<void>;
}

export class DeadlineError extends CodedError<{
  readonly code: "deadline";
  readonly what: string;
  readonly afterMs: number;
}> {}

export function abortReason(signal: WaitSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal.reason });
}

/** Returns true if this signal's abort caused `error`. */
export function isAbort(error: unknown, signal: WaitSignal): boolean {
  if (!signal.aborted) return false;
  return (
    error === signal.reason ||
    (error instanceof Error && (error.name === "AbortError" || error.cause === signal.reason))
  );
}

type Callbacks = Set<(reason: Error) => void>;

const callbacksOf = new WeakMap<WaitSignal, Callbacks>();

/**
 * Calls `callback` once with the reason when `signal` aborts, or immediately if it has already aborted. Returns a function that
 * removes the callback.
 *
 * All callbacks on one signal share one event listener. Hundreds of callbacks on a long-lived signal therefore cause neither a
 * MaxListeners warning nor a linear search on removal.
 */
export function onAbort(signal: WaitSignal, callback: (reason: Error) => void): () => void {
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

/** Adds the event listener that all of a signal's callbacks share. */
function listen(signal: WaitSignal): Callbacks {
  const callbacks: Callbacks = new Set();
  callbacksOf.set(signal, callbacks);
  if (signal instanceof AbortSignal)
    signal.addEventListener("abort", () => fire(signal, callbacks), { once: true });
  return callbacks;
}

function fire(signal: WaitSignal, callbacks: Callbacks): void {
  callbacksOf.delete(signal);
  for (const callback of callbacks) callback(abortReason(signal));
}

interface OwnSignal<S extends WaitSignal> {
  readonly signal: S;
  /** Aborts the signal, unless it has already aborted. */
  readonly abort: (reason: Error) => void;
}

/** Creates an abort signal for one call, whose callbacks bypass event listeners: adding a listener takes longer than a short wait. */
function createOwnSignal(): OwnSignal<AbortSignal> {
  const own = new AbortController();
  return ownSignal(own.signal, (reason) => own.abort(reason));
}

/** Creates a signal for one wait that is cheaper than an `AbortSignal`, but can only be watched with {@link onAbort}. */
function createWaitSignal(): OwnSignal<WaitSignal> {
  const signal: WaitSignal & object = { aborted: false, reason: undefined };
  return ownSignal(signal, (reason) => Object.assign(signal, { aborted: true, reason }));
}

function ownSignal<S extends WaitSignal>(signal: S, abort: (reason: Error) => void): OwnSignal<S> {
  const callbacks: Callbacks = new Set();
  callbacksOf.set(signal, callbacks);
  return {
    signal,
    abort: (reason) => {
      if (signal.aborted) return;
      abort(reason);
      fire(signal, callbacks);
    },
  };
}

/** Runs `work` with a signal that aborts when any of `signals` aborts, with the same reason. */
export async function withSignals<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = createOwnSignal();
  const unwatches = signals.map((signal) => onAbort(signal, own.abort));
  try {
    return await work(own.signal);
  } finally {
    for (const unwatch of unwatches) unwatch();
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}

/** Waits for shared work, but rejects with the signal's reason if the signal aborts first, while the work itself continues. */
export function raceAbort<T>(work: Promise<T>, signal: WaitSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unwatch = onAbort(signal, reject);
    work.then(resolve, reject).finally(unwatch);
  });
}

/**
 * Runs `work` for at most `afterMs`. Rejects with {@link DeadlineError} at the deadline, or with the signal's reason on abort, even
 * if `work` ignores its signal.
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
    // Create the error only now, because capturing its stack takes longer than everything else here.
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

/** Abort reason that all finished waits share, because capturing a stack trace takes longer than a short wait itself. */
const WAIT_IS_OVER = new Error("the wait is over");
const TIME_IS_OVER = new Error("the time is over");

/**
 * Runs `work` for at most `delayMs`, and returns its result, or undefined if the time runs out. `work` must stop when its signal
 * aborts. Rejects if `work` fails or `signal` aborts.
 */
export function withTimeout<T>(
  delayMs: number,
  clock: Sleeper,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  return runTimed(delayMs, clock, createOwnSignal(), { signal, work });
}

/** Like {@link withTimeout}, but cheaper, for work that only waits and watches its signal with {@link onAbort}. */
export function waitAtMost<T>(
  delayMs: number,
  clock: Sleeper,
  signal: WaitSignal,
  work: (signal: WaitSignal) => Promise<T>,
): Promise<T | undefined> {
  return runTimed(delayMs, clock, createWaitSignal(), { signal, work });
}

async function runTimed<T, S extends WaitSignal>(
  delayMs: number,
  clock: Sleeper,
  own: OwnSignal<S>,
  { signal, work }: { readonly signal: WaitSignal; readonly work: (signal: S) => Promise<T> },
): Promise<T | undefined> {
  const unwatch = onAbort(signal, own.abort);
  let isOver = false;
  clock.sleep(delayMs, own.signal).then(
    () => {
      // The time is over only if the signal has not already aborted for another reason.
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
    // End the sleep, so that its timer does not outlive the call.
    own.abort(WAIT_IS_OVER);
  }
}

/** Waits for `delayMs` or until the signal aborts, and never rejects. */
export async function pause(delayMs: number, clock: Sleeper, signal: WaitSignal): Promise<void> {
  if (signal.aborted) return;
  await clock.sleep(delayMs, signal).catch(() => undefined);
}
