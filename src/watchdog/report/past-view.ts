import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { addCounts, type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { LedgerView, MonthRecord, Rollup, Tally } from "../ledger/ledger-view.ts";
import { type Month, monthOf, monthStartMs } from "../ledger/month.ts";

const NO_TALLY: Tally = { counts: NO_BLOCKS, estimated: NO_BLOCKS };

/**
 * Returns the view that a ledger had at an earlier time. Minutes are not kept that long: the blocks of an hour count as spread
 * evenly over it. `hours` are all hours of the months that are viewed, and three days more. The ledger is read once.
 */
export function createPastViews(ledger: LedgerView, hours: readonly Rollup[]): (nowMs: number) => LedgerView {
  const records = ledger.months();
  const days = ledger.days(0, (hours.at(-1)?.startMs ?? 0) + HOUR_MS);
  const before = monthSums(hours);
  return (nowMs) => {
    const month = monthOf(nowMs - 1);
    const count = hours.findLastIndex(({ startMs }) => startMs < nowMs) + 1;
    const last = hours[count - 1];
    const current = last === undefined ? [] : [partOf(last, last.startMs, nowMs)];
    const past = [...hours.slice(0, Math.max(0, count - 1)), ...current];
    const within = (fromMs: number, toMs: number): readonly Rollup[] =>
      past.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
    const isOfMonth = last !== undefined && monthOf(last.startMs) === month;
    const sum = isOfMonth ? sumOf([before[count - 1] ?? NO_TALLY, ...current]) : NO_TALLY;
    const months = [
      ...records.filter((record) => record.month < month),
      { month, ...sum, coveredFromMs: coveredFromMs(hours, month) },
    ];
    const todayMs = Math.floor((nowMs - 1) / DAY_MS) * DAY_MS;
    return {
      validator: ledger.validator,
      chainId: ledger.chainId,
      months: (source = "calls") => (source === "calls" ? months : []),
      days: (fromMs, toMs) => [
        ...days.filter(({ startMs }) => startMs >= fromMs && startMs < Math.min(toMs, todayMs)),
        ...(toMs > todayMs ? [{ startMs: todayMs, ...sumOf(within(todayMs, nowMs)) }] : []),
      ],
      hours: within,
      minutes: (fromMs, toMs) =>
        hours
          .filter(({ startMs }) => startMs + HOUR_MS > fromMs && startMs < Math.min(toMs, nowMs))
          .map((hour) => partOf(hour, fromMs, Math.min(toMs, nowMs))),
      events: (fromMs, toMs) => ledger.events(fromMs, Math.min(toMs, nowMs)),
    };
  };
}

/** For each hour, what the hours of its month before it add up to. */
function monthSums(hours: readonly Rollup[]): readonly Tally[] {
  let month: Month | undefined;
  let sum = NO_TALLY;
  return hours.map((hour) => {
    const own = monthOf(hour.startMs);
    if (own !== month) sum = NO_TALLY;
    month = own;
    const before = sum;
    sum = sumOf([before, hour]);
    return before;
  });
}

function coveredFromMs(hours: readonly Rollup[], month: Month): MonthRecord["coveredFromMs"] {
  const fromMs = monthStartMs(month);
  return hours.find(({ startMs }) => startMs >= fromMs)?.startMs ?? fromMs;
}

/** The part of an hour in [fromMs, toMs). */
function partOf(hour: Rollup, fromMs: number, toMs: number): Rollup {
  const { startMs, counts, estimated } = hour;
  if (fromMs <= startMs && startMs + HOUR_MS <= toMs) return hour;
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

function sumOf(tallies: readonly Tally[]): Tally {
  const add = (part: (tally: Tally) => BlockCounts): BlockCounts =>
    tallies.reduce((sum, tally) => addCounts(sum, part(tally)), NO_BLOCKS);
  return { counts: add(({ counts }) => counts), estimated: add(({ estimated }) => estimated) };
}
