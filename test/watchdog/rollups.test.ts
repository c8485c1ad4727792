import { describe, expect, it } from "vitest";
import { type BlockCounts, NO_BLOCKS } from "../../src/watchdog/ledger/ledger-view.ts";
import {
  addToRollups,
  correctRollups,
  type Rollups,
  NO_ROLLUPS,
  type CountedSegment,
  RETENTION_MS,
  finalizeMonths,
} from "../../src/watchdog/ledger/rollups.ts";

const NOON = Date.UTC(2026, 9, 12, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SPANS = ["minute", "hour", "day"] as const;

const good = (count: bigint): BlockCounts => ({ ...NO_BLOCKS, good: count });

function book(rollups: Rollups, fromMs: number, toMs: number, entry: Partial<CountedSegment> = {}): Rollups {
  return addToRollups(rollups, {
    counts: good(6n),
    isEstimated: false,
    spans: SPANS,
    fromMs,
    toMs,
    ...entry,
  });
}

/** Starts of the rollups in minutes after noon, and their good blocks. */
function minutesOf({ minute }: Rollups): readonly (readonly [number, bigint])[] {
  return minute.map(({ startMs, counts }) => [(startMs - NOON) / MINUTE, counts.good]);
}

describe("the rollups", () => {
  it("have the blocks of up to a minute at its end, and spread longer stretches over their time", () => {
    expect(minutesOf(book(NO_ROLLUPS, NOON - MINUTE + 1000, NOON + 1000))).toEqual([[0, 6n]]);
    expect(minutesOf(book(NO_ROLLUPS, NOON - 2 * MINUTE, NOON + MINUTE))).toEqual([
      [-2, 2n],
      [-1, 2n],
      [0, 2n],
    ]);
  });

  it("stay sorted, and keep what is later, when the clock was set back", () => {
    const later = book(book(NO_ROLLUPS, NOON - 1000, NOON), NOON + 2 * MINUTE - 1000, NOON + 2 * MINUTE);
    expect(minutesOf(book(later, NOON + MINUTE - 1000, NOON + MINUTE))).toEqual([
      [0, 6n],
      [1, 6n],
      [2, 6n],
    ]);
  });

  it("have no period without a block", () => {
    const rollups = book(NO_ROLLUPS, NOON, NOON + 60 * MINUTE, { counts: good(1n) });
    expect(minutesOf(rollups).map(([, blocks]) => blocks)).toEqual([1n]);
  });

  it.each(SPANS)("keep as many of a %s as a retention has, also after a step of the clock", (span) => {
    const spanMs = { minute: MINUTE, hour: HOUR, day: 24 * HOUR }[span];
    const most = RETENTION_MS[span] / spanMs;
    let rollups = book(NO_ROLLUPS, NOON - 1000, NOON);
    const hasFirst = () => rollups[span].some(({ startMs }) => startMs <= NOON);
    rollups = book(rollups, NOON + 400 * 24 * HOUR - 1000, NOON + 400 * 24 * HOUR);
    expect(hasFirst()).toBe(true);
    for (let count = 0; count < most; count++) {
      const atMs = NOON + 400 * 24 * HOUR + (count + 1) * spanMs;
      rollups = book(rollups, atMs - 1000, atMs);
    }
    expect([hasFirst(), rollups[span].length]).toEqual([false, most + 1]);
  });

  it("add up good, estimated and backfilled blocks, and book only the wanted spans", () => {
    let rollups = book(NO_ROLLUPS, NOON, NOON + 1000, { isEstimated: true });
    rollups = book(rollups, NOON + 1000, NOON + 2000, { isEstimated: true });
    rollups = book(rollups, NOON + 2000, NOON + 3000, { isBackfilled: true });
    rollups = book(rollups, NOON + 3000, NOON + 4000, { isBackfilled: true, spans: ["day"] });
    const tally = { counts: good(24n), estimated: good(12n), backfilled: good(12n) };
    expect([...rollups.months.values()]).toEqual([{ month: "2026-10", coveredFromMs: NOON, ...tally }]);
    expect(rollups.day).toEqual([{ startMs: Date.UTC(2026, 9, 12), ...tally }]);
    expect(rollups.hour).toEqual([
      { startMs: NOON, counts: good(18n), estimated: good(12n), backfilled: good(6n) },
    ]);
  });
});

describe("the months", () => {
  const edge = Date.UTC(2026, 10, 1);

  it("are covered from the first block on, or from their beginning", () => {
    const rollups = book(NO_ROLLUPS, edge - HOUR, edge + HOUR);
    expect(
      [...rollups.months.values()].map(({ month, counts, coveredFromMs }) => [
        month,
        counts.good,
        coveredFromMs,
      ]),
    ).toEqual([
      ["2026-10", 3n, edge - HOUR],
      ["2026-11", 3n, edge],
    ]);
    expect(rollups.day.map(({ startMs, counts }) => [startMs, counts.good])).toEqual([
      [edge - 24 * HOUR, 3n],
      [edge, 3n],
    ]);
  });

  it("get no block when they are sealed: it goes to the month after the last sealed one", () => {
    const both = book(
      book(NO_ROLLUPS, edge - 40 * 24 * HOUR, edge - 40 * 24 * HOUR + 1000),
      NOON,
      NOON + 1000,
    );
    const { rollups, closed } = finalizeMonths(
      both,
      (month) => month < "2026-11",
      { chainId: "c", source: "calls" },
      edge,
    );
    expect(closed.map(({ month }) => month)).toEqual(["2026-09", "2026-10"]);
    for (const atMs of [NOON, Date.UTC(2026, 8, 20)]) {
      const late = book(rollups, atMs, atMs + 1000);
      expect([...late.months].map(([month, { counts }]) => [month, counts.good])).toEqual([
        ["2026-09", 6n],
        ["2026-10", 6n],
        ["2026-11", 6n],
      ]);
      expect(late.months.get("2026-10")).toBe(rollups.months.get("2026-10"));
    }
    expect(book(rollups, edge + HOUR, edge + HOUR + 1000).months.get("2026-11")?.coveredFromMs).toBe(
      edge + HOUR,
    );
  });
});

describe("the correction of what a clock of the future has dated", () => {
  const isOver = (): boolean => true;
  const as = { chainId: "test-1", source: "calls" } as const;
  const DAY = 24 * HOUR;
  const before = book(NO_ROLLUPS, NOON - MINUTE, NOON);
  const future = book(
    book(before, NOON + 40 * DAY - MINUTE, NOON + 40 * DAY),
    NOON + 50 * DAY,
    NOON + 50 * DAY,
  );

  it("moves the blocks to the present, in all spans, and opens the months that are not over", () => {
    const { rollups: closed } = finalizeMonths(future, isOver, as, NOON);
    const { rollups, reopened } = correctRollups(closed, NOON);
    expect(reopened).toEqual(["2026-10", "2026-11", "2026-12"]);
    expect([...rollups.months.values()]).toEqual([
      { month: "2026-10", counts: good(18n), estimated: NO_BLOCKS, coveredFromMs: NOON - MINUTE },
    ]);
    expect(minutesOf(rollups)).toEqual([[0, 18n]]);
    expect(rollups.day.map(({ startMs, counts }) => [startMs, counts.good])).toEqual([
      [NOON - 12 * HOUR, 18n],
    ]);
    // An open month can take blocks again.
    expect([...book(rollups, NOON, NOON + 1000).months.values()].map(({ counts }) => counts.good)).toEqual([
      24n,
    ]);
  });

  it("leaves months alone that are over", () => {
    const { rollups: closed } = finalizeMonths(future, (month) => month === "2026-10", as, NOON);
    const { rollups, reopened } = correctRollups(closed, NOON + 20 * DAY);
    expect(reopened).toEqual([]);
    expect(rollups.months.get("2026-10")).toEqual(closed.months.get("2026-10"));
    expect([...rollups.months].map(([month, { counts }]) => [month, counts.good])).toEqual([
      ["2026-10", 6n],
      ["2026-11", 12n],
    ]);
  });

  it("changes nothing when no block is later", () => {
    expect(correctRollups(before, NOON)).toEqual({ rollups: before, reopened: [] });
    expect(correctRollups(before, NOON).rollups).toBe(before);
  });
});
