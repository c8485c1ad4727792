import { abortReason } from "./clock.ts";
import { CodedError } from "./errors.ts";

/** A wait that took longer than it may. */
export class DeadlineError extends CodedError<{
  readonly code: "deadline";
  readonly what: string;
  readonly afterMs: number;
}> {}

/**
 * Runs `work` with a signal that fires when `signal` does or after `afterMs`. Rejects with {@link DeadlineError} at
 * the deadline and with the signal's reason on abort, even when `work` ignores its signal.
 */
export async function withDeadline<T>(
  what: string,
  afterMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const onAbort = (): void => own.abort(abortReason(signal));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const error = new DeadlineError(
    { code: "deadline", what, afterMs },
    `${what} took longer than ${afterMs} ms`,
  );
  const timer = setTimeout(() => own.abort(error), afterMs);
  try {
    own.signal.throwIfAborted();
    return await Promise.race([work(own.signal), rejectOnAbort(own.signal)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Never resolves; rejects with the signal's reason once it is aborted. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(abortReason(signal)), { once: true });
  });
}
