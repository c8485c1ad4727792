import { monthStartMs } from "../../../src/platform/base/month.ts";
import {
  type BlockCounts,
  type LedgerEvent,
  type LedgerView,
  type MissRange,
  type MonthRecord,
  NO_BLOCKS,
  type Rollup,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import { missesWithin } from "../../../src/watchdog/ledger/miss-ranges.ts";

/** Contents of a ledger view. */
export interface LedgerContents {
  readonly months?: readonly MonthRecord[];
  readonly days?: readonly Rollup[];
  readonly hours?: readonly Rollup[];
  readonly minutes?: readonly Rollup[];
  readonly misses?: readonly MissRange[];
  readonly events?: readonly LedgerEvent[];
}

/** Creates a view of lists in memory. It has the source "calls" only. */
export function ledgerViewOf(contents: LedgerContents, validator = "validator"): LedgerView {
  const within =
    (rollups: readonly Rollup[] = []) =>
    (fromMs: number, toMs: number): readonly Rollup[] =>
      rollups.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
  return {
    validator,
    chainId: "test-1",
    months: (source = "calls") => (source === "calls" ? (contents.months ?? []) : []),
    days: (fromMs, toMs, source = "calls") => (source === "calls" ? within(contents.days)(fromMs, toMs) : []),
    hours: within(contents.hours),
    minutes: within(contents.minutes),
    misses: (fromMs, toMs) => missesWithin(contents.misses ?? [], fromMs, toMs),
    events: (from, to) => (contents.events ?? []).filter(({ fromMs, toMs }) => toMs >= from && fromMs < to),
  };
}

/** A month with these counts. */
export function monthRecord(
  month: string,
  good: bigint,
  bad: bigint,
  more: Partial<MonthRecord> = {},
): MonthRecord {
  return {
    month,
    counts: { good, bad, unknown: 0n },
    estimated: NO_BLOCKS,
    coveredFromMs: monthStartMs(month),
    ...more,
  };
}

/** A rollup with these counts. */
export function rollup(startMs: number, counts: Partial<BlockCounts>): Rollup {
  return { startMs, counts: { ...NO_BLOCKS, ...counts }, estimated: NO_BLOCKS };
}
