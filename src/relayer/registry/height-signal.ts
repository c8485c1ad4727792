import { withTimeout, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";

/** The newest local height, and a way to wait for news of the chain. */
export interface HeightSignal {
  readonly now: () => bigint;
  /** What the chain says now counts: one that was started over comes back with lower heights. Wakes who waits. */
  readonly set: (height: bigint) => void;
  /** Wakes who waits, at the same height: there is other news. */
  readonly touch: () => void;
  /** Number of news so far. */
  readonly version: () => number;
  /** Resolves when there is news since the version `seen`, or after `maxMs`. Rejects with the signal's reason. */
  readonly changed: (seen: number, maxMs: number, signal: AbortSignal) => Promise<void>;
}

/** Creates a signal at height 0. */
export function createHeightSignal(
  clock: Pick<Clock, "sleep">,
  onHeight: (height: bigint) => void,
): HeightSignal {
  let height = 0n;
  let version = 0;
  const waiting = new Set<() => void>();
  const touch = (): void => {
    version += 1;
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.add(resolve);
      onAbort(signal, (reason) => {
        waiting.delete(resolve);
        reject(reason);
      });
    });
  return {
    now: () => height,
    version: () => version,
    touch,
    set: (now) => {
      height = now;
      onHeight(now);
      touch();
    },
    changed: async (seen, maxMs, signal) => {
      signal.throwIfAborted();
      if (version === seen) await withTimeout(maxMs, clock, signal, next);
    },
  };
}
