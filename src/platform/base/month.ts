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
