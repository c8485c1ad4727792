import type { BlockCounts } from "./block-counts.ts";

/** A calendar month in UTC, "2026-11". */
export type Month = string;

/** The month that a time lies in. */
export function monthOf(atMs: number): Month {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** What one month got. */
export interface MonthShare {
  readonly month: Month;
  readonly counts: BlockCounts;
}

/**
 * Shares blocks that passed between two times among the months in between, in proportion to the time in each; the last
 * month gets what rounding leaves. Between two looks of a running watchdog this is exact to one interval; after a gap
 * over the end of a month it is an estimate.
 */
export function shareByMonth(counts: BlockCounts, fromMs: number, toMs: number): readonly MonthShare[] {
  const shares: MonthShare[] = [];
  let rest = counts;
  for (let beginMs = fromMs; monthOf(beginMs) < monthOf(toMs); beginMs = nextMonthMs(beginMs)) {
    const part = partOf(counts, nextMonthMs(beginMs) - beginMs, toMs - fromMs);
    shares.push({ month: monthOf(beginMs), counts: part });
    rest = { good: rest.good - part.good, bad: rest.bad - part.bad, unknown: rest.unknown - part.unknown };
  }
  return [...shares, { month: monthOf(toMs), counts: rest }];
}

function nextMonthMs(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function partOf(counts: BlockCounts, partMs: number, wholeMs: number): BlockCounts {
  const share = (count: bigint): bigint => (count * BigInt(Math.round(partMs))) / BigInt(Math.round(wholeMs));
  return { good: share(counts.good), bad: share(counts.bad), unknown: share(counts.unknown) };
}
