import { pause, type Sleeper, type WaitSignal } from "./abort.ts";
import { type BackoffOptions, backoffMs } from "./waits.ts";

/** Counts failures in a row. Work that goes on for long sets `failures` to 0 when it has made progress. */
export interface Tries {
  failures: number;
}

export interface RetryOptions {
  /** Pause after an error; a function chooses it by the error. */
  readonly backoff: BackoffOptions | ((error: unknown) => BackoffOptions);
  readonly clock: Sleeper;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly signal: WaitSignal;
  /** Absent: a new count. */
  readonly tries?: Tries;
  /** Called with each error before its pause. The count does not have it yet. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs `work` until it succeeds, with a pause with backoff and jitter after each error. Returns its result, or undefined when
 * the signal has aborted: an error after the abort is not reported. Never rejects.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T | undefined> {
  const { backoff, clock, random, signal, tries = { failures: 0 }, onError } = options;
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      onError?.(error);
      const delayMs = backoffMs(
        tries.failures,
        typeof backoff === "function" ? backoff(error) : backoff,
        random,
      );
      tries.failures += 1;
      await pause(delayMs, clock, signal);
    }
  }
  return undefined;
}
