import { withTimeout } from "./abort.ts";
import type { Clock } from "./clock.ts";
import { createWakeSignal } from "./wake-signal.ts";

/** Wakes callers that wait for a change. Its version shows a change that came before the wait. */
export interface ChangeSignal {
  /** Notes a change and wakes all waiters. */
  readonly wake: () => void;
  /** Number of changes so far. */
  readonly version: () => number;
  /**
   * Resolves when the version is no longer `version`, at the latest after `maxMs`. Rejects with the signal's reason on
   * abort.
   */
  readonly changedSince: (version: number, maxMs: number, signal: AbortSignal) => Promise<void>;
}

/** Creates a signal without changes. */
export function createChangeSignal(clock: Pick<Clock, "sleep">): ChangeSignal {
  const wakeSignal = createWakeSignal();
  let version = 0;
  return {
    version: () => version,
    wake: () => {
      version += 1;
      wakeSignal.wake();
    },
    changedSince: async (since, maxMs, signal) => {
      signal.throwIfAborted();
      if (version === since) await withTimeout(maxMs, clock, signal, wakeSignal.next);
    },
  };
}
