import { addCounts, type BlockCounts, NO_BLOCKS } from "../../watchdog/ledger/block-counts.ts";
import type { LedgerView, MonthRecord, Rollup } from "../../watchdog/ledger/ledger-view.ts";
import { monthOf, monthStartMs } from "../../watchdog/ledger/month.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Creates the view that a ledger had at an earlier time. Minutes are not kept that long: the blocks of an hour count as spread
 * evenly over it. `hours` are all hours of the month before that time, and three days more.
 */
export function pastView(ledger: LedgerView, hours: readonly Rollup[], nowMs: number): LedgerView {
  const month = monthOf(nowMs - 1);
  const past = hours
    .filter(({ startMs }) => startMs < nowMs)
    .map((hour) => partOf(hour, hour.startMs, nowMs));
  const within = (fromMs: number, toMs: number): readonly Rollup[] =>
    past.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
  const months = [
    ...ledger.months().filter((record) => record.month < month),
    monthSoFar(month, within(monthStartMs(month), nowMs)),
  ];
  const todayMs = Math.floor((nowMs - 1) / DAY_MS) * DAY_MS;
  return {
    validator: ledger.validator,
    chainId: ledger.chainId,
    months: (source = "calls") => (source === "calls" ? months : []),
    days: (fromMs, toMs) => [
      ...ledger.days(fromMs, Math.min(toMs, todayMs)),
      ...(toMs > todayMs ? [sumOf(todayMs, within(todayMs, nowMs))] : []),
    ],
    hours: within,
    minutes: (fromMs, toMs) =>
      hours
        .filter(({ startMs }) => startMs + HOUR_MS > fromMs && startMs < Math.min(toMs, nowMs))
        .map((hour) => partOf(hour, fromMs, Math.min(toMs, nowMs))),
    events: (fromMs, toMs) => ledger.events(fromMs, Math.min(toMs, nowMs)),
  };
}

/** The part of an hour in [fromMs, toMs). */
function partOf({ startMs, counts, estimated }: Rollup, fromMs: number, toMs: number): Rollup {
  const beginMs = Math.max(startMs, fromMs);
  const partMs = BigInt(Math.max(0, Math.min(startMs + HOUR_MS, toMs) - beginMs));
  const part = (count: bigint): bigint => (count * partMs) / BigInt(HOUR_MS);
  const cut = ({ good, bad, unknown }: BlockCounts): BlockCounts => ({
    good: part(good),
    bad: part(bad),
    unknown: part(unknown),
  });
  return { startMs, counts: cut(counts), estimated: cut(estimated) };
}

function monthSoFar(month: string, hours: readonly Rollup[]): MonthRecord {
  const startMs = monthStartMs(month);
  const { counts, estimated } = sumOf(startMs, hours);
  return { month, counts, estimated, coveredFromMs: hours[0]?.startMs ?? startMs };
}

function sumOf(startMs: number, rollups: readonly Rollup[]): Rollup {
  const add = (part: (rollup: Rollup) => BlockCounts): BlockCounts =>
    rollups.reduce((sum, rollup) => addCounts(sum, part(rollup)), NO_BLOCKS);
  return { startMs, counts: add(({ counts }) => counts), estimated: add(({ estimated }) => estimated) };
}
