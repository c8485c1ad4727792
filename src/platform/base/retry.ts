import { pause, type Sleeper, type WaitSignal } from "./abort.ts";
import { type BackoffOptions, backoffMs } from "./waits.ts";

/** Number of consecutive failures, which long-running work may reset to 0 after progress. */
export interface Tries {
  failures: number;
}

export interface RetryOptions {
  /** Backoff after every error, or a function that returns the backoff for an error. */
  readonly backoff: BackoffOptions | ((error: unknown) => BackoffOptions);
  readonly clock: Sleeper;
  /** Returns a uniformly distributed random number in [0, 1). */
  readonly random: () => number;
  readonly signal: WaitSignal;
  /** Counter of consecutive failures, for example shared with `work`; by default, a new counter. */
  readonly tries?: Tries;
  /** Called with each error before the pause. `tries.failures` does not yet include this error. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs `work` until it succeeds, with a randomized backoff after each error. Resolves with the result, or with undefined once the
 * signal has aborted. Never rejects: after the abort, even errors are ignored.
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
