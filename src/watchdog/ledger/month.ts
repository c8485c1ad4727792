import type { BlockCounts } from "./block-counts.ts";

/** A calendar month in UTC, "2026-11". */
export type Month = string;

/** Returns the month of a time. */
export function monthOf(atMs: number): Month {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Returns the start of the month after the month of a time. */
export function nextMonthMs(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Returns the start of a month. */
export function monthStartMs(month: Month): number {
  return Date.parse(`${month}-01T00:00:00Z`);
}

/** Returns the months before a month, the latest first. */
export function monthsBefore(month: Month, count: number): readonly Month[] {
  const start = new Date(monthStartMs(month));
  return Array.from({ length: count }, (_, index) =>
    monthOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() - 1 - index, 1)),
  );
}

/** One month's part of a count. */
export interface MonthShare {
  readonly month: Month;
  readonly counts: BlockCounts;
}

/**
 * Splits blocks that were made between two times by month, in proportion to the time in each month. The sum of the shares
 * is the input. When `fromMs` is after `toMs` (the clock was set back), all blocks belong to the month of `toMs`.
 */
export function splitByMonth(counts: BlockCounts, fromMs: number, toMs: number): readonly MonthShare[] {
  // The counters do not say when a block was made, only between which two readings. While the watchdog runs, the error at
  // the end of a month is at most the blocks of one poll interval. After a gap in polling the shares are an estimate.
  const shares: MonthShare[] = [];
  let remaining = counts;
  for (let startMs = fromMs; monthOf(startMs) < monthOf(toMs); startMs = nextMonthMs(startMs)) {
    const share = shareOf(counts, nextMonthMs(startMs) - startMs, toMs - fromMs);
    shares.push({ month: monthOf(startMs), counts: share });
    remaining = {
      good: remaining.good - share.good,
      bad: remaining.bad - share.bad,
      unknown: remaining.unknown - share.unknown,
    };
  }
  // Shares are rounded down. The last month gets the remainder, so that no block is lost.
  return [...shares, { month: monthOf(toMs), counts: remaining }];
}

function shareOf(counts: BlockCounts, partMs: number, totalMs: number): BlockCounts {
  const share = (count: bigint): bigint => (count * BigInt(Math.round(partMs))) / BigInt(Math.round(totalMs));
  return { good: share(counts.good), bad: share(counts.bad), unknown: share(counts.unknown) };
}
