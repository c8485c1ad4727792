import { abortReason, onAbort, raceAbort, waitAtMost, type WaitSignal } from "./abort.ts";
import type { Clock } from "./clock.ts";

interface Caller {
  readonly resolve: () => void;
  unwatch?: () => void;
}

export type WakeSignal = ReturnType<typeof createWakeSignal>;

/** Creates a signal that wakes all callers waiting for an event. The signal carries no value and does not remember past events. */
export function createWakeSignal() {
  const waiting = new Set<Caller>();
  return {
    /** Resolves on the next `wake`, for any number of callers. Rejects with the signal's reason if `signal` aborts first. */
    next: (signal: WaitSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const caller: Caller = { resolve };
        waiting.add(caller);
        caller.unwatch = onAbort(signal, (reason) => {
          waiting.delete(caller);
          reject(reason);
        });
      }),
    wake: (): void => {
      // Clear the set first: a woken caller may wait again immediately, and one call must not wake this caller twice.
      const woken = [...waiting];
      waiting.clear();
      for (const { unwatch, resolve } of woken) {
        unwatch?.();
        resolve();
      }
    },
  };
}

export type ChangeSignal = ReturnType<typeof createChangeSignal>;

/**
 * Creates a signal that wakes callers waiting for a change. The signal counts changes in a version, starting from 0, so a caller
 * can also notice a change that preceded its wait.
 */
export function createChangeSignal(clock: Pick<Clock, "sleep">) {
  const wakeSignal = createWakeSignal();
  let version = 0;
  /** Resolves once the version differs from `since`, or rejects with the signal's reason on abort. */
  const changed = async (since: number, signal: WaitSignal): Promise<void> => {
    if (signal.aborted) throw abortReason(signal);
    if (version === since) await wakeSignal.next(signal);
  };
  return {
    version: (): number => version,
    wake: (): void => {
      version += 1;
      wakeSignal.wake();
    },
    changed,
    /** Resolves once the version differs from `since`, or after `maxMs`. Rejects with the signal's reason on abort. */
    changedSince: async (since: number, maxMs: number, signal: WaitSignal): Promise<void> => {
      if (signal.aborted) throw abortReason(signal);
      if (version === since) await waitAtMost(maxMs, clock, signal, (inner) => changed(since, inner));
    },
  };
}

/** Creates a FIFO queue that holds at most `capacity` items (at least 1). */
export function createBoundedQueue<T extends object | string | number | bigint>(capacity: number) {
  const items: T[] = [];
  const added = createWakeSignal();
  let dropped = 0;
  /** Adds an item or, if the queue is full, counts it as dropped and returns false. */
  const offer = (item: T): boolean => {
    if (items.length >= capacity) {
      dropped += 1;
      return false;
    }
    items.push(item);
    added.wake();
    return true;
  };
  /**
   * Removes and returns the oldest item, after waiting for one if the queue is empty. Rejects with the reason when the signal
   * aborts.
   */
  const take = async (signal: WaitSignal): Promise<T> => {
    for (;;) {
      const [oldest] = items.splice(0, 1);
      if (oldest !== undefined) return oldest;
      // A new item wakes every waiting caller; a caller that finds the queue empty again keeps waiting.
      await added.next(signal);
    }
  };
  return { offer, take, size: (): number => items.length, dropped: (): number => dropped };
}

/**
 * Runs `work` for every item, with at most `limit` calls in parallel, and returns the results in item order. Rejects with the first
 * error; running calls then continue, but no further calls start.
 */
export async function mapLimit<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const rest = items.entries();
  let failed = false;
  const run = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (failed) return;
      results[index] = await work(item);
    }
  };
  const runners = Array.from({ length: Math.min(limit, items.length) }, async () => {
    try {
      await run();
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  await Promise.all(runners);
  return results;
}

/** Exponential backoff with full jitter: each delay is uniform in [minMs, baseMs * 2^attempt], at most `maxMs`. */
export interface BackoffOptions {
  readonly minMs: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Returns the delay in ms after `attempt` earlier failures (0 after the first failure). `random` returns a number in [0, 1). */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  const floor = Math.min(options.minMs, ceiling);
  return Math.round(floor + (ceiling - floor) * random());
}

/** Creates a mutex, which runs one piece of work at a time, in call order. */
export function createMutex() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Runs `work` once all earlier callers have finished. Rejects with the signal's reason if the signal aborts first. */
    runExclusive: <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
      const previous = last;
      const result = raceAbort(previous, signal).then(work);
      // A caller that aborts stops waiting while `previous` may still be running, so the next caller waits for both.
      last = Promise.allSettled([previous, result]).then(() => undefined);
      return result;
    },
  };
}
