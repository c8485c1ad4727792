import { setImmediate } from "node:timers/promises";
import type { RunningNode } from "../node/create-node.ts";
import type { ChainClock } from "./chain-clock.ts";

/** The blocks to make. */
export interface Mining {
  readonly count: number;
  /** How far to move the time ahead before each block. */
  readonly everyMs: number;
  /** Called before each. */
  readonly beforeEach?: () => Promise<void>;
}

/** Makes blocks on all chains, moving their time ahead. Other work can run between the blocks. Throws `NodeError`. */
export async function mineBlocks(
  nodes: readonly RunningNode[],
  clock: ChainClock,
  { count, everyMs, beforeEach }: Mining,
): Promise<void> {
  const rate = clock.rate();
  try {
    // The time stops, so that the blocks are exactly the interval apart.
    if (everyMs > 0) clock.setRate(0);
    for (let left = count; left > 0; left -= 1) {
      clock.set(clock.nowMs() + everyMs);
      await beforeEach?.();
      for (const { control } of nodes) control.produce(1);
      // The IBC relayer, which keeps the clients alive, works too.
      await setImmediate();
    }
  } finally {
    clock.setRate(rate);
  }
}
