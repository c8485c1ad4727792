import type { Clock } from "../../platform/base/clock.ts";
import { DAY_MS, isoTime } from "../../platform/base/time.ts";
import { NodeError } from "../node/base/errors.ts";
import { setImmediate } from "node:timers/promises";
import type { RunningNode } from "../node/create-node.ts";

/**
 * The time that both chains share. Headers, light clients, unbonding, expiry and the sidecar's prices use only this time. It
 * starts as the machine's time and can be moved ahead and sped up. Waits and durations use the machine's clock.
 */
export type ChainClock = ReturnType<typeof createChainClock>;

const MAX_AHEAD_MS = 36_525 * DAY_MS;

/** At this rate, with one block per second, each block is four months after the previous one. */
const MAX_RATE = 10_000_000;

/** Creates a clock that shows the machine's time. */
export function createChainClock(machine: Clock) {
  let anchor = { chainMs: 0, machineMs: 0, rate: 1 };
  const nowMs = (): number => anchor.chainMs + (machine.nowMs() - anchor.machineMs) * anchor.rate;
  const moveTo = (chainMs: number, rate: number): void => {
    anchor = { chainMs, machineMs: machine.nowMs(), rate };
  };
  return {
    nowMs,
    monotonicMs: machine.monotonicMs,
    sleep: machine.sleep,
    /** Returns how many seconds pass on the chains per second on the machine; 0 means that the chains' time has stopped. */
    rate: () => anchor.rate,
    /**
     * Moves the time to `timeMs`, ms since the Unix epoch. Throws `NodeError` `bad-time` for a time more than 100 years ahead of
     * the machine or in the chains' past, because no block may be earlier than the one before.
     */
    set: (timeMs: number) => {
      const presentMs = nowMs();
      if (timeMs < presentMs)
        throw badTime(`${isoTime(timeMs)} is before the chains' time, ${isoTime(presentMs)}`);
      if (timeMs > machine.nowMs() + MAX_AHEAD_MS)
        throw badTime("the time may be at most 100 years ahead of this machine's");
      moveTo(timeMs, anchor.rate);
    },
    /** Sets the rate. Throws `NodeError` `bad-time` if it is not between 0 and 10,000,000. */
    setRate: (rate: number) => {
      if (!(rate >= 0 && rate <= MAX_RATE)) throw badTime(`the rate must be from 0 to ${MAX_RATE}`);
      moveTo(nowMs(), rate);
    },
    /** Returns how far the time is ahead of the machine's, in ms; negative if it is behind. */
    aheadMs: () => nowMs() - machine.nowMs(),
    /** Resets the time to `aheadMs` ahead of the machine's, as it was at the block to which the chains have been reverted. */
    goBack: (aheadMs: number) => moveTo(machine.nowMs() + aheadMs, anchor.rate),
    /** Moves the time to a chain's last block time, if later, so that time continues from there after a restart. */
    continueFrom: (blockTimeMs: number) => {
      if (blockTimeMs > nowMs()) moveTo(blockTimeMs, anchor.rate);
    },
  };
}

function badTime(text: string): NodeError {
  return new NodeError({ code: "bad-time" }, text);
}

interface Mining {
  readonly count: number;
  /** How far to move the time ahead before each block. */
  readonly everyMs: number;
  /** Called before each block. */
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
    // Stop the time, so that the blocks are exactly the interval apart.
    if (everyMs > 0) clock.setRate(0);
    for (let left = count; left > 0; left -= 1) {
      // Set the time only if there is an interval. Otherwise, time runs on, and the time just read is already past.
      if (everyMs > 0) clock.set(clock.nowMs() + everyMs);
      await beforeEach?.();
      for (const { control } of nodes) control.produce(1);
      // Let the IBC relayer run too, because it keeps the clients alive.
      await setImmediate();
    }
  } finally {
    clock.setRate(rate);
  }
}
