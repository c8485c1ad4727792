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
 * Counts the blocks between the baseline and a new reading of the same chain.
 *
 * Within one run of the node the counters only grow, so the difference is counted. After a restart of the node its new
 * values are counted in full, and blocks that neither run counted are unknown. Without a baseline, see `firstStep`.
 * A restart of the sidecar or of the watchdog needs no handling here, since the node continues to count.
 */
export function advance(baseline: Baseline | undefined, reading: NodeReading, atMs: number): LedgerStep {
  const next = { ...reading, atMs };
  if (baseline === undefined) return firstStep(reading, next);
  if (!hasRestarted(baseline, reading)) {
    const counts = {
      good: reading.success - baseline.success,
      bad: reading.failure - baseline.failure,
      unknown: 0n,
    };
    return { counts, fromMs: baseline.atMs, restarted: false, baseline: next };
  }
  const { success: good, failure: bad } = reading;
  const counts = { good, bad, unknown: uncounted(baseline, reading, good + bad) };
  return { counts, fromMs: baseline.atMs, restarted: true, baseline: next };
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

function hasRestarted(baseline: Baseline, reading: NodeReading): boolean {
  if (reading.success < baseline.success || reading.failure < baseline.failure) return true;
  // After a long gap in polling, the new counters can exceed the old ones in spite of a restart. Only the start time shows
  // such a restart.
  if (baseline.processStartMs === undefined || reading.processStartMs === undefined) return false;
  return Math.abs(reading.processStartMs - baseline.processStartMs) > START_TOLERANCE_MS;
}

/** Blocks between the two heights that the new run of the node did not count; 0 when a height is not known. */
function uncounted(baseline: Baseline, reading: NodeReading, counted: bigint): bigint {
  if (baseline.height === undefined || reading.height === undefined) return 0n;
  const missing = reading.height - baseline.height - counted;
  // Negative when the chain itself was reset to a lower height.
  return missing > 0n ? missing : 0n;
}
