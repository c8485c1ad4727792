import type { Clock } from "../../platform/base/clock.ts";
import { DAY_MS, isoTime } from "../../platform/base/time.ts";
import { NodeError } from "../node/base/errors.ts";
import { setImmediate } from "node:timers/promises";
import type { RunningNode } from "../node/create-node.ts";

/**
 * Clock that both chains use for headers, light clients, unbonding, expiry and sidecar prices. The clock starts at the machine's
 * time, and users can set it ahead or change its rate. Delays and timeouts of the program use the machine's clock instead.
 */
export type ChainClock = ReturnType<typeof createChainClock>;

const MAX_AHEAD_MS = 36_525 * DAY_MS;

/** Maximum rate, in chain seconds per machine second. At this rate, consecutive blocks one second apart differ by four months. */
const MAX_RATE = 10_000_000;

/** Creates a clock that initially shows the machine's time. */
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
    /** Returns the number of chain seconds per machine second. At rate 0, chain time does not advance. */
    rate: () => anchor.rate,
    /**
     * Sets the time to `timeMs`, in ms since the Unix epoch. Throws `NodeError` `bad-time` if the time is more than 100 years ahead
     * of the machine's time. Also throws this error if the time is before the chains' current time, because no block may be earlier
     * than the previous block.
     */
    set: (timeMs: number) => {
      const presentMs = nowMs();
      if (timeMs < presentMs)
        throw badTime(`${isoTime(timeMs)} is before the chains' time, ${isoTime(presentMs)}`);
      if (timeMs > machine.nowMs() + MAX_AHEAD_MS)
        throw badTime("the time may be at most 100 years ahead of this machine's");
      moveTo(timeMs, anchor.rate);
    },
    /** Sets the rate. Throws `NodeError` `bad-time` if the rate is not between 0 and 10,000,000. */
    setRate: (rate: number) => {
      if (!(rate >= 0 && rate <= MAX_RATE)) throw badTime(`the rate must be from 0 to ${MAX_RATE}`);
      moveTo(nowMs(), rate);
    },
    /** Returns the difference between the chains' time and the machine's time, in ms. Positive if the chains' time is ahead. */
    aheadMs: () => nowMs() - machine.nowMs(),
    /** After a revert, sets the chains' time so that its difference to the machine's time is the same as at the snapshot. */
    goBack: (aheadMs: number) => moveTo(machine.nowMs() + aheadMs, anchor.rate),
    /** After a restart, advances the clock to a chain's last block time if the clock shows an earlier time. */
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
  /** Time by which to advance the clock before each block, in ms, or 0 to let the clock run at its current rate. */
  readonly everyMs: number;
  readonly beforeEach?: () => Promise<void>;
}

/** Makes blocks on all chains, advances their time, and lets other tasks run between the blocks. Throws `NodeError`. */
export async function mineBlocks(
  nodes: readonly RunningNode[],
  clock: ChainClock,
  { count, everyMs, beforeEach }: Mining,
): Promise<void> {
  const rate = clock.rate();
  try {
    // Stop the clock, so that only `everyMs` separates the times of consecutive blocks.
    if (everyMs > 0) clock.setRate(0);
    for (let left = count; left > 0; left -= 1) {
      // Set the clock only if there is an interval. Otherwise, the clock is running, and a time that was just read is already in the past.
      if (everyMs > 0) clock.set(clock.nowMs() + everyMs);
      await beforeEach?.();
      for (const { control } of nodes) control.produce(1);
      // Let the IBC relayer run between blocks, so that it can update the light clients before they expire.
      await setImmediate();
    }
  } finally {
    clock.setRate(rate);
  }
}
