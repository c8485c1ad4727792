import { pause, type Sleeper, type WaitSignal } from "./abort.ts";
import { type BackoffOptions, backoffMs } from "./waits.ts";

/** Number of consecutive failures, which long-running work resets to 0 after progress. */
export interface Tries {
  failures: number;
}

export interface RetryOptions {
  /** Backoff after an error, or a function that selects the backoff by the error. */
  readonly backoff: BackoffOptions | ((error: unknown) => BackoffOptions);
  readonly clock: Sleeper;
  /** Returns a uniformly distributed random number in [0, 1). */
  readonly random: () => number;
  readonly signal: WaitSignal;
  /** Counter of consecutive failures; by default, a new one. */
  readonly tries?: Tries;
  /** Called with each error before the pause. `tries.failures` does not yet include this error. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs `work` until it succeeds, with a randomized backoff after each error. Returns its result, or undefined once the signal has
 * aborted. Ignores errors after the abort, and never rejects.
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
