import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import { type Month, monthOf, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { MonthEdge } from "../sources/observation.ts";
import { addCounts, allBlocks, isNoBlocks, NO_BLOCKS, partOfCounts, subtractCounts } from "./ledger-view.ts";
import type { BlockCounts, LedgerSource, MonthRecord, Rollup, Tally } from "./ledger-view.ts";

/** Length of each kind of rollup, in ms. */
export const SPANS = { minute: 60_000, hour: HOUR_MS, day: DAY_MS } as const;

export type Span = keyof typeof SPANS;
export const SPAN_NAMES = ["minute", "hour", "day"] as const satisfies readonly Span[];

/** All rollups of one length, oldest first, as a list because every poll copies them and copying a map takes a hundred times as long. */
export type SpanRollups = readonly Rollup[];

/** One source's counts by month, day, hour and minute. Older minutes, hours and days are only in the state file. */
export interface Rollups extends Readonly<Record<Span, SpanRollups>> {
  readonly months: ReadonlyMap<Month, MonthRecord>;
}

export const NO_ROLLUPS: Rollups = { months: new Map(), minute: [], hour: [], day: [] };

/** How long rollups stay in memory. Burn rates need hourly rollups for 3 days; forecasts need 28 days. */
export const RETENTION_MS: Readonly<Record<Span, number>> = {
  minute: 12 * SPANS.hour,
  hour: 3 * SPANS.day + SPANS.hour,
  day: 62 * SPANS.day,
};

/** All blocks of a segment up to this length are counted at its end. The blocks of a longer segment are spread over its duration. */
const SHORT_MS = 60_000;

const NO_TALLY: Tally = { counts: NO_BLOCKS, estimated: NO_BLOCKS };

/** The blocks made between two readings, with the times of both readings. */
interface Segment {
  readonly counts: BlockCounts;
  readonly fromMs: number;
  readonly toMs: number;
  /** The height before the first block, and the height of the last block. */
  readonly heights?: { readonly from: bigint; readonly to: bigint } | undefined;
  /** The first block of the month that contains `toMs`. */
  readonly edge?: MonthEdge | undefined;
}

/** The part of a segment that falls within one month. */
type SegmentPart = Pick<Segment, "counts" | "fromMs" | "toMs">;

export interface CountedSegment extends Segment {
  /** True if only the number of blocks is known, and `fromMs` and `toMs` are estimates. */
  readonly isEstimated: boolean;
  /** True if the blocks were read from Prometheus after a gap. */
  readonly isBackfilled?: boolean;
  /** The kinds of rollups (minute, hour, day) in which to count the blocks, in addition to the month. */
  readonly spans: readonly Span[];
}

/**
 * Moves blocks that a wrong clock dated after `timeMs` back to `timeMs`, and reopens months that were therefore closed too early.
 * Returns the rollups and the reopened months. If no block was dated after `timeMs`, returns `rollups` unchanged.
 */
export function correctRollups(rollups: Rollups, timeMs: number) {
  const month = monthOf(timeMs);
  const later = [...rollups.months.values()].filter((record) => record.month >= month);
  const reopened = later.filter(({ finalized }) => finalized !== undefined).map((record) => record.month);
  const isLater = (span: Span): boolean => (rollups[span].at(-1)?.startMs ?? 0) > timeMs;
  const hasLater = later.some((record) => record.month !== month) || SPAN_NAMES.some(isLater);
  if (reopened.length === 0 && !hasLater) return { rollups, reopened };
  const months = new Map([...rollups.months].filter(([name]) => name < month));
  const [first, ...others] = later;
  if (first !== undefined) {
    const { finalized: _, ...record } = others.reduce<MonthRecord>(addTally, first);
    months.set(month, { ...record, month, coveredFromMs: Math.min(record.coveredFromMs, timeMs) });
  }
  const corrected = (span: Span): SpanRollups => {
    const startMs = startOf(timeMs, SPANS[span]);
    const index = firstFrom(rollups[span], startMs);
    const [same, ...rest] = rollups[span].slice(index);
    if (same === undefined) return rollups[span];
    return [...rollups[span].slice(0, index), { ...rest.reduce<Rollup>(addTally, same), startMs }];
  };
  return {
    rollups: { months, minute: corrected("minute"), hour: corrected("hour"), day: corrected("day") },
    reopened,
  };
}

function addTally<T extends Tally>(a: T, b: Tally): T {
  const backfilled = addCounts(a.backfilled ?? NO_BLOCKS, b.backfilled ?? NO_BLOCKS);
  return {
    ...a,
    counts: addCounts(a.counts, b.counts),
    estimated: addCounts(a.estimated, b.estimated),
    ...(isNoBlocks(backfilled) ? {} : { backfilled }),
  };
}

/** Adds blocks to their month and to the minute, hour and day rollups in `spans`. Drops rollups older than {@link RETENTION_MS}. */
export function addToRollups(rollups: Rollups, segment: CountedSegment): Rollups {
  if (isNoBlocks(segment.counts)) return rollups;
  const months = new Map(rollups.months);
  const spans = { minute: rollups.minute, hour: rollups.hour, day: rollups.day };
  // If the month's first block is known from the chain, months are split by height. Split days and hours in the same way, so that
  // a month's days add up to the month.
  for (const part of splitByMonth(segment)) {
    const month = openMonth(months, monthOf(part.toMs));
    const coveredFromMs = Math.max(segment.fromMs, monthStartMs(month));
    const record = months.get(month) ?? { month, ...NO_TALLY, coveredFromMs };
    months.set(month, addTally(record, tallyOf(part.counts, segment)));
    for (const span of segment.spans) spans[span] = addToSpan(spans[span], span, part, segment);
  }
  return { months, ...spans };
}

/**
 * Returns the month in which to count blocks: the given month or, if that month is already finalized because the clock was set
 * back, the first month that is still open.
 */
function openMonth(months: ReadonlyMap<Month, MonthRecord>, month: Month): Month {
  const closed = [...months.values()].filter(({ finalized }) => finalized !== undefined);
  const last = closed.at(-1)?.month;
  return last === undefined || month > last ? month : monthOf(nextMonthMs(monthStartMs(last)));
}

function addToSpan(
  rollups: SpanRollups,
  span: Span,
  part: SegmentPart,
  segment: CountedSegment,
): SpanRollups {
  const spanMs = SPANS[span];
  const oldestMs = part.toMs - RETENTION_MS[span];
  // Limit the number of rollups, not their age, because a clock set far ahead would otherwise drop rollups that are still needed.
  const next = rollups.slice(-Math.floor(RETENTION_MS[span] / spanMs));
  const shares =
    part.toMs - part.fromMs <= SHORT_MS
      ? [{ startMs: startOf(part.toMs, spanMs), counts: part.counts }]
      : distribute(part, spanMs, oldestMs);
  for (const { startMs, counts } of shares) {
    if (isNoBlocks(counts) || startMs < oldestMs) continue;
    const index = firstFrom(next, startMs);
    const before = next[index]?.startMs === startMs ? next[index] : undefined;
    const rollup = addTally(before ?? { startMs, ...NO_TALLY }, tallyOf(counts, segment));
    next.splice(index, before === undefined ? 0 : 1, rollup);
  }
  return next;
}

/** Returns the rollups that start in [fromMs, toMs). */
export function rollupsWithin(rollups: SpanRollups, fromMs: number, toMs: number): SpanRollups {
  return rollups.slice(firstFrom(rollups, fromMs), firstFrom(rollups, toMs));
}

/** Returns the index of the first rollup that starts at `fromMs` or later. */
function firstFrom(rollups: SpanRollups, fromMs: number): number {
  let low = 0;
  let high = rollups.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rollups[middle]?.startMs ?? 0) < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tallyOf(counts: BlockCounts, { isEstimated, isBackfilled = false }: CountedSegment): Tally {
  return {
    counts,
    estimated: isEstimated ? counts : NO_BLOCKS,
    ...(isBackfilled ? { backfilled: counts } : {}),
  };
}

function startOf(atMs: number, spanMs: number): number {
  return Math.floor(atMs / spanMs) * spanMs;
}

/**
 * Spreads a segment part's blocks evenly over its duration and returns each rollup's share. Rollups are `spanMs` long. The shares
 * add up to the part's counts, except for blocks before `oldestMs`.
 */
function distribute(
  { counts, fromMs, toMs }: SegmentPart,
  spanMs: number,
  oldestMs: number,
): readonly { readonly startMs: number; readonly counts: BlockCounts }[] {
  const totalMs = BigInt(Math.round(toMs - fromMs));
  const upTo = (atMs: number): BlockCounts =>
    atMs >= toMs ? counts : partOfCounts(counts, BigInt(Math.max(0, Math.round(atMs - fromMs))), totalMs);
  const shares: { startMs: number; counts: BlockCounts }[] = [];
  const firstMs = startOf(Math.max(fromMs, oldestMs), spanMs);
  let sumBefore = upTo(firstMs);
  for (let startMs = firstMs; startMs <= toMs; startMs += spanMs) {
    // Take differences of running sums, because rounding down each share separately would lose blocks.
    const sum = upTo(startMs + spanMs);
    shares.push({ startMs, counts: subtractCounts(sum, sumBefore) });
    sumBefore = sum;
  }
  return shares;
}

/**
 * Splits a segment by month, so that the parts add up to the input. If the height of the new month's first block is known, the segment is
 * split by blocks, which is exact if all blocks have the same result. If the height is unknown, the segment is split in proportion
 * to time. If the clock was set back, so that `fromMs` is after `toMs`, all blocks belong to the month of `toMs`.
 */
export function splitByMonth(segment: Segment): readonly SegmentPart[] {
  const { counts, fromMs, toMs } = segment;
  const parts: SegmentPart[] = [];
  let remaining = counts;
  for (let startMs = fromMs; monthOf(startMs) < monthOf(toMs); startMs = nextMonthMs(startMs)) {
    const edgeMs = nextMonthMs(startMs);
    const share = shareByHeight(segment, edgeMs) ?? shareByTime(segment, edgeMs - startMs);
    // End the part one millisecond before the new month, so that the part lies within the old month.
    if (!isNoBlocks(share)) parts.push({ counts: share, fromMs: startMs, toMs: edgeMs - 1 });
    remaining = subtractCounts(remaining, share);
  }
  // The other shares are rounded down, so give the last month the remainder.
  const startMs = Math.min(toMs, Math.max(fromMs, monthStartMs(monthOf(toMs))));
  if (!isNoBlocks(remaining)) parts.push({ counts: remaining, fromMs: startMs, toMs });
  return parts;
}

/** Returns the counts of the blocks before the new month's first block; undefined if the segment starts in another month. */
function shareByHeight(
  { counts, fromMs, toMs, heights, edge }: Segment,
  edgeMs: number,
): BlockCounts | undefined {
  if (heights === undefined || edge === undefined) return undefined;
  if (edge.month !== monthOf(toMs) || edge.month !== monthOf(edgeMs)) return undefined;
  if (nextMonthMs(fromMs) !== edgeMs || heights.to <= heights.from) return undefined;
  const blocks = heights.to - heights.from;
  const before = clamp(edge.firstHeight - 1n - heights.from, blocks);
  const share = partOfCounts(counts, before, blocks);
  // Add back the blocks lost by rounding down, as good blocks first because most blocks are good.
  let left = (allBlocks(counts) * before) / blocks - allBlocks(share);
  const rounded = (key: keyof BlockCounts): bigint => {
    const added = clamp(left, counts[key] - share[key]);
    left -= added;
    return share[key] + added;
  };
  return { good: rounded("good"), bad: rounded("bad"), unknown: rounded("unknown") };
}

function shareByTime({ counts, fromMs, toMs }: Segment, partMs: number): BlockCounts {
  return partOfCounts(counts, BigInt(Math.round(partMs)), BigInt(Math.round(toMs - fromMs)));
}

function clamp(value: bigint, most: bigint): bigint {
  if (value < 0n) return 0n;
  return value > most ? most : value;
}

/** Chain and source, which identify a record together with its month. */
interface RecordIdentity {
  readonly chainId: string;
  readonly source: LedgerSource;
}

/**
 * Finalizes the months that `isOver` selects. The records of these months get a hash and never change again. Returns the rollups
 * and the finalized months.
 */
export function finalizeMonths(
  rollups: Rollups,
  isOver: (month: Month) => boolean,
  as: RecordIdentity,
  atMs: number,
) {
  const closed = [...rollups.months.values()].filter(
    (record) => record.finalized === undefined && isOver(record.month),
  );
  if (closed.length === 0) return { rollups, closed };
  const months = new Map(rollups.months);
  for (const record of closed)
    months.set(record.month, { ...record, finalized: { atMs, hash: recordHash(as, record) } });
  return { rollups: { ...rollups, months }, closed };
}

/**
 * Returns the record's SHA-256 hash in hex, computed over the JSON list of chain, source, month, covered time, counts, estimated
 * counts and, if any, backfilled counts.
 */
function recordHash({ chainId, source }: RecordIdentity, record: MonthRecord): string {
  const { month, coveredFromMs, counts, estimated, backfilled } = record;
  const filled = backfilled === undefined ? [] : [texts(backfilled)];
  const tallies = [texts(counts), texts(estimated), ...filled];
  const text = JSON.stringify([chainId, source, month, coveredFromMs, ...tallies]);
  return toHex(sha256(new TextEncoder().encode(text)));
}

function texts({ good, bad, unknown }: BlockCounts): readonly string[] {
  return [good, bad, unknown].map(String);
}
