import type { Clock } from "../../platform/base/clock.ts";

/**
 * Decides how many blocks ahead a worker reads. A value that is read when its query is due is the newest, but reading,
 * proving, simulating and sending it may take longer than a block. Then a query that is due in every block would get a
 * result in every second one only.
 */
export interface Lead {
  readonly noteHeight: (height: bigint) => void;
  /** Notes the duration of a cycle: reading and proving. */
  readonly noteCycle: (durationMs: number) => void;
  /** Returns the number of blocks by which results are read early: 0 to 2. */
  readonly blocks: (sendMs: number) => bigint;
  /** Pause before the remote chain is asked again for a new block. */
  readonly retryMs: () => number;
}

/**
 * Shares of a block that cycle and sending may take before they start one block early, and two. The rest is for the way of the block
 * itself, and for durations that vary. Three blocks early would be in vain: two results of a query may be on their way to
 * their broadcast.
 */
const MAX_SHARES = [0.6, 1.3] as const;
/** Weight of the last measurement. */
const WEIGHT = 0.3;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

function average(before: number | undefined, now: number): number {
  return before === undefined ? now : before + (now - before) * WEIGHT;
}

/** Creates a lead that knows no durations. It is 0 until they are known. */
export function createLead(clock: Pick<Clock, "monotonicMs">): Lead {
  let last: { readonly height: bigint; readonly atMs: number } | undefined;
  let blockMs: number | undefined;
  let cycleMs = 0;
  return {
    noteHeight: (height) => {
      const atMs = clock.monotonicMs();
      if (last !== undefined && height > last.height)
        blockMs = average(blockMs, (atMs - last.atMs) / Number(height - last.height));
      if (last?.height !== height) last = { height, atMs };
    },
    noteCycle: (durationMs) => {
      cycleMs = average(cycleMs, durationMs);
    },
    blocks: (sendMs) => {
      const share = blockMs === undefined ? 0 : (cycleMs + sendMs) / blockMs;
      return BigInt(MAX_SHARES.filter((max) => share > max).length);
    },
    retryMs: () => Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, (blockMs ?? MAX_RETRY_MS) / 4)),
  };
}
