import type { NodeReading } from "../sources/node-reading.ts";
import { type BlockCounts, NO_BLOCKS } from "./block-counts.ts";
import { monthOf } from "./month.ts";

/** The last counted reading and its time. The next reading is compared with it. */
export interface Baseline extends NodeReading {
  readonly atMs: number;
}

/** Blocks that one reading adds to the ledger. */
export interface LedgerStep {
  readonly counts: BlockCounts;
  /** Start of the interval in which the blocks were made; it ends at the reading. */
  readonly fromMs: number;
  /** The node restarted since the baseline, so its counters began again at zero. */
  readonly restarted: boolean;
  readonly baseline: Baseline;
}

/**
 * The process start time is computed from the kernel's boot time, which can move by a second when the clock is adjusted.
 * Two readings of one process can therefore differ by that much.
 */
const START_TOLERANCE_MS = 2000;

/**
 * A restarted process starts after the last reading of the old one. The two times come from different clocks, which may
 * differ by this much.
 */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * Relation of a reading to the baseline. "other": another process, which ran at the same time as the process of the
 * baseline. Two nodes then answer at one URL, or a node that was running already has replaced the first one.
 */
export type Relation = "same" | "restarted" | "other";

/**
 * Counts the blocks between the baseline and a new reading of the same chain.
 *
 * Within one run of the node the counters only grow, so the difference is counted. After a restart of the node its new
 * values are counted in full, and blocks that neither run counted are unknown. From another process nothing is counted:
 * its counters cover blocks that the first one counted already. Without a baseline, see `firstStep`.
 * A restart of the sidecar or of the watchdog needs no handling here, since the node continues to count.
 */
export function advance(baseline: Baseline | undefined, reading: NodeReading, atMs: number): LedgerStep {
  const next = { ...reading, atMs };
  if (baseline === undefined) return firstStep(reading, next);
  const step = { fromMs: baseline.atMs, restarted: false, baseline: next };
  const { success: good, failure: bad } = reading;
  switch (relationOf(baseline, reading)) {
    case "same":
      return {
        ...step,
        counts: { good: good - baseline.success, bad: bad - baseline.failure, unknown: 0n },
      };
    case "restarted": {
      const counts = { good, bad, unknown: uncounted(baseline, reading, good + bad) };
      return { ...step, counts, restarted: true };
    }
    case "other":
      return { ...step, counts: { ...NO_BLOCKS, unknown: uncounted(baseline, reading, 0n) } };
  }
}

/** Returns the step for the first reading, which has no baseline. */
function firstStep(reading: NodeReading, baseline: Baseline): LedgerStep {
  const { processStartMs } = reading;
  // The node's counters cover the time since its start. When it started in this month, all its blocks belong to this
  // month and are counted. When it started earlier, the counters do not show how many of them do, so counting begins at
  // zero. A start in the future means that the clocks differ. The month of the blocks is then unknown as well.
  const sameMonth =
    processStartMs !== undefined &&
    processStartMs <= baseline.atMs &&
    monthOf(processStartMs) === monthOf(baseline.atMs);
  return {
    counts: sameMonth ? { good: reading.success, bad: reading.failure, unknown: 0n } : NO_BLOCKS,
    fromMs: sameMonth ? processStartMs : baseline.atMs,
    restarted: false,
    baseline,
  };
}

/** Compares a reading with the baseline. Without start times, only a counter that falls shows another process. */
export function relationOf(baseline: Baseline, reading: NodeReading): Relation {
  const before = baseline.processStartMs;
  const start = reading.processStartMs;
  const hasFallen = reading.success < baseline.success || reading.failure < baseline.failure;
  if (before === undefined || start === undefined) return hasFallen ? "restarted" : "same";
  // After a long gap in polling, the new counters can exceed the old ones in spite of a restart. Only the start time shows
  // such a restart.
  if (!hasFallen && Math.abs(start - before) <= START_TOLERANCE_MS) return "same";
  const isLater = start >= before - START_TOLERANCE_MS && start >= baseline.atMs - CLOCK_TOLERANCE_MS;
  return isLater ? "restarted" : "other";
}

/** Blocks between the two heights that the new run of the node did not count; 0 when a height is not known. */
function uncounted(baseline: Baseline, reading: NodeReading, counted: bigint): bigint {
  if (baseline.height === undefined || reading.height === undefined) return 0n;
  const missing = reading.height - baseline.height - counted;
  // Negative when the chain itself was reset to a lower height.
  return missing > 0n ? missing : 0n;
}
