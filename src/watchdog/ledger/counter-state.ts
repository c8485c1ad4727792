import { START_TOLERANCE_MS } from "../sources/sample-values.ts";
import { type BlockCounts, NO_BLOCKS } from "./ledger-view.ts";

/** The fields of a reading that the ledger uses. `success` and `failure` start at zero when the process starts. */
export interface Counters {
  readonly chainId: string;
  readonly success: bigint;
  readonly failure: bigint;
  /** Height of the latest block on the node; absent if unknown. */
  readonly height?: bigint;
  readonly processStartMs?: number;
  /** The node machine's clock at the reading, with which `processStartMs` was measured; absent if unknown. */
  readonly clockMs?: number;
  /** When the reading was taken; set only if it is older than the poll, as for samples stored by Prometheus. */
  readonly sampledAtMs?: number;
}

/** The last counted reading, with its wall-clock time. The next reading is compared with this baseline. */
export interface Baseline extends Counters {
  readonly atMs: number;
}

/** The blocks that one reading adds to the ledger. */
export interface LedgerStep {
  readonly counts: BlockCounts;
  /** Start of the period in which the blocks in `counts` were made; the period ends at the reading. */
  readonly fromMs: number;
  /** True if the node has restarted since the baseline, so that its counters restarted at zero. */
  readonly restarted: boolean;
  /** Set if the URL now belongs to another node, which was already running alongside the first. */
  readonly isReplaced?: true;
  /** True if the reading had no baseline, so that its blocks were made at unknown times before the reading. */
  readonly isFirst: boolean;
  readonly baseline: Baseline;
}

/** A node's last counted reading, and a conflict between nodes at its URL. */
export interface CounterState {
  readonly baseline: Baseline;
  /** Set while the readings may come from several nodes, so that no blocks are counted. */
  readonly conflict?: Conflict;
  /** When another node replaced the first node at this URL; absent if the node was never replaced. */
  readonly replacedAtMs?: number;
}

/** Readings from a second process that responds at the same URL. */
interface Conflict {
  /** The first and last reading of the process that responded most recently. */
  readonly first: Baseline;
  readonly last: Baseline;
  /** True if the first process has responded again, so that the second process did not simply replace it. */
  readonly alternates: boolean;
}

interface CounterStep {
  readonly state: CounterState;
  /** The blocks that the reading adds to the ledger; undefined during a conflict, when no blocks are counted. */
  readonly step: LedgerStep | undefined;
}

/** Tolerance for clock differences in the check that a restarted process started after the old process's last reading. */
export const CLOCK_TOLERANCE_MS = 10_000;

/** A conflict ends once the same node has been the only one to respond for this long. */
const CONFLICT_END_MS = 300_000;

/** Adds a reading to its node's counter state. `state` is undefined before the node's first reading. */
export function advanceCounter(
  state: CounterState | undefined,
  counters: Counters,
  atMs: number,
): CounterStep {
  if (state === undefined) {
    const step = advance(undefined, counters, atMs);
    return { state: { baseline: step.baseline }, step };
  }
  const conflict = nextConflict(state, counters, atMs);
  if (conflict !== undefined) return { state: { ...state, conflict }, step: undefined };
  const { baseline, conflict: before, replacedAtMs } = state;
  const isReplaced = before !== undefined && relationOf(baseline, { ...counters, atMs }) !== "same";
  const step = isReplaced
    ? replacement(baseline, before.first, counters, atMs)
    : advance(baseline, counters, atMs);
  const replacedMs = isReplaced ? before.first.atMs : replacedAtMs;
  return {
    state: { baseline: step.baseline, ...(replacedMs === undefined ? {} : { replacedAtMs: replacedMs }) },
    step,
  };
}

/** Returns the conflict state after a reading; undefined if there is none or if it has ended. */
function nextConflict(
  { baseline, conflict, replacedAtMs }: CounterState,
  counters: Counters,
  atMs: number,
): Conflict | undefined {
  const last = { ...counters, atMs };
  const relation = relationOf(conflict?.last ?? baseline, last);
  if (conflict === undefined) {
    if (relation !== "other") return undefined;
    const isRecent = replacedAtMs !== undefined && atMs - replacedAtMs < CONFLICT_END_MS;
    return { first: last, last, alternates: isRecent };
  }
  // During a conflict, lower counters belong to the other node, whose counters may also be higher if both nodes started together.
  const isBack = !conflict.alternates && relationOf(baseline, last) === "same";
  if (relation !== "same" || isBack) return { first: last, last, alternates: true };
  const isOver = !conflict.alternates || atMs - conflict.first.atMs >= CONFLICT_END_MS;
  return isOver ? undefined : { ...conflict, last };
}

/** Counts the blocks after a switch to another node. Blocks between the readings of the two nodes are unknown. */
function replacement(baseline: Baseline, first: Baseline, counters: Counters, atMs: number): LedgerStep {
  const step = advance(first, counters, atMs);
  const unknown = step.counts.unknown + uncounted(baseline, first, 0n);
  return {
    ...step,
    fromMs: baseline.atMs,
    restarted: true,
    isReplaced: true,
    counts: { ...step.counts, unknown },
  };
}

/**
 * Counts the blocks between the baseline and a new reading from the same chain.
 *
 * While a node keeps running, its counters only grow, so the difference is counted. After a node restart, the new values are
 * counted in full, and blocks that neither process counted are unknown. Counters of a second process are ignored, because the first
 * process has already counted the same blocks. `firstStep` counts a reading that has no baseline. A restart of the sidecar or the
 * watchdog needs no special handling, since the node continues to count.
 */
export function advance(baseline: Baseline | undefined, counters: Counters, atMs: number): LedgerStep {
  const next = { ...counters, atMs };
  if (baseline === undefined) return firstStep(counters, next);
  const step = { fromMs: baseline.atMs, restarted: false, isFirst: false, baseline: next };
  const { success: good, failure: bad } = counters;
  switch (relationOf(baseline, next)) {
    case "same":
      return {
        ...step,
        counts: { good: good - baseline.success, bad: bad - baseline.failure, unknown: 0n },
      };
    case "restarted": {
      const counts = { good, bad, unknown: uncounted(baseline, counters, good + bad) };
      return { ...step, counts, restarted: true };
    }
    case "other":
      return { ...step, counts: { ...NO_BLOCKS, unknown: uncounted(baseline, counters, 0n) } };
  }
}

/** Counts a node's first reading: the whole counters if the process's start time is known, otherwise nothing. */
function firstStep(counters: Counters, baseline: Baseline): LedgerStep {
  const { processStartMs, success: good, failure: bad } = counters;
  // The counters cover the time since the node's start. If the start time is missing, or is in the future because the clocks
  // differ, the blocks' months are unknown, so counting starts at zero.
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
 * How a reading's process relates to the baseline's process. "other" is a second process that ran alongside the baseline's process: either
 * two nodes respond at one URL, or a node that was already running has replaced the first.
 */
type Relation = "same" | "restarted" | "other";

/**
 * Determines whether a reading comes from the baseline's process. A process makes one call per block, so its counters cannot grow much
 * faster than the height, and a new process's counters cannot exceed this growth. The start time is only a hint, because it shifts when the
 * clock of the node's machine is set.
 */
function relationOf(baseline: Baseline, counters: Baseline): Relation {
  const hasFallen = counters.success < baseline.success || counters.failure < baseline.failure;
  if (!hasFallen && isSameStart(baseline, counters)) return "same";
  const isLater = startedLater(baseline, counters);
  const blocks = growthOf(baseline, counters);
  const calls = counters.success + counters.failure;
  const growth = calls - baseline.success - baseline.failure;
  // The heights are unknown, or the chain itself restarted at a lower height.
  if (blocks === undefined) {
    if (!hasFallen && baseline.height !== undefined && counters.height !== undefined) return "other";
    if (isLater !== undefined && (hasFallen || isLater)) return isLater ? "restarted" : "other";
    return hasFallen ? "restarted" : "same";
  }
  const most = blocks + EXTRA_CALLS + blocks / 10n;
  const isNew = calls <= most;
  if (hasFallen) return isNew ? "restarted" : "other";
  if (growth > most) return "other";
  // After a long gap in polling, the new counters may exceed the old counters despite a restart. A process that kept running has
  // made a call for each block except the current one, regardless of the start time that the machines' clocks suggest.
  const isShort = isLater === true ? growth < blocks : isLater === false && growth + 1n < blocks;
  return isNew && isShort ? "restarted" : "same";
}

/**
 * Number of calls allowed beyond one per block, because a height may be proposed several times and a page may be older than its
 * height.
 */
const EXTRA_CALLS = 20n;

/** Returns the number of blocks between two readings; undefined if a height is unknown or has fallen. */
function growthOf(baseline: Baseline, { height }: Counters): bigint | undefined {
  if (baseline.height === undefined || height === undefined || height < baseline.height) return undefined;
  return height - baseline.height;
}

/**
 * Returns true if the process is young enough to have started after the baseline; undefined if a start time is unknown. A process's
 * age is exact even if the node machine's clock is wrong, provided that this clock was read too.
 */
function startedLater(
  baseline: Baseline,
  { processStartMs: start, clockMs, atMs }: Baseline,
): boolean | undefined {
  if (baseline.processStartMs === undefined || start === undefined) return undefined;
  if (clockMs === undefined && start < baseline.processStartMs - START_TOLERANCE_MS) return false;
  return (clockMs ?? atMs) - start <= atMs - baseline.atMs + CLOCK_TOLERANCE_MS;
}

/** Returns true if two readings are known to come from the same process. */
export function isSameStart(a: Counters, b: Counters): boolean {
  if (a.processStartMs === undefined || b.processStartMs === undefined) return false;
  return Math.abs(a.processStartMs - b.processStartMs) <= START_TOLERANCE_MS;
}

/** Returns the number of blocks between the two heights that the node's new process did not count; 0 if a height is unknown. */
function uncounted(baseline: Baseline, counters: Counters, counted: bigint): bigint {
  const missing = (growthOf(baseline, counters) ?? 0n) - counted;
  return missing > 0n ? missing : 0n;
}
