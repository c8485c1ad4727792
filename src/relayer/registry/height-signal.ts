import { withTimeout } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { createWakeSignal } from "../../base/wake-signal.ts";

/** The latest local height, and a way to wait until it or the list of queries changes. */
export interface HeightSignal {
  /** Latest local height; 0 before the first `set`. */
  readonly now: () => bigint;
  /**
   * Stores the height and wakes all waiters. A lower height counts too: a chain that was reset begins at height 1.
   * `timeNs` is the time of the block, 0 when unknown.
   */
  readonly set: (height: bigint, timeNs: bigint) => void;
  /** Wakes all waiters without a new height. */
  readonly wake: () => void;
  /** Number of calls of `set` and `wake` so far. */
  readonly version: () => number;
  /**
   * Resolves when the version is no longer `version`, at the latest after `maxMs`. Rejects with the signal's reason on
   * abort.
   */
  readonly changedSince: (version: number, maxMs: number, signal: AbortSignal) => Promise<void>;
}

/** Creates a signal at height 0. Calls `onHeight` with the arguments of each `set`. */
export function createHeightSignal(clock: Pick<Clock, "sleep">, onHeight: HeightSignal["set"]): HeightSignal {
  const wakeSignal = createWakeSignal();
  let height = 0n;
  let version = 0;
  const wake = (): void => {
    version += 1;
    wakeSignal.wake();
  };
  return {
    now: () => height,
    version: () => version,
    wake,
    set: (now, timeNs) => {
      height = now;
      onHeight(now, timeNs);
      wake();
    },
    changedSince: async (since, maxMs, signal) => {
      signal.throwIfAborted();
      // The wake signal remembers nothing. The version shows a change that came before this call.
      if (version === since) await withTimeout(maxMs, clock, signal, wakeSignal.next);
    },
  };
}
