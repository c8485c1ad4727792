import { type ChangeSignal, createChangeSignal } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";

/** The latest local height. Waiters wake when the height or the query list changes. */
export interface HeightSignal extends ChangeSignal {
  /** Latest local height; 0 before the first `set`. */
  readonly now: () => bigint;
  /**
   * Stores the height and wakes all waiters. Accepts a lower height, because a reset chain restarts at height 1. `timeNs` is the
   * block's time; 0 if unknown.
   */
  readonly set: (height: bigint, timeNs: bigint) => void;
}

/** Creates a signal at height 0. Calls `onHeight` with the arguments of each `set`. */
export function createHeightSignal(clock: Pick<Clock, "sleep">, onHeight: HeightSignal["set"]): HeightSignal {
  const change = createChangeSignal(clock);
  let height = 0n;
  return {
    ...change,
    now: () => height,
    set: (now, timeNs) => {
      height = now;
      onHeight(now, timeNs);
      change.wake();
    },
  };
}

/** Number of blocks that one endpoint may lag behind another. A larger decrease in height means that the chain was reset. */
export const MAX_LAG = 20n;
