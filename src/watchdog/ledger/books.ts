import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { addCounts, type BlockCounts, isNoBlocks, NO_BLOCKS } from "./block-counts.ts";
import type { MonthRecord, Rollup, Tally } from "./ledger-view.ts";
import { type Month, monthOf, monthStartMs } from "./month.ts";
import { splitByHeight, spread, type Stretch } from "./spread.ts";

/** Spans of rollups, ms. */
export const SPANS = { minute: 60_000, hour: HOUR_MS, day: DAY_MS } as const;

/** One of {@link SPANS}. */
export type Span = keyof typeof SPANS;

/** Rollups of one span by start time, ms. */
export type Rollups = ReadonlyMap<number, Rollup>;

/** Counts of one source by period. Minutes, hours and days are the recent ones; the state file has all. */
export interface Books extends Readonly<Record<Span, Rollups>> {
  readonly months: ReadonlyMap<Month, MonthRecord>;
}

/** Books without a block. */
export const EMPTY_BOOKS: Books = { months: new Map(), minute: new Map(), hour: new Map(), day: new Map() };

/** How long rollups stay in memory. Burn rates need 3 days of hours, forecasts 28 days. */
export const KEPT_MS: Readonly<Record<Span, number>> = {
  minute: 12 * SPANS.hour,
  hour: 3 * SPANS.day + SPANS.hour,
  day: 62 * SPANS.day,
};

/** Blocks to book. */
export interface Entry extends Stretch {
  readonly counts: BlockCounts;
  /** The period is an estimate: only the number of the blocks is known. */
  readonly isEstimated: boolean;
  /** The blocks were read from Prometheus after a gap. */
  readonly isBackfilled?: boolean;
  /** Spans to book in, besides the month. */
  readonly spans: readonly Span[];
}

/** A stretch up to this long is booked at its end. Longer ones are spread over the time. */
const SHORT_MS = 60_000;

/** Books blocks in their month and in rollups. Rollups that are too old stay out of memory. */
export function bookEntry(books: Books, entry: Entry): Books {
  const months = new Map(books.months);
  const rollups = { minute: books.minute, hour: books.hour, day: books.day };
  // Months are split by height where the chain says which block begins the month. Days and hours follow the same split, so
  // that the days of a month add up to it.
  for (const part of splitByHeight(entry)) {
    const month = openMonth(months, monthOf(part.toMs));
    months.set(month, addToMonth(months.get(month), month, part.counts, entry));
    for (const span of entry.spans) rollups[span] = bookSpan(rollups[span], span, part, entry);
  }
  return { months, ...rollups };
}

/** A sealed month cannot change. Blocks of one, which a clock that was set back produces, go to the month after it. */
function openMonth(months: ReadonlyMap<Month, MonthRecord>, month: Month): Month {
  const sealed = [...months.values()].filter(({ seal }) => seal !== undefined);
  const last = sealed.at(-1)?.month;
  return last === undefined || month > last ? month : monthOf(monthStartMs(last) + 32 * SPANS.day);
}

function addToMonth(
  record: MonthRecord | undefined,
  month: Month,
  counts: BlockCounts,
  entry: Entry,
): MonthRecord {
  const before = record ?? { month, ...NO_TALLY, coveredFromMs: Math.max(entry.fromMs, monthStartMs(month)) };
  return { ...before, ...addToTally(before, counts, entry) };
}

interface Part {
  readonly counts: BlockCounts;
  readonly fromMs: number;
  readonly toMs: number;
}

function bookSpan(rollups: Rollups, span: Span, part: Part, entry: Entry): Rollups {
  const next = new Map(rollups);
  const spanMs = SPANS[span];
  const oldestMs = part.toMs - KEPT_MS[span];
  const shares =
    part.toMs - part.fromMs <= SHORT_MS
      ? [{ startMs: startOf(part.toMs, spanMs), counts: part.counts }]
      : spread(part.counts, part.fromMs, part.toMs, spanMs);
  for (const { startMs, counts } of shares) {
    if (isNoBlocks(counts)) continue;
    const before = next.get(startMs) ?? { startMs, ...NO_TALLY };
    next.set(startMs, { startMs, ...addToTally(before, counts, entry) });
  }
  for (const startMs of next.keys()) if (startMs < oldestMs) next.delete(startMs);
  return next;
}

const NO_TALLY: Tally = { counts: NO_BLOCKS, estimated: NO_BLOCKS };

function addToTally(
  { counts: before, estimated, backfilled }: Tally,
  counts: BlockCounts,
  { isEstimated, isBackfilled = false }: Entry,
): Tally {
  const filled = isBackfilled ? addCounts(backfilled ?? NO_BLOCKS, counts) : backfilled;
  return {
    counts: addCounts(before, counts),
    estimated: isEstimated ? addCounts(estimated, counts) : estimated,
    ...(filled === undefined ? {} : { backfilled: filled }),
  };
}

function startOf(atMs: number, spanMs: number): number {
  return Math.floor(atMs / spanMs) * spanMs;
}
