import type { Rollups } from "./books.ts";
import type { LedgerView, Rollup } from "./ledger-view.ts";
import type { Ledger } from "./ledger.ts";

/** Creates a view of what is in memory: all months, 62 days of days, 3 days of hours, 12 hours of minutes. */
export function memoryView(validator: string, ledger: Ledger): LedgerView {
  const { sources, events, chainId } = ledger;
  const { minute, hour } = sources.calls.books;
  return {
    validator,
    chainId,
    months: (source = "calls") =>
      [...sources[source].books.months.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1)),
    days: (fromMs, toMs, source = "calls") => within(sources[source].books.day, fromMs, toMs),
    hours: (fromMs, toMs) => within(hour, fromMs, toMs),
    minutes: (fromMs, toMs) => within(minute, fromMs, toMs),
    events: (from, to) => events.recent.filter(({ fromMs, toMs }) => toMs >= from && fromMs < to),
  };
}

function within(rollups: Rollups, fromMs: number, toMs: number): readonly Rollup[] {
  return [...rollups.values()]
    .filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
    .toSorted((a, b) => a.startMs - b.startMs);
}
