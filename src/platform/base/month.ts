/** A calendar month in UTC, for example "2026-11". */
export type Month = string;

/** Cached last result of `monthOf`, because almost all calls ask for the current month. */
let last = { month: "", fromMs: 0, toMs: 0 };

export function monthOf(atMs: number): Month {
  if (atMs >= last.fromMs && atMs < last.toMs) return last.month;
  const month = new Date(atMs).toISOString().slice(0, 7);
  last = { month, fromMs: monthStartMs(month), toMs: nextMonthMs(atMs) };
  return month;
}

/** Returns the start of the month that follows the month of `atMs`. */
export function nextMonthMs(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

export function monthStartMs(month: Month): number {
  return Date.parse(`${month}-01T00:00:00Z`);
}

/** Returns the `count` months before the given month, most recent first. */
export function monthsBefore(month: Month, count: number): readonly Month[] {
  const months = 12 * Number(month.slice(0, 4)) + Number(month.slice(5)) - 1;
  return Array.from({ length: count }, (_, index) => {
    const before = months - 1 - index;
    return `${Math.floor(before / 12)}-${String((before % 12) + 1).padStart(2, "0")}`;
  });
}
