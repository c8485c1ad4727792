import { HOUR_MS } from "../../platform/base/time.ts";
import { type Month, monthOf } from "../../platform/base/month.ts";
import { countPoll, EMPTY_SOURCE, ledgerTimes } from "./source-ledger.ts";
import type { LedgerTimeOf, NodeCounters, NodeStep, SourceCounting, SourceLedger } from "./source-ledger.ts";
import { type ChainHead, type Observation, readingOf, type RevenueReading } from "../sources/observation.ts";
import type { BlockCounts, LedgerSource, LedgerView, MissRange } from "./ledger-view.ts";
import { correctRollups, finalizeMonths, rollupsWithin, SPAN_NAMES } from "./rollups.ts";
import { type EventLedger, followPoll, NO_EVENTS } from "./ledger-events.ts";
import { addMisses, correctMisses, missesWithin } from "./miss-ranges.ts";

/** One validator's counts and events, with the state needed to continue counting. */
export interface Ledger extends EventLedger {
  /** The id of the validator's chain; absent before the first reading. */
  readonly chainId?: string;
  readonly sources: Sources;
  /** Recent block ranges with bad blocks, oldest first, from the source "calls". */
  readonly misses: readonly MissRange[];
  readonly anchors: readonly Anchor[];
}

type Sources = Readonly<Record<LedgerSource, SourceLedger>>;

export interface Anchor {
  readonly timeMs: number;
  readonly height: bigint;
}

export const EMPTY_LEDGER: Ledger = {
  sources: { calls: EMPTY_SOURCE, votes: EMPTY_SOURCE, revenue: EMPTY_SOURCE },
  events: NO_EVENTS,
  misses: [],
  anchors: [],
  processes: new Map(),
};

export interface LedgerOptions {
  readonly intervalMs: number;
  /** The validator's consensus address, used by the source "votes". */
  readonly consensusAddress?: string | undefined;
  /** Readings further apart than this produce a "gap" event. Default: three poll intervals, but at least one minute. */
  readonly gapMs?: number | undefined;
  /** True if the observation was read from Prometheus to fill a gap, so that revenue and parameters are unknown. */
  readonly isBackfill?: boolean;
}

export interface Counting {
  readonly ledger: Ledger;
  /** For the source "calls", the blocks that each node's counters added, even if another node was chosen for counting. */
  readonly steps: readonly NodeStep[];
  /** The blocks that this observation added to the source "calls". */
  readonly counts: BlockCounts;
  /**
   * The given observation, with an error in place of each metrics page whose URL alternates between two processes, for example
   * behind a load balancer.
   */
  readonly observation: Observation;
}

const ANCHOR_EVERY_MS = HOUR_MS;

/** The period over which the block time is averaged. */
const WINDOW_MS = 24 * ANCHOR_EVERY_MS;

/** Minimum number of blocks for a mean block time. */
const MIN_BLOCKS = 30n;

/** An interval is treated as containing a halt if its block time exceeds the median by this factor. */
const HALT_FACTOR = 1.25;

/**
 * Counts one observation's blocks for each source. If a source could not be read, its next reading also covers the blocks made until then.
 */
export function countObservation(given: Ledger, observation: Observation, options: LedgerOptions): Counting {
  const { atMs } = observation;
  const { counters, shownChainId } = countersOf(observation, options.consensusAddress);
  const timeOf = ledgerTimes(observation);
  const { ledger, reopened } = corrected(given, timeOf);
  const count = (name: LedgerSource): SourceCounting =>
    countPoll(ledger.sources[name], counters[name], {
      ...timeOf(ledger.sources[name].checkpoint),
      atMs,
      isBackfill: options.isBackfill,
      spans: name === "calls" ? SPAN_NAMES : ["day"],
      firstCovers: name === "revenue" ? "period" : "process",
    });
  const calls = count("calls");
  const chainId = ledger.chainId ?? shownChainId;
  const counted = { calls: calls.source, votes: count("votes").source, revenue: count("revenue").source };
  const { sources, closed } = closeMonths(counted, chainId, timeOf, atMs);
  const { steps, counts, conflicts } = calls;
  return {
    observation: withConflicts(observation, conflicts),
    ledger: {
      ...ledger,
      ...(chainId === undefined ? {} : { chainId }),
      sources,
      misses: addMisses(ledger.misses, counts, ledger.sources.calls.checkpoint, calls.source.checkpoint),
      anchors: anchorsOf(ledger, calls),
      ...followPoll(ledger, {
        before: ledger.sources.calls,
        calls,
        observation,
        closed,
        reopened,
        ...options,
      }),
    },
    steps,
    counts,
  };
}

/** If the clock has turned out to be wrong, moves blocks that it dated in the future to the current time. */
function corrected(ledger: Ledger, timeOf: LedgerTimeOf) {
  const correct = (source: SourceLedger) => {
    const { checkpoint } = source;
    const { timeMs, isProven } = timeOf(checkpoint);
    if (checkpoint === undefined || !isProven || timeMs >= checkpoint.timeMs) return { source, reopened: [] };
    const { rollups, reopened } = correctRollups(source.rollups, timeMs);
    return { source: { ...source, checkpoint: { ...checkpoint, timeMs }, rollups }, reopened };
  };
  const { calls, votes, revenue } = ledger.sources;
  const own = correct(calls);
  const timeMs = own.source.checkpoint?.timeMs;
  if (own.source === calls || timeMs === undefined) return { ledger, reopened: [] };
  return {
    ledger: {
      ...ledger,
      sources: { calls: own.source, votes: correct(votes).source, revenue },
      anchors: ledger.anchors.filter((anchor) => anchor.timeMs <= timeMs),
      misses: correctMisses(ledger.misses, timeMs),
    },
    reopened: own.reopened,
  };
}

/** Replaces the metrics pages of the nodes in `conflicts` with errors. */
function withConflicts(observation: Observation, conflicts: readonly string[]): Observation {
  if (conflicts.length === 0) return observation;
  const text =
    "this URL alternates between two nodes, so neither is counted; point sources.node at one node only";
  const failure = { code: "two-nodes", text } as const;
  const nodes = observation.nodes.map((node) =>
    conflicts.includes(node.name) && node.metrics.state === "up"
      ? { ...node, metrics: { state: "error", failure, durationMs: node.metrics.durationMs } as const }
      : node,
  );
  return { ...observation, nodes };
}

/** Returns an observation's counters for each source, and the chain id if any source states it. */
function countersOf({ nodes, chain }: Observation, address: string | undefined) {
  const head = readingOf(chain.head);
  const readings = nodes.flatMap(({ name, metrics }) =>
    metrics.state === "up" ? [{ node: name, counters: metrics.value }] : [],
  );
  const counters: Readonly<Record<LedgerSource, readonly NodeCounters[]>> = {
    // Ignore pages without oracle metrics, because their counts of 0 do not mean that a counter has fallen.
    calls: readings.filter(({ counters: { votesUnseen } }) => votesUnseen === undefined),
    votes: readings.flatMap(({ node, counters: reading }) => {
      const votes = address === undefined ? undefined : reading.reports?.get(address);
      if (votes === undefined) return [];
      const { withPrice, total } = votes;
      return [{ node, counters: { ...reading, success: withPrice, failure: total - withPrice } }];
    }),
    revenue: countersOfRevenue(readingOf(chain.revenue), head),
  };
  return { counters, shownChainId: readings[0]?.counters.chainId ?? head?.chainId };
}

/** Returns the chain's own counters, which restart in each payment period, so that a drop marks a new period. */
function countersOfRevenue(
  revenue: RevenueReading | undefined,
  head: ChainHead | undefined,
): readonly NodeCounters[] {
  if (revenue?.stats === undefined || head === undefined) return [];
  const { committedVotes, inActiveSet } = revenue.stats;
  const counters = {
    chainId: head.chainId,
    success: committedVotes,
    failure: inActiveSet > committedVotes ? inActiveSet - committedVotes : 0n,
  };
  return [{ node: "chain", counters }];
}

function anchorsOf({ anchors, sources }: Ledger, { source, steps }: SourceCounting): readonly Anchor[] {
  const now = anchorOf(source);
  if (now === undefined) return anchors;
  const first =
    sources.calls.checkpoint === undefined
      ? steps.find(({ node }) => node === source.checkpoint?.node)?.step
      : undefined;
  if (first === undefined) return addAnchor(anchors, now);
  // Start from the first reading's counts since the node's start, so that a mean block time is known immediately.
  const made = first.counts.good + first.counts.bad;
  return [{ timeMs: first.fromMs, height: now.height - made }, now];
}

function anchorOf({ checkpoint }: SourceLedger): Anchor | undefined {
  if (checkpoint?.height === undefined) return undefined;
  return { timeMs: checkpoint.timeMs, height: checkpoint.height };
}

/** Finalizes the months before each source's checkpoint. `closed` lists the months closed in the source "calls". */
function closeMonths(sources: Sources, chainId: string | undefined, timeOf: LedgerTimeOf, atMs: number) {
  if (chainId === undefined) return { sources, closed: [] };
  const close = (name: LedgerSource) => {
    const source = sources[name];
    const { checkpoint } = source;
    if (checkpoint === undefined) return { source, closed: [] };
    const present = monthOf(checkpoint.timeMs);
    const { closes } = timeOf(checkpoint);
    const isOver = (month: Month): boolean => month < present && closes(month);
    const identity = { chainId, source: name };
    const { rollups, closed } = finalizeMonths(source.rollups, isOver, identity, atMs);
    return { source: { ...source, rollups }, closed: closed.map(({ month }) => month) };
  };
  const calls = close("calls");
  return {
    sources: { calls: calls.source, votes: close("votes").source, revenue: close("revenue").source },
    closed: calls.closed,
  };
}

/** Adds a height and its time to the anchors, and retains one anchor per hour of the last day and one older anchor. */
export function addAnchor(anchors: readonly Anchor[], now: Anchor): readonly Anchor[] {
  const last = anchors.at(-1);
  // A lower height belongs to another chain with the same id, so discard the old anchors.
  if (last !== undefined && now.height < last.height) return [now];
  if (last !== undefined && now.timeMs - last.timeMs < ANCHOR_EVERY_MS) return anchors;
  const recent = anchors.filter(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS);
  const lastOlder = anchors.filter(({ timeMs }) => now.timeMs - timeMs > WINDOW_MS).slice(-1);
  return [...lastOlder, ...recent, now];
}

/** Returns the mean time between blocks, in ms; undefined until 30 blocks are known. */
export function blockTimeMs({ anchors, sources }: Ledger): number | undefined {
  return meanBlockTimeMs(anchors, anchorOf(sources.calls));
}

/**
 * Returns the mean time between blocks, in ms, over the last day or, without a reading from that day, since the latest earlier
 * reading. Halts are excluded, because the month's remaining blocks are expected at the usual block time.
 */
export function meanBlockTimeMs(anchors: readonly Anchor[], now: Anchor | undefined): number | undefined {
  if (now === undefined) return undefined;
  const usable = anchors.filter(({ height }) => now.height - height >= MIN_BLOCKS);
  const from = usable.find(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS) ?? usable.at(-1);
  if (from === undefined || now.timeMs <= from.timeMs) return undefined;
  const points = [...anchors.slice(anchors.indexOf(from)), now];
  const intervals = points.flatMap((to, index) => intervalBetween(points[index - 1], to));
  const median = medianBlockTime(intervals);
  const counted = intervals.filter(({ ms, blocks }) => ms / blocks <= median * HALT_FACTOR);
  const sum = (value: (interval: BlockInterval) => number): number =>
    counted.reduce((total, interval) => total + value(interval), 0);
  return sum(({ ms }) => ms) / sum(({ blocks }) => blocks);
}

interface BlockInterval {
  readonly ms: number;
  readonly blocks: number;
}

function intervalBetween(from: Anchor | undefined, to: Anchor): readonly BlockInterval[] {
  if (from === undefined || to.height <= from.height || to.timeMs <= from.timeMs) return [];
  return [{ ms: to.timeMs - from.timeMs, blocks: Number(to.height - from.height) }];
}

/** Returns the median block time, weighted by blocks, so that a short interval does not weigh as much as an hour. */
function medianBlockTime(intervals: readonly BlockInterval[]): number {
  const sorted = intervals.toSorted((a, b) => a.ms / a.blocks - b.ms / b.blocks);
  const half = intervals.reduce((total, { blocks }) => total + blocks, 0) / 2;
  let blocksSoFar = 0;
  const middle = sorted.find(({ blocks }) => (blocksSoFar += blocks) >= half);
  return middle === undefined ? Number.POSITIVE_INFINITY : middle.ms / middle.blocks;
}

/** Creates a view of the rollups in memory: all months, 62 days by day, 3 days by hour, and 12 hours by minute. */
export function memoryView(validator: string, ledger: Ledger): LedgerView {
  const { sources, events, chainId, misses } = ledger;
  const { minute, hour } = sources.calls.rollups;
  return {
    validator,
    chainId,
    months: (source = "calls") =>
      [...sources[source].rollups.months.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1)),
    days: (fromMs, toMs, source = "calls") => rollupsWithin(sources[source].rollups.day, fromMs, toMs),
    hours: (fromMs, toMs) => rollupsWithin(hour, fromMs, toMs),
    minutes: (fromMs, toMs) => rollupsWithin(minute, fromMs, toMs),
    misses: (fromMs, toMs) => missesWithin(misses, fromMs, toMs),
    events: (from, to) => events.recent.filter(({ fromMs, toMs }) => toMs >= from && fromMs < to),
  };
}
