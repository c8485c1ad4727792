import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import {
  type Baseline,
  type CounterReading,
  advanceCounter,
  isSameStart,
  type LedgerStep,
  type CounterState,
} from "./counter-state.ts";
import {
  addCounts,
  type BlockCounts,
  isNoBlocks,
  NO_BLOCKS,
  partOfCounts,
  subtractCounts,
} from "./block-counts.ts";
import type { LedgerTime } from "./ledger-time.ts";
import { addToRollups, type Rollups, NO_ROLLUPS, type Span } from "./rollups.ts";

/** Counts of one source for one validator. */
export interface SourceLedger {
  /** Latest readings, by node. */
  readonly counterStates: ReadonlyMap<string, CounterState>;
  /** The rollups contain the blocks up to here. Absent before the first reading. */
  readonly checkpoint?: Checkpoint;
  readonly rollups: Rollups;
}

/** The last block in a source's rollups. */
interface Checkpoint {
  /** Wall-clock time of the reading. */
  readonly atMs: number;
  /** Time of its latest block; the wall clock if the chain cannot be read. */
  readonly timeMs: number;
  readonly height?: bigint;
  /** The node counted last. */
  readonly node: string;
}

/** A source before the first reading. */
export const EMPTY_SOURCE: SourceLedger = { counterStates: new Map(), rollups: NO_ROLLUPS };

/** One reading of one node. */
export interface NodeReadingOf {
  readonly node: string;
  readonly reading: CounterReading;
  /** Time of the reading if it differs from the poll's time: a sample stored by Prometheus. */
  readonly sampledAtMs?: number | undefined;
}

/** Time of a poll and how to count it. */
export interface CountOptions extends Pick<LedgerTime, "timeMs" | "edge"> {
  readonly atMs: number;
  /** Spans to count in, in addition to months. */
  readonly spans: readonly Span[];
  /**
   * What a first reading covers. "process": the time since its process started. "period": the current month, as for the chain's
   * counters; these blocks are not estimated.
   */
  readonly firstCovers: "process" | "period";
  /** True if the readings come from a gap and were read from Prometheus. */
  readonly isBackfill?: boolean | undefined;
}

/** Blocks that one node counted between two polls. */
export interface NodeStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** The node's previous reading; undefined for its first one. */
  readonly before: Baseline | undefined;
}

/** Result of counting one poll. */
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
 * Counts one poll of all nodes of a validator.
 *
 * Every node calls its own sidecar for every block, so their counts are never added. In each poll, only the node with the highest
 * share of good blocks counts: a vote is good if any node has prices in time. If shares are equal, the node counted in the
 * previous poll counts. After a switch to another node, the heights decide which blocks are new; blocks between the two nodes are
 * unknown.
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
  // A sample is older than the poll, and so than the latest block of the chain.
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
  const rollups = isNoBlocks(own)
    ? source.rollups
    : addToRollups(source.rollups, { counts: own, heights, ...times });
  return { source: { counterStates, checkpoint, rollups }, steps, counts: own, conflicts };
}

/**
 * Returns the readings that can be counted. Stored samples from several nodes have their own times: they are counted once each
 * node has a new sample. Otherwise, the node with the latest sample would alone decide about the last blocks.
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
 * replica may lag behind another while its clock is ahead: then the same process's counters are lower.
 */
function isPast(before: Baseline, reading: CounterReading, sampledAtMs: number | undefined): boolean {
  if (sampledAtMs === undefined) return false;
  if (sampledAtMs <= before.atMs) return true;
  const isLower = reading.success < before.success || reading.failure < before.failure;
  return isLower && isSameStart(before, reading);
}

/** The node that counts in this poll. */
interface ChosenStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** Blocks that have not been counted yet. */
  readonly counts: BlockCounts;
  /** Height before the first of these blocks; undefined if the node reports no height. */
  readonly fromHeight: bigint | undefined;
}

/** Chooses the node that counts; see `countPoll`. Undefined if no node has anything new. */
function chooseStep(steps: readonly NodeStep[], checkpoint: Checkpoint | undefined): ChosenStep | undefined {
  const candidates = steps.flatMap((step) => {
    const part = uncountedPart(step, checkpoint);
    return part === undefined ? [] : [{ ...step, ...part }];
  });
  // Before the first reading there is nothing to compare: the first node that makes calls counts.
  if (checkpoint === undefined) return candidates.find(({ counts }) => !isNoBlocks(counts)) ?? candidates[0];
  return candidates.reduce<ChosenStep | undefined>((best, candidate) => {
    if (best === undefined) return candidate;
    const difference = compareShares(candidate.counts, best.counts);
    return difference > 0 || (difference === 0 && candidate.node === checkpoint.node) ? candidate : best;
  }, undefined);
}

type UncountedPart = Pick<ChosenStep, "counts" | "fromHeight">;

/** The part of a node's step beyond the checkpoint; undefined if there is none. */
function uncountedPart(
  { node, step, before }: NodeStep,
  checkpoint: Checkpoint | undefined,
): UncountedPart | undefined {
  const whole = { counts: step.counts, fromHeight: before?.height };
  // The node that counted last continues where it was: its own counters decide, to the block.
  if (checkpoint === undefined || (node === checkpoint.node && before?.atMs === checkpoint.atMs))
    return whole;
  const { height } = step.baseline;
  if (checkpoint.height === undefined || height === undefined)
    return before === undefined ? undefined : whole;
  if (height <= checkpoint.height) return undefined;
  // A node that was not read before shows how high the chain is, but not what happened to the blocks up to there.
  const from = before?.height ?? height;
  const known = before === undefined ? NO_BLOCKS : step.counts;
  const overlap = checkpoint.height - from;
  if (overlap <= 0n)
    return { counts: addCounts(known, { ...NO_BLOCKS, unknown: -overlap }), fromHeight: checkpoint.height };
  // Only the number of the blocks up to the checkpoint is known here, not their results: they get the mean of the step.
  const counted = partOfCounts(known, overlap, height - from);
  return { counts: subtractCounts(known, counted), fromHeight: checkpoint.height };
}

/** Compares two shares of good blocks, as a sort function does. A node that made no calls has the lowest share. */
function compareShares(a: BlockCounts, b: BlockCounts): number {
  const [totalA, totalB] = [a.good + a.bad + a.unknown, b.good + b.bad + b.unknown];
  if (totalA === 0n || totalB === 0n) return Number(totalA > 0n) - Number(totalB > 0n);
  // Cross products: a division of bigints would truncate.
  const difference = a.good * totalB - b.good * totalA;
  if (difference === 0n) return 0;
  return difference > 0n ? 1 : -1;
}

/** A node that has not reached the month's first block is placed at the end of the previous month. */
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
  // Minutes and hours of an estimate would only repeat its mean.
  const days = spans.filter((span) => span === "day");
  const fromMs = Math.min(Math.max(step.fromMs, monthStartMs(monthOf(toMs))), toMs);
  return { ...common, fromMs, spans: days, isEstimated: true };
}

/**
 * Returns the blocks of a first reading that fall in its month. Only their number is known, so they are averaged over the time
 * since the process started, rounded down: no block from an earlier month is counted in this one.
 */
function inMonth(
  counts: BlockCounts,
  startMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BlockCounts {
  if (startMs >= fromMs) return counts;
  return partOfCounts(counts, BigInt(Math.floor(toMs - fromMs)), BigInt(Math.ceil(toMs - startMs)));
}
