import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import { advanceCounter, isSameStart } from "./counter-state.ts";
import type { Baseline, CounterReading, LedgerStep, CounterState } from "./counter-state.ts";
import { addCounts, allBlocks, isNoBlocks, NO_BLOCKS, partOfCounts, subtractCounts } from "./block-counts.ts";
import type { BlockCounts } from "./block-counts.ts";
import type { CountedTo, LedgerTime } from "./ledger-time.ts";
import { addToRollups, type Rollups, NO_ROLLUPS, type Span } from "./rollups.ts";

/** One validator's counts from one source. */
export interface SourceLedger {
  /** Latest readings, by node. */
  readonly counterStates: ReadonlyMap<string, CounterState>;
  /** The point up to which the rollups contain the blocks. Absent before the first reading. */
  readonly checkpoint?: Checkpoint;
  readonly rollups: Rollups;
}

/** The last block counted in a source's rollups. */
interface Checkpoint extends CountedTo {
  /** Wall-clock time of the reading. */
  readonly atMs: number;
  /** The node that was counted last. */
  readonly node: string;
}

export const EMPTY_SOURCE: SourceLedger = { counterStates: new Map(), rollups: NO_ROLLUPS };

export interface NodeReadingOf {
  readonly node: string;
  readonly reading: CounterReading;
  /** Time of the reading if it differs from the poll's time, as for samples stored by Prometheus. */
  readonly sampledAtMs?: number | undefined;
}

/** The time of a poll, and how to count the poll. */
export interface CountOptions extends Pick<LedgerTime, "timeMs" | "edge"> {
  readonly atMs: number;
  /** Spans in which to count the blocks, in addition to months. */
  readonly spans: readonly Span[];
  /**
   * The time that a first reading covers. "process": since the process started. "period": the current month, as for the chain's
   * own counters; these blocks are not estimated.
   */
  readonly firstCovers: "process" | "period";
  /** True if the readings were taken from Prometheus to fill a gap. */
  readonly isBackfill?: boolean | undefined;
}

/** Blocks that one node counted between two polls. */
export interface NodeStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** The node's previous reading; undefined for its first one. */
  readonly before: Baseline | undefined;
}

export interface SourceCounting {
  readonly source: SourceLedger;
  /** Blocks counted by each node, including nodes that were not chosen. */
  readonly steps: readonly NodeStep[];
  /** Blocks added to the rollups. */
  readonly counts: BlockCounts;
  /** Nodes whose URL alternates between two processes; none of their readings was counted. */
  readonly conflicts: readonly string[];
}

/**
 * Counts one poll of all of a validator's nodes.
 *
 * Every node calls its own sidecar for every block, so the nodes' counts are never added. In each poll, only the node with the
 * highest share of good blocks counts, since a vote is good if any node has prices in time. If shares are equal, the node counted
 * in the previous poll is used. After a switch to another node, the heights determine which blocks are new; blocks between the
 * readings of the two nodes are unknown.
 */
export function countPoll(
  source: SourceLedger,
  readings: readonly NodeReadingOf[],
  options: CountOptions,
): SourceCounting {
  const counterStates = new Map(source.counterStates);
  const steps: NodeStep[] = [];
  const conflicts: string[] = [];
  for (const { node, reading, sampledAtMs } of newReadings(source.counterStates, readings)) {
    const before = counterStates.get(node)?.baseline;
    const { state, step } = advanceCounter(counterStates.get(node), reading, sampledAtMs ?? options.atMs);
    counterStates.set(node, state);
    if (step !== undefined) steps.push({ node, step, before });
    else if (state.conflict?.alternates === true) conflicts.push(node);
  }
  const chosen = chooseStep(steps, source.checkpoint);
  if (chosen === undefined)
    return { source: { ...source, counterStates }, steps, counts: NO_BLOCKS, conflicts };
  const { node, step, counts, fromHeight } = chosen;
  const { height, atMs } = step.baseline;
  // A sample is older than the poll, and thus older than the chain's latest block.
  const timed = atMs < options.atMs ? { ...options, timeMs: Math.min(options.timeMs, atMs) } : options;
  const checkpoint: Checkpoint = {
    atMs,
    timeMs: checkpointTimeMs(height, timed),
    node,
    ...(height === undefined ? {} : { height }),
  };
  const heights =
    fromHeight === undefined || height === undefined ? undefined : { from: fromHeight, to: height };
  const times = timesOf(source.checkpoint, step, timed);
  const own = times.isEstimated ? inMonth(counts, step.fromMs, times) : counts;
  const rollups = addToRollups(source.rollups, { counts: own, heights, ...times });
  return { source: { counterStates, checkpoint, rollups }, steps, counts: own, conflicts };
}

/**
 * Returns the readings that can be counted. Stored samples from several nodes have different times, so they are counted only once
 * each node has a new sample. Otherwise, the node with the latest sample alone would determine the last blocks' results.
 */
function newReadings(
  counterStates: SourceLedger["counterStates"],
  readings: readonly NodeReadingOf[],
): readonly NodeReadingOf[] {
  const isOld = ({ node, reading, sampledAtMs }: NodeReadingOf): boolean => {
    const before = counterStates.get(node)?.baseline;
    return before !== undefined && isPast(before, reading, sampledAtMs);
  };
  return readings.some(isOld) ? readings.filter(({ sampledAtMs }) => sampledAtMs === undefined) : readings;
}

/**
 * Returns true if a stored sample is not newer than the last reading. Several polls may see the same sample, and one Prometheus
 * replica may lag behind another although its clock is ahead, in which case the counters of the same process are lower.
 */
function isPast(before: Baseline, reading: CounterReading, sampledAtMs: number | undefined): boolean {
  if (sampledAtMs === undefined) return false;
  if (sampledAtMs <= before.atMs) return true;
  const isLower = reading.success < before.success || reading.failure < before.failure;
  return isLower && isSameStart(before, reading);
}

/** The step from the node that counts in this poll. */
interface ChosenStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** Blocks that have not been counted yet. */
  readonly counts: BlockCounts;
  /** Height before the first of these blocks; undefined if the node reports no height. */
  readonly fromHeight: bigint | undefined;
}

/** Chooses the node that counts; see `countPoll`. Undefined if no node has anything new to count. */
function chooseStep(steps: readonly NodeStep[], checkpoint: Checkpoint | undefined): ChosenStep | undefined {
  const candidates = steps.flatMap((step) => {
    const part = uncountedPart(step, checkpoint);
    return part === undefined ? [] : [{ ...step, ...part }];
  });
  // Before the first reading, there is nothing to compare, so the first node that makes calls counts.
  if (checkpoint === undefined) return candidates.find(({ counts }) => !isNoBlocks(counts)) ?? candidates[0];
  return candidates.reduce<ChosenStep | undefined>((best, candidate) => {
    if (best === undefined) return candidate;
    const difference = compareShares(candidate.counts, best.counts);
    return difference > 0 || (difference === 0 && candidate.node === checkpoint.node) ? candidate : best;
  }, undefined);
}

/** Returns the part of a node's step that is beyond the checkpoint; undefined if there is none. */
function uncountedPart(
  { node, step, before }: NodeStep,
  checkpoint: Checkpoint | undefined,
): Pick<ChosenStep, "counts" | "fromHeight"> | undefined {
  const whole = { counts: step.counts, fromHeight: before?.height };
  // The node that counted last continues from where it was: its own counters decide, exact to the block.
  if (checkpoint === undefined || (node === checkpoint.node && before?.atMs === checkpoint.atMs))
    return whole;
  const { height } = step.baseline;
  if (checkpoint.height === undefined || height === undefined)
    return before === undefined ? undefined : whole;
  if (height <= checkpoint.height) return undefined;
  // A node that was not read before shows the chain's height, but not the results of the blocks up to it.
  const from = before?.height ?? height;
  const known = before === undefined ? NO_BLOCKS : step.counts;
  const overlap = checkpoint.height - from;
  if (overlap <= 0n)
    return { counts: addCounts(known, { ...NO_BLOCKS, unknown: -overlap }), fromHeight: checkpoint.height };
  // Only the number of blocks up to the checkpoint is known here, not their results, so they get the step's mean.
  const counted = partOfCounts(known, overlap, height - from);
  return { counts: subtractCounts(known, counted), fromHeight: checkpoint.height };
}

/** Compares two shares of good blocks for sorting. A node that made no calls has the lowest share. */
function compareShares(a: BlockCounts, b: BlockCounts): number {
  const [totalA, totalB] = [allBlocks(a), allBlocks(b)];
  if (totalA === 0n || totalB === 0n) return Number(totalA > 0n) - Number(totalB > 0n);
  // Compare cross products, because dividing bigints would truncate.
  const difference = a.good * totalB - b.good * totalA;
  if (difference === 0n) return 0;
  return difference > 0n ? 1 : -1;
}

/** Returns the checkpoint's time: the end of the previous month for a node that has not reached the month's first block. */
function checkpointTimeMs(height: bigint | undefined, { timeMs, edge }: CountOptions): number {
  if (edge === undefined || height === undefined || height >= edge.firstHeight) return timeMs;
  return Math.min(timeMs, monthStartMs(edge.month) - 1);
}

function timesOf(checkpoint: Checkpoint | undefined, step: LedgerStep, options: CountOptions) {
  const { timeMs: toMs, edge, spans, isBackfill: isBackfilled = false } = options;
  const common = { toMs, edge, isBackfilled };
  if (checkpoint !== undefined) return { ...common, fromMs: checkpoint.timeMs, spans, isEstimated: false };
  if (options.firstCovers === "period")
    return { ...common, fromMs: monthStartMs(monthOf(toMs)), spans: [], isEstimated: false };
  // An estimate's minutes and hours would only repeat its mean.
  const days = spans.filter((span) => span === "day");
  const fromMs = Math.min(Math.max(step.fromMs, monthStartMs(monthOf(toMs))), toMs);
  return { ...common, fromMs, spans: days, isEstimated: true };
}

/**
 * Returns the blocks of a first reading that fall within its month. Only their total is known, so they are spread evenly over the
 * time since the process started and rounded down, so that no block from an earlier month is counted in this one.
 */
function inMonth(
  counts: BlockCounts,
  startMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BlockCounts {
  if (startMs >= fromMs) return counts;
  return partOfCounts(counts, BigInt(Math.floor(toMs - fromMs)), BigInt(Math.ceil(toMs - startMs)));
}
