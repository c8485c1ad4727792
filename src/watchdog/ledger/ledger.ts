import { HOUR_MS } from "../../platform/base/time.ts";
import { monthOf } from "../../platform/base/month.ts";
import type { ChainHead, NodePage, Observation, Seen } from "../sources/observation.ts";
import type { CounterReading } from "./counter-state.ts";
import type { BlockCounts } from "./block-counts.ts";
import { finalizeMonths, rollupsWithin } from "./rollups.ts";
import {
  addEvents,
  encodeParams,
  type EventList,
  firstReading,
  followProcesses,
  followProgress,
  NO_EVENTS,
  nodeRestart,
  paramsChange,
  type Processes,
  type Progress,
} from "./ledger-events.ts";
import type { LedgerEvent, LedgerSource, LedgerView } from "./ledger-view.ts";
import { addMisses, type MissRange, missesWithin } from "./miss-ranges.ts";
import {
  type CountOptions,
  countPoll,
  EMPTY_SOURCE,
  type NodeReadingOf,
  type NodeStep,
  type SourceCounting,
  type SourceLedger,
} from "./source-ledger.ts";

/** Counts of one validator. */
export interface Ledger {
  /** Absent before the first reading. */
  readonly chainId?: string;
  readonly sources: Readonly<Record<LedgerSource, SourceLedger>>;
  readonly events: EventList;
  /** Recent blocks of "calls" with bad ones among them, oldest first. */
  readonly misses: readonly MissRange[];
  readonly anchors: readonly Anchor[];
  readonly progress?: Progress;
  /** Processes as the pages last showed them, by node name. */
  readonly processes: ReadonlyMap<string, Processes>;
  /** The chain's reward parameters, as text. */
  readonly params?: string;
}

/** A height and its time. */
export interface Anchor {
  readonly timeMs: number;
  readonly height: bigint;
}

/** The ledger before the first reading. */
export const EMPTY_LEDGER: Ledger = {
  sources: { calls: EMPTY_SOURCE, votes: EMPTY_SOURCE, revenue: EMPTY_SOURCE },
  events: NO_EVENTS,
  misses: [],
  anchors: [],
  processes: new Map(),
};

export interface LedgerOptions {
  readonly intervalMs: number;
  /** Consensus address of the validator, for the source "votes". */
  readonly consensusAddress?: string | undefined;
  /** Time between two readings above which it is a gap. Default: three intervals, at least a minute. */
  readonly gapMs?: number | undefined;
  /** The observation was read from Prometheus to fill a gap. Its revenue and parameters are not known. */
  readonly isBackfill?: boolean;
}

/** Result of counting one observation. */
export interface Counting {
  readonly ledger: Ledger;
  /** Blocks that each node's calls added. */
  readonly steps: readonly NodeStep[];
  /** Blocks that were added to the source "calls". */
  readonly counts: BlockCounts;
  /** Nodes whose URL alternates between two processes, e.g. behind a load balancer. */
  readonly conflicts: readonly string[];
}

/** Minimum time between two anchors. */
const ANCHOR_EVERY_MS = HOUR_MS;

/** Time over which the mean block time is taken. */
const WINDOW_MS = 24 * ANCHOR_EVERY_MS;

/** Fewer blocks give no mean. */
const MIN_BLOCKS = 30n;

/** An interval whose block time exceeds the median by this factor contains a halt. */
const HALT_FACTOR = 1.25;

/** Counts one observation in all sources. A source that was not seen changes nothing: its next reading covers the time. */
export function countObservation(ledger: Ledger, observation: Observation, options: LedgerOptions): Counting {
  const pages = observation.nodes.flatMap(({ name, metrics }) =>
    metrics.state === "up" ? [{ node: name, page: metrics.value }] : [],
  );
  const head = valueOf(observation.chain.head);
  const countSource = (name: LedgerSource, readings: readonly NodeReadingOf[]): SourceCounting =>
    count(ledger.sources[name], name, readings, { ...observation, isBackfill: options.isBackfill });
  const calls = countSource("calls", readingsOfCalls(pages));
  const votes = countSource("votes", readingsOfVotes(pages, options.consensusAddress));
  const revenue = countSource("revenue", readingsOfRevenue(observation, head));
  const chainId = ledger.chainId ?? pages[0]?.page.chainId ?? head?.chainId;
  const { processes, events } = followProcesses(ledger.processes, observation);
  const counted: Ledger = {
    ...ledger,
    ...(chainId === undefined ? {} : { chainId }),
    sources: { calls: calls.source, votes: votes.source, revenue: revenue.source },
    events: addEvents(ledger.events, [...eventsOf(ledger, calls, observation, options), ...events]),
    misses: addMisses(ledger.misses, calls.counts, ledger.sources.calls.checkpoint, calls.source.checkpoint),
    processes,
    anchors: anchorsOf(ledger, calls),
  };
  const { steps, counts, conflicts } = calls;
  return {
    ledger: closeMonths(
      withProgress(withParams(counted, observation), pages, observation.atMs),
      observation.atMs,
    ),
    steps,
    counts,
    conflicts,
  };
}

interface NodePageOf {
  readonly node: string;
  readonly page: NodePage;
}

function count(
  source: SourceLedger,
  name: LedgerSource,
  readings: readonly NodeReadingOf[],
  { atMs, chain, isBackfill }: Observation & Pick<CountOptions, "isBackfill">,
): SourceCounting {
  const head = valueOf(chain.head);
  return countPoll(source, readings, {
    atMs,
    isBackfill,
    // The chain pays by the time of its blocks. Without it, the time of the poll is at most one poll later.
    timeMs: head?.blockTimeMs ?? atMs,
    edge: head?.monthEdge,
    spans: name === "calls" ? ["minute", "hour", "day"] : ["day"],
    firstCovers: name === "revenue" ? "period" : "process",
  });
}

function readingsOfCalls(pages: readonly NodePageOf[]): readonly NodeReadingOf[] {
  return pages.map(({ node, page }) => ({ node, reading: page, sampledAtMs: page.sampledAtMs }));
}

function readingsOfVotes(
  pages: readonly NodePageOf[],
  address: string | undefined,
): readonly NodeReadingOf[] {
  return pages.flatMap(({ node, page }) => {
    const votes = address === undefined ? undefined : page.reports?.get(address);
    if (votes === undefined) return [];
    const reading = { ...page, success: votes.withPrice, failure: votes.total - votes.withPrice };
    return [{ node, reading, sampledAtMs: page.sampledAtMs }];
  });
}

/** The chain counts since the start of its payment period. It names no process, so falling numbers show a new period. */
function readingsOfRevenue({ chain }: Observation, head: ChainHead | undefined): readonly NodeReadingOf[] {
  const revenue = valueOf(chain.revenue);
  if (revenue?.programme !== "revenue" || revenue.stats === undefined || head === undefined) return [];
  const { committedVotes, inActiveSet } = revenue.stats;
  const reading: CounterReading = {
    chainId: head.chainId,
    success: committedVotes,
    failure: inActiveSet > committedVotes ? inActiveSet - committedVotes : 0n,
  };
  return [{ node: "chain", reading }];
}

function eventsOf(
  before: Ledger,
  { source, steps, conflicts }: SourceCounting,
  { atMs }: Observation,
  { intervalMs, gapMs = Math.max(60_000, 3 * intervalMs) }: LedgerOptions,
): readonly LedgerEvent[] {
  const { checkpoint, counterStates } = before.sources.calls;
  const events: LedgerEvent[] = [];
  if (checkpoint === undefined && source.checkpoint !== undefined) {
    const first = steps.find(({ node }) => node === source.checkpoint?.node)?.step;
    if (first !== undefined)
      events.push(firstReading(first.fromMs, first.counts, atMs, source.checkpoint.node));
  }
  if (checkpoint !== undefined && source.checkpoint !== undefined && source.checkpoint !== checkpoint) {
    const silentMs = source.checkpoint.atMs - checkpoint.atMs;
    // Samples from Prometheus have their own times, so a change of the node can step back without a clock jump.
    if (silentMs < 0 && source.checkpoint.atMs === atMs)
      events.push({
        kind: "clock-jump",
        fromMs: atMs,
        toMs: checkpoint.atMs,
        text: "the clock of this machine was set back",
      });
    if (silentMs > gapMs)
      events.push({
        kind: "gap",
        fromMs: checkpoint.atMs,
        toMs: source.checkpoint.atMs,
        text: "no node could be read",
      });
  }
  for (const { node, step, before: last } of steps)
    if (step.restarted)
      events.push(
        nodeRestart(node, step.counts.unknown, last?.atMs ?? atMs, step.baseline.processStartMs ?? atMs),
      );
  for (const node of conflicts)
    if (counterStates.get(node)?.conflict === undefined)
      events.push({
        kind: "two-nodes",
        fromMs: atMs,
        toMs: atMs,
        node,
        text: "two nodes answer in turn at one URL",
      });
  return events;
}

function anchorsOf({ anchors, sources }: Ledger, { source, steps }: SourceCounting): readonly Anchor[] {
  const now = anchorOf(source);
  if (now === undefined) return anchors;
  const first =
    sources.calls.checkpoint === undefined
      ? steps.find(({ node }) => node === source.checkpoint?.node)?.step
      : undefined;
  if (first === undefined) return addAnchor(anchors, now);
  // The counts since the start of the node give a first mean immediately.
  const made = first.counts.good + first.counts.bad;
  return [{ timeMs: first.fromMs, height: now.height - made }, now];
}

function anchorOf({ checkpoint }: SourceLedger): Anchor | undefined {
  return checkpoint?.height === undefined
    ? undefined
    : { timeMs: checkpoint.timeMs, height: checkpoint.height };
}

function withParams(ledger: Ledger, { atMs, chain }: Observation): Ledger {
  const revenue = valueOf(chain.revenue);
  if (revenue === undefined) return ledger;
  const params = encodeParams(revenue);
  if (ledger.params === undefined || ledger.params === params) return { ...ledger, params };
  const text = paramsChange(ledger.params, params);
  const change: LedgerEvent = { kind: "parameter-change", fromMs: atMs, toMs: atMs, text };
  return { ...ledger, params, events: addEvents(ledger.events, [change]) };
}

function withProgress(ledger: Ledger, pages: readonly NodePageOf[], atMs: number): Ledger {
  const height = pages.reduce<bigint | undefined>(
    (most, { page }) => (page.height !== undefined && page.height > (most ?? -1n) ? page.height : most),
    undefined,
  );
  const { progress, events } = followProgress(ledger.progress, ledger.events, height, atMs);
  return { ...ledger, ...(progress === undefined ? {} : { progress }), events };
}

/** Finalizes the months that are before the checkpoint of each source. */
function closeMonths(ledger: Ledger, atMs: number): Ledger {
  const { chainId } = ledger;
  if (chainId === undefined) return ledger;
  let events = ledger.events;
  const close = (source: LedgerSource): SourceLedger => {
    const current = ledger.sources[source];
    if (current.checkpoint === undefined) return current;
    const { rollups, closed } = finalizeMonths(
      current.rollups,
      monthOf(current.checkpoint.timeMs),
      { chainId, source },
      atMs,
    );
    if (closed.length === 0) return current;
    if (source === "calls")
      events = addEvents(
        events,
        closed.map(({ month }) => ({
          kind: "month-sealed",
          fromMs: atMs,
          toMs: atMs,
          text: `${month} is closed`,
        })),
      );
    return { ...current, rollups };
  };
  const sources = { calls: close("calls"), votes: close("votes"), revenue: close("revenue") };
  return { ...ledger, sources, events };
}

function valueOf<T>(seen: Seen<T>): T | undefined {
  return seen.state === "up" ? seen.value : undefined;
}

/** Adds the event that the watchdog started. */
export function recordStart(ledger: Ledger, atMs: number): Ledger {
  const start: LedgerEvent = {
    kind: "watchdog-start",
    fromMs: atMs,
    toMs: atMs,
    text: "the watchdog began to run",
  };
  return { ...ledger, events: addEvents(ledger.events, [start]) };
}

/** Adds a height to the anchors, one an hour, of the last day and one before it. */
export function addAnchor(anchors: readonly Anchor[], now: Anchor): readonly Anchor[] {
  const last = anchors.at(-1);
  // A lower height is another chain with the same name: the mean begins again.
  if (last !== undefined && now.height < last.height) return [now];
  if (last !== undefined && now.timeMs - last.timeMs < ANCHOR_EVERY_MS) return anchors;
  const recent = anchors.filter(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS);
  const lastOlder = anchors.filter(({ timeMs }) => now.timeMs - timeMs > WINDOW_MS).slice(-1);
  return [...lastOlder, ...recent, now];
}

/** Mean time between blocks, ms. Undefined while fewer than 30 blocks are known. */
export function blockTimeMs({ anchors, sources }: Ledger): number | undefined {
  return meanBlockTimeMs(anchors, anchorOf(sources.calls));
}

/**
 * Returns the mean time between blocks, ms, over the last day or over the longest time that is known. Intervals with a halt
 * are left out: the remaining blocks of the month are expected at the usual block time.
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

/** Time and blocks between two anchors. */
interface BlockInterval {
  readonly ms: number;
  readonly blocks: number;
}

function intervalBetween(from: Anchor | undefined, to: Anchor): readonly BlockInterval[] {
  if (from === undefined || to.height <= from.height || to.timeMs <= from.timeMs) return [];
  return [{ ms: to.timeMs - from.timeMs, blocks: Number(to.height - from.height) }];
}

/** Returns the median block time, weighted by blocks: a short interval must not weigh as much as an hour. */
function medianBlockTime(intervals: readonly BlockInterval[]): number {
  const sorted = intervals.toSorted((a, b) => a.ms / a.blocks - b.ms / b.blocks);
  const half = intervals.reduce((total, { blocks }) => total + blocks, 0) / 2;
  let blocksSoFar = 0;
  const middle = sorted.find(({ blocks }) => (blocksSoFar += blocks) >= half);
  return middle === undefined ? Number.POSITIVE_INFINITY : middle.ms / middle.blocks;
}

/** Creates a view of the rollups in memory: all months, 62 days by day, 3 days by hour, 12 hours by minute. */
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
