import { type Month, monthOf, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { advanceCounter, isSameStart } from "./counter-state.ts";
import type { Baseline, Counters, CounterState, LedgerStep } from "./counter-state.ts";
import { addCounts, allBlocks, isNoBlocks, NO_BLOCKS, partOfCounts, subtractCounts } from "./ledger-view.ts";
import type { BlockCounts } from "./ledger-view.ts";
import type { ChainHead, CountedTo, MonthEdge, Observation } from "../sources/observation.ts";
import { addToRollups, NO_ROLLUPS, type Rollups, type Span } from "./rollups.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";

/** One validator's counts from one source ("calls", "votes" or "revenue"). */
export interface SourceLedger {
  /** Each node's latest readings, by node name. */
  readonly counterStates: ReadonlyMap<string, CounterState>;
  /** The last counted block; absent before the first reading. */
  readonly checkpoint?: Checkpoint;
  readonly rollups: Rollups;
}

/** The last block counted in a source's rollups, and the reading that counted it. */
interface Checkpoint extends CountedTo {
  /** Wall-clock time of the reading that counted the block. */
  readonly atMs: number;
  /** Name of the node whose reading counted the block. */
  readonly node: string;
}

export const EMPTY_SOURCE: SourceLedger = { counterStates: new Map(), rollups: NO_ROLLUPS };

/** The counters of one node or of the chain, as read by one poll. */
export interface NodeCounters {
  readonly node: string;
  readonly counters: Counters;
}

/** The poll's time, and how to date and count its blocks. */
interface CountOptions extends Pick<LedgerTime, "timeMs" | "edge"> {
  readonly atMs: number;
  /** The kinds of rollups (minute, hour, day) in which to count the blocks, in addition to months. */
  readonly spans: readonly Span[];
  /**
   * Which period a node's first reading covers. With "process", it covers the time since the node's start, and the blocks are estimates.
   * With "period", it covers the current payment period of the chain's own counters, and the blocks are exact.
   */
  readonly firstCovers: "process" | "period";
  /** True if the readings were taken from Prometheus to fill a gap. */
  readonly isBackfill?: boolean | undefined;
}

/** The blocks that one node counted between two polls. */
export interface NodeStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** The node's previous reading; undefined for its first reading. */
  readonly before: Baseline | undefined;
}

export interface SourceCounting {
  readonly source: SourceLedger;
  /** The blocks that each node's counters added, even if another node was chosen for counting. */
  readonly steps: readonly NodeStep[];
  /** The blocks that the poll added to the rollups. */
  readonly counts: BlockCounts;
  /** Nodes that were not counted, because their URL alternates between two processes. */
  readonly conflicts: readonly string[];
}

/**
 * Counts one poll of all of a validator's nodes.
 *
 * Every node calls its own sidecar for every block, so the nodes' counts are never added up. Each poll counts only the node with
 * the highest share of good blocks, because a vote is good if any node has prices in time. If two nodes' shares are equal, the
 * previously counted node is preferred. After a switch to another node, the heights determine which blocks are new; blocks between
 * the readings of the two nodes are unknown.
 */
export function countPoll(
  source: SourceLedger,
  nodes: readonly NodeCounters[],
  options: CountOptions,
): SourceCounting {
  const counterStates = new Map(source.counterStates);
  const steps: NodeStep[] = [];
  const conflicts: string[] = [];
  for (const { node, counters } of newCounters(source.counterStates, nodes)) {
    const before = counterStates.get(node)?.baseline;
    const atMs = counters.sampledAtMs ?? options.atMs;
    const { state, step } = advanceCounter(counterStates.get(node), counters, atMs);
    counterStates.set(node, state);
    if (step !== undefined) steps.push({ node, step, before });
    else if (state.conflict?.alternates === true) conflicts.push(node);
  }
  const chosen = chooseStep(steps, source.checkpoint);
  if (chosen === undefined)
    return { source: { ...source, counterStates }, steps, counts: NO_BLOCKS, conflicts };
  const { node, step, counts, fromHeight } = chosen;
  const { height, atMs } = step.baseline;
  // If a sample stored by Prometheus is older than the poll, date its blocks by the sample's time.
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
 * Returns the readings that this poll can count. Samples that Prometheus has stored for several nodes differ in time, so they are
 * counted only once every node has a new sample. Otherwise, the node with the newest sample would alone determine the last blocks'
 * results.
 */
function newCounters(
  counterStates: SourceLedger["counterStates"],
  nodes: readonly NodeCounters[],
): readonly NodeCounters[] {
  const isOld = ({ node, counters }: NodeCounters): boolean => {
    const before = counterStates.get(node)?.baseline;
    return before !== undefined && isPast(before, counters);
  };
  return nodes.some(isOld) ? nodes.filter(({ counters }) => counters.sampledAtMs === undefined) : nodes;
}

/**
 * Returns true if a sample stored by Prometheus contains no new blocks. Several polls may see the same sample. A replica may also
 * return older data with a later time, which lower counters of the same process reveal.
 */
function isPast(before: Baseline, counters: Counters): boolean {
  const { sampledAtMs } = counters;
  if (sampledAtMs === undefined) return false;
  if (sampledAtMs <= before.atMs) return true;
  const isLower = counters.success < before.success || counters.failure < before.failure;
  return isLower && isSameStart(before, counters);
}

/** The node chosen for this poll, with its blocks. */
interface ChosenStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** The node's blocks that have not been counted yet. */
  readonly counts: BlockCounts;
  /** The height before the first of these blocks; undefined if the node reports no height. */
  readonly fromHeight: bigint | undefined;
}

/** Chooses the node to count, as {@link countPoll} describes. Returns undefined if no node has new blocks to count. */
function chooseStep(steps: readonly NodeStep[], checkpoint: Checkpoint | undefined): ChosenStep | undefined {
  const candidates = steps.flatMap((step) => {
    const part = uncountedPart(step, checkpoint);
    return part === undefined ? [] : [{ ...step, ...part }];
  });
  // The first reading has no checkpoint, so count the first node that makes calls.
  if (checkpoint === undefined) return candidates.find(({ counts }) => !isNoBlocks(counts)) ?? candidates[0];
  return candidates.reduce<ChosenStep | undefined>((best, candidate) => {
    if (best === undefined) return candidate;
    const difference = compareShares(candidate.counts, best.counts);
    return difference > 0 || (difference === 0 && candidate.node === checkpoint.node) ? candidate : best;
  }, undefined);
}

/** Returns a node's blocks above the checkpoint; undefined if there are none. */
function uncountedPart(
  { node, step, before }: NodeStep,
  checkpoint: Checkpoint | undefined,
): Pick<ChosenStep, "counts" | "fromHeight"> | undefined {
  const whole = { counts: step.counts, fromHeight: before?.height };
  // If the same node was counted last, its own counters tell exactly which blocks are new.
  if (checkpoint === undefined || (node === checkpoint.node && before?.atMs === checkpoint.atMs))
    return whole;
  const { height } = step.baseline;
  if (checkpoint.height === undefined || height === undefined)
    return before === undefined ? undefined : whole;
  if (height <= checkpoint.height) return undefined;
  // A node's first reading shows its height, but not the results of the blocks below it.
  const from = before?.height ?? height;
  const known = before === undefined ? NO_BLOCKS : step.counts;
  const overlap = checkpoint.height - from;
  if (overlap <= 0n)
    return { counts: addCounts(known, { ...NO_BLOCKS, unknown: -overlap }), fromHeight: checkpoint.height };
  // The counters don't show which of these blocks lie below the checkpoint, so assume the same mix of results on both sides.
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

/** Returns the last counted block's time, which is in the previous month while the node has not reached the new month's first block. */
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
  // Count estimated blocks only by day, because shorter rollups would all show the same mean.
  const days = spans.filter((span) => span === "day");
  const fromMs = Math.min(Math.max(step.fromMs, monthStartMs(monthOf(toMs))), toMs);
  return { ...common, fromMs, spans: days, isEstimated: true };
}

/**
 * Returns the blocks of a first reading that fall within its month. Only the total is known, so the blocks are spread evenly over
 * the time since the process started. Rounding down keeps an earlier month's blocks out of this month.
 */
function inMonth(
  counts: BlockCounts,
  startMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BlockCounts {
  if (startMs >= fromMs) return counts;
  return partOfCounts(counts, BigInt(Math.floor(toMs - fromMs)), BigInt(Math.ceil(toMs - startMs)));
}

/**
 * The time that the ledger gives to a poll's blocks. The chain pays by block time, so the newest block's time is used if the chain
 * can be read, and otherwise the poll's time, which is at most one poll interval later.
 */
interface LedgerTime {
  readonly timeMs: number;
  readonly edge?: MonthEdge | undefined;
  /** True if no counted block can be later than `timeMs`, so that any later date in the ledger is wrong. */
  readonly isProven: boolean;
  /** Returns true if the month, which has ended by `timeMs`, can be closed. */
  readonly closes: (month: Month) => boolean;
}

/** After the clock was set, months stay open for this long, so that a wrong clock can be detected first. */
const CLOSE_AFTER_MS = 10 * MINUTE_MS;

/** Maximum tolerated difference between this machine's clock and the newest block's time. */
const TOLERANCE_MS = MINUTE_MS;

/** If a REST server is behind the nodes by more blocks than this, don't date the nodes' blocks by the server's block time. */
const MAX_BEHIND = 20n;

/** Returns the time for a source's new blocks, given its checkpoint, which is undefined before the first reading. */
export type LedgerTimeOf = (checkpoint: CountedTo | undefined) => LedgerTime;

/** Returns a function that computes, for each source's checkpoint, the time of an observation's new blocks. */
export function ledgerTimes(observation: Observation): LedgerTimeOf {
  const { atMs, clock } = observation;
  const head = currentHead(observation);
  if (head !== undefined) {
    const { blockTimeMs: timeMs, monthEdge: edge, height } = head;
    return (checkpoint) => {
      // A block at or above the checkpoint's height is no earlier than any counted block.
      const isProven = checkpoint?.height !== undefined && height >= checkpoint.height;
      return { timeMs, edge, isProven, closes: () => true };
    };
  }
  const sinceMs = clock === undefined ? Number.NEGATIVE_INFINITY : clock.believedSinceMs;
  return (checkpoint) => {
    const counted = checkpoint?.timeMs ?? atMs;
    if (sinceMs === undefined)
      return { timeMs: Math.max(atMs, counted), isProven: false, closes: () => false };
    return {
      timeMs: atMs,
      isProven: atMs < counted - TOLERANCE_MS,
      // Close a month immediately only if the clock ran steadily past its end, because the clock may otherwise have been set.
      closes: (month) => sinceMs <= nextMonthMs(monthStartMs(month)) || atMs - sinceMs >= CLOSE_AFTER_MS,
    };
  };
}

/** Returns the latest block unless it belongs to another chain or is far behind the nodes. */
function currentHead({ chain, nodes }: Observation): ChainHead | undefined {
  if (chain.head.state !== "up") return undefined;
  const head = chain.head.value;
  const isOther = nodes.some(({ metrics }) => {
    if (metrics.state !== "up") return false;
    const { chainId, height } = metrics.value;
    return chainId !== head.chainId || (height !== undefined && height - head.height > MAX_BEHIND);
  });
  return isOther ? undefined : head;
}
