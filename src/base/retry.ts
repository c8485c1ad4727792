import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";

/** How often and how patiently a call is tried again. */
export interface RetryOptions {
  /** Tries in all, at least 1. */
  readonly attempts: number;
  readonly backoff: BackoffOptions;
  /** Whether this fault may go away by itself. */
  readonly isTransient: (fault: unknown) => boolean;
}

/** What a retry needs from its surroundings. */
export interface RetryDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Calls `work` until it succeeds, the fault is not transient, the tries are used up, or the signal fires: then throws the last fault. */
export async function retry<T>(
  work: (attempt: number) => Promise<T>,
  options: RetryOptions,
  deps: RetryDeps,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (fault) {
      if (deps.signal.aborted || attempt + 1 >= options.attempts || !options.isTransient(fault)) throw fault;
      await deps.clock.sleep(backoffMs(attempt, options.backoff, deps.random), deps.signal);
    }
  }
}
