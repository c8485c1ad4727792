import { type BlockCounts, NO_BLOCKS } from "./block-counts.ts";

/** A pair of counters that begin at zero when their process starts. */
export interface CounterReading {
  readonly chainId: string;
  readonly success: bigint;
  readonly failure: bigint;
  /** Height of the latest block. */
  readonly height?: bigint;
  readonly processStartMs?: number;
}

/** The last counted reading and its time, wall clock. The next reading is compared with it. */
export interface Baseline extends CounterReading {
  readonly atMs: number;
}

/** Blocks that one reading adds to the ledger. */
export interface LedgerStep {
  readonly counts: BlockCounts;
  /** Start of the interval in which the blocks were made; it ends at the reading. */
  readonly fromMs: number;
  /** The node restarted since the baseline, so its counters began again at zero. */
  readonly restarted: boolean;
  /** The reading had no baseline: its blocks were made before it, and only their number is known. */
  readonly isFirst: boolean;
  readonly baseline: Baseline;
}

/** The last readings of one node. */
export interface CounterState {
  readonly baseline: Baseline;
  /** Present while two nodes respond alternately at the URL of this one. */
  readonly conflict?: Conflict;
}

/** Two nodes that respond alternately at one URL. */
interface Conflict {
  /** The last reading. */
  readonly last: Baseline;
  /** Last time at which the other node responded. */
  readonly changedAtMs: number;
}

/** Result of one reading of one node. */
interface CounterStep {
  readonly state: CounterState;
  /** Undefined while two nodes respond alternately: neither is counted. */
  readonly step: LedgerStep | undefined;
}

/**
 * The process start time is computed from the kernel's boot time, which can move by a second when the clock is adjusted.
 * Two readings of one process can therefore differ by that much.
 */
export const START_TOLERANCE_MS = 2000;

/**
 * A restarted process starts after the last reading of the old one. The two times come from different clocks, which may
 * differ by this much.
 */
export const CLOCK_TOLERANCE_MS = 10_000;

/** A conflict has ended when only one node responded for this long. */
const CONFLICT_END_MS = 300_000;

/** Adds a reading to the counter state of its node; `state` is undefined before the node's first reading. */
export function advanceCounter(
  state: CounterState | undefined,
  reading: CounterReading,
  atMs: number,
): CounterStep {
  const conflict = state && nextConflict(state, reading, atMs);
  if (state !== undefined && conflict !== undefined)
    return { state: { ...state, conflict }, step: undefined };
  const step = advance(state?.baseline, reading, atMs);
  return { state: { baseline: step.baseline }, step };
}

/** Returns the conflict after a reading; undefined without one, or when one node alone has responded for long enough. */
function nextConflict(
  { baseline, conflict }: CounterState,
  reading: CounterReading,
  atMs: number,
): Conflict | undefined {
  const last = { ...reading, atMs };
  if (relationOf(conflict?.last ?? baseline, reading) === "other") return { last, changedAtMs: atMs };
  if (conflict === undefined || atMs - conflict.changedAtMs >= CONFLICT_END_MS) return undefined;
  return { last, changedAtMs: conflict.changedAtMs };
}

/**
 * Counts the blocks between the baseline and a new reading of the same chain.
 *
 * Within one run of the node the counters only grow, so the difference is counted. After a restart of the node its new
 * values are counted in full, and blocks that neither run counted are unknown. From another process nothing is counted:
 * its counters cover blocks that the first one counted already. Without a baseline, see `firstStep`.
 * A restart of the sidecar or of the watchdog needs no handling here, since the node continues to count.
 */
export function advance(baseline: Baseline | undefined, reading: CounterReading, atMs: number): LedgerStep {
  const next = { ...reading, atMs };
  if (baseline === undefined) return firstStep(reading, next);
  const step = { fromMs: baseline.atMs, restarted: false, isFirst: false, baseline: next };
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
function firstStep(reading: CounterReading, baseline: Baseline): LedgerStep {
  const { processStartMs, success: good, failure: bad } = reading;
  // The counters cover the time since the start of the node. Without a start, or with one in the future, which means that
  // the clocks differ, the months of the blocks are not known. Counting then begins at zero.
  const isPlaced = processStartMs !== undefined && processStartMs <= baseline.atMs;
  return {
    counts: isPlaced ? { good, bad, unknown: 0n } : NO_BLOCKS,
    fromMs: isPlaced ? processStartMs : baseline.atMs,
    restarted: false,
    isFirst: true,
    baseline,
  };
}

/**
 * Relation of a reading to the baseline. "other": another process, which ran at the same time as the process of the
 * baseline. Two nodes then respond at one URL, or a node that was running already has replaced the first one.
 */
type Relation = "same" | "restarted" | "other";

/** Compares a reading with the baseline. Without start times, only a counter that falls shows another process. */
function relationOf(baseline: Baseline, reading: CounterReading): Relation {
  const before = baseline.processStartMs;
  const start = reading.processStartMs;
  const hasFallen = reading.success < baseline.success || reading.failure < baseline.failure;
  if (before === undefined || start === undefined) return hasFallen ? "restarted" : "same";
  // After a long gap in polling, the new counters can exceed the old ones in spite of a restart. Only the start time shows
  // such a restart.
  if (!hasFallen && isSameStart(baseline, reading)) return "same";
  const isLater = start >= before - START_TOLERANCE_MS && start >= baseline.atMs - CLOCK_TOLERANCE_MS;
  return isLater ? "restarted" : "other";
}

/** Returns true if two readings are known to be of one process. */
export function isSameStart(a: CounterReading, b: CounterReading): boolean {
  if (a.processStartMs === undefined || b.processStartMs === undefined) return false;
  return Math.abs(a.processStartMs - b.processStartMs) <= START_TOLERANCE_MS;
}

/** Blocks between the two heights that the new run of the node did not count; 0 when a height is not known. */
function uncounted(baseline: Baseline, reading: CounterReading, counted: bigint): bigint {
  if (baseline.height === undefined || reading.height === undefined) return 0n;
  const missing = reading.height - baseline.height - counted;
  // Negative when the chain itself was reset to a lower height.
  return missing > 0n ? missing : 0n;
}
