import type { MonthEdge } from "../observation.ts";
import { type Baseline, type CounterReading, isSameStart, type LedgerStep } from "./advance.ts";
import { type BlockCounts, isNoBlocks, NO_BLOCKS } from "./block-counts.ts";
import { bookEntry, type Books, EMPTY_BOOKS, type Span } from "./books.ts";
import { chooseStep, type NodeStep } from "./choose-step.ts";
import type { Cursor } from "./cursor.ts";
import { monthOf, monthStartMs } from "./month.ts";
import { followNode, type Track } from "./track.ts";

/** Counts of one source of one validator. */
export interface SourceLedger {
  /** Last readings by node. */
  readonly tracks: ReadonlyMap<string, Track>;
  /** Up to where the books go. Absent before the first reading. */
  readonly cursor?: Cursor;
  readonly books: Books;
}

/** A source before the first reading. */
export const EMPTY_SOURCE: SourceLedger = { tracks: new Map(), books: EMPTY_BOOKS };

/** One reading of one node. */
export interface NodeReadingOf {
  readonly node: string;
  readonly reading: CounterReading;
  /** Time of the reading when it is not the time of the poll: a sample that Prometheus stored. */
  readonly sampledAtMs?: number | undefined;
}

/** Time of a poll, and how to count it. */
export interface CountOptions {
  readonly atMs: number;
  readonly timeMs: number;
  readonly edge?: MonthEdge | undefined;
  /** Spans to book in, besides the months. */
  readonly spans: readonly Span[];
  /**
   * What a first reading covers. "process": the time since its process started. "period": the current month, as the
   * counters of the chain do; such blocks are not estimated.
   */
  readonly firstCovers: "process" | "period";
  /** The readings are of a gap, read from Prometheus. */
  readonly isBackfill?: boolean | undefined;
}

/** Result of counting one poll. */
export interface SourceCounting {
  readonly source: SourceLedger;
  /** What each node added, whether or not it was the node that counts. */
  readonly steps: readonly NodeStep[];
  /** What was booked. */
  readonly counts: BlockCounts;
  /** Nodes whose URL answers for two processes in turn; none of their readings was counted. */
  readonly conflicts: readonly string[];
}

/**
 * Counts one poll of all nodes of a validator.
 *
 * Every node calls its own sidecar for every block, so their counts are never added. In each poll the node with the greatest
 * share of good blocks counts: a vote is good when one node has prices in time. Equal shares keep the node of the poll
 * before. After a change of the node, the heights decide which blocks are new; a block between two nodes is unknown.
 */
export function countPoll(
  source: SourceLedger,
  readings: readonly NodeReadingOf[],
  options: CountOptions,
): SourceCounting {
  const tracks = new Map(source.tracks);
  const steps: NodeStep[] = [];
  const conflicts: string[] = [];
  for (const { node, reading, sampledAtMs } of newReadings(source.tracks, readings)) {
    const before = tracks.get(node)?.baseline;
    const { track, step } = followNode(tracks.get(node), reading, sampledAtMs ?? options.atMs);
    tracks.set(node, track);
    if (step === undefined) conflicts.push(node);
    else steps.push({ node, step, before });
  }
  const chosen = chooseStep(steps, source.cursor);
  if (chosen === undefined) return { source: { ...source, tracks }, steps, counts: NO_BLOCKS, conflicts };
  const { node, step, counts, fromHeight } = chosen;
  const { height } = step.baseline;
  const { atMs } = step.baseline;
  // A sample is older than the poll, and so than the latest block of the chain.
  const timed = atMs < options.atMs ? { ...options, timeMs: Math.min(options.timeMs, atMs) } : options;
  const cursor: Cursor = {
    atMs,
    timeMs: cursorTimeMs(height, timed),
    node,
    ...(height === undefined ? {} : { height }),
  };
  const heights =
    fromHeight === undefined || height === undefined ? undefined : { from: fromHeight, to: height };
  const books = isNoBlocks(counts)
    ? source.books
    : bookEntry(source.books, { counts, heights, ...timesOf(source.cursor, step, timed) });
  return { source: { tracks, cursor, books }, steps, counts, conflicts };
}

/**
 * Returns the readings that can be counted. The stored samples of several nodes have times of their own: they are counted when
 * each node has a new one. Otherwise the node whose sample is the latest would decide about the last blocks alone.
 */
function newReadings(
  tracks: SourceLedger["tracks"],
  readings: readonly NodeReadingOf[],
): readonly NodeReadingOf[] {
  const isOld = ({ node, reading, sampledAtMs }: NodeReadingOf): boolean => {
    const before = tracks.get(node)?.baseline;
    return before !== undefined && isPast(before, reading, sampledAtMs);
  };
  return readings.some(isOld) ? readings.filter(({ sampledAtMs }) => sampledAtMs === undefined) : readings;
}

/**
 * Whether a stored sample is not after the last reading. The same sample is seen in several polls, a replica of Prometheus
 * can be behind another one, and its clock can be ahead: then the counters of the same process are lower.
 */
function isPast(before: Baseline, reading: CounterReading, sampledAtMs: number | undefined): boolean {
  if (sampledAtMs === undefined) return false;
  if (sampledAtMs <= before.atMs) return true;
  const isLower = reading.success < before.success || reading.failure < before.failure;
  return isLower && isSameStart(before, reading);
}

/** A node that is still before the first block of the month is at the end of the month before. */
function cursorTimeMs(height: bigint | undefined, { timeMs, edge }: CountOptions): number {
  if (edge === undefined || height === undefined || height >= edge.firstHeight) return timeMs;
  return Math.min(timeMs, monthStartMs(edge.month) - 1);
}

function timesOf(cursor: Cursor | undefined, step: LedgerStep, options: CountOptions) {
  const { timeMs: toMs, edge, spans, isBackfill: isBackfilled = false } = options;
  const common = { toMs, edge, isBackfilled };
  if (cursor !== undefined) return { ...common, fromMs: cursor.timeMs, spans, isEstimated: false };
  if (options.firstCovers === "period")
    return { ...common, fromMs: monthStartMs(monthOf(toMs)), spans: [], isEstimated: false };
  // Minutes and hours of an estimate would only repeat its mean.
  const days = spans.filter((span) => span === "day");
  return { ...common, fromMs: Math.min(step.fromMs, toMs), spans: days, isEstimated: true };
}
