import { describe, expect, it } from "vitest";
import { joinedView, type LedgerEvent, type LedgerView } from "../../src/watchdog/ledger/ledger-view.ts";
import { ledgerViewOf, monthRecord, rollup } from "../support/watchdog/ledger-view.ts";

const HOUR = 3_600_000;
const gap = (from: number, to: number): LedgerEvent => ({
  kind: "gap",
  fromMs: from * HOUR,
  toMs: to * HOUR,
  text: `${to - from} h`,
});

/** The file was written last in hour 7. Memory has all since hour 6. */
const FILE = ledgerViewOf({
  months: [monthRecord("1970-01", 1n, 0n)],
  hours: [4, 5, 6, 7].map((hour) => rollup(hour * HOUR, { good: 1n })),
  events: [gap(1, 2), gap(6, 7)],
});
const MEMORY = ledgerViewOf({
  months: [monthRecord("1970-01", 9n, 0n)],
  hours: [6, 7, 8].map((hour) => rollup(hour * HOUR, { good: 2n })),
  events: [gap(6, 8), gap(8, 9)],
});
const view = joinedView(MEMORY, FILE);
const hoursOf = (from: number, to: number, of: LedgerView = view) =>
  of.hours(from * HOUR, to * HOUR).map(({ startMs, counts }) => [startMs / HOUR, counts.good]);

describe("a joined view", () => {
  it("has what memory has, and from the file what is older", () => {
    expect(hoursOf(0, 9)).toEqual([
      [4, 1n],
      [5, 1n],
      [6, 2n],
      [7, 2n],
      [8, 2n],
    ]);
    expect(hoursOf(4, 5)).toEqual([[4, 1n]]);
    expect(hoursOf(5, 7)).toEqual([
      [5, 1n],
      [6, 2n],
    ]);
    expect(view.months().map(({ counts }) => counts.good)).toEqual([9n]);
  });

  it("does not read the file for what memory has", () => {
    const unread = (): never => expect.unreachable("the file was read");
    const recent = joinedView(MEMORY, { ...FILE, hours: unread });
    expect(hoursOf(6, 9, recent)).toHaveLength(3);
  });

  it("has the ranges of bad blocks that memory has, and older ones of the file", () => {
    const range = (toMs: number, bad: bigint) => ({ fromMs: toMs - 5, toMs, good: 0n, bad });
    const stored = ledgerViewOf({ misses: [range(10, 1n), range(20, 1n)] });
    const both = joinedView(ledgerViewOf({ misses: [range(20, 2n), range(30, 3n)] }), stored);
    expect(both.misses(0, 40)).toEqual([range(10, 1n), range(20, 2n), range(30, 3n)]);
    expect(both.misses(20, 40)).toEqual([range(20, 2n), range(30, 3n)]);
    expect(joinedView(ledgerViewOf({}), stored).misses(0, 20)).toEqual([range(10, 1n)]);
  });

  it("has all of the file when memory has nothing", () => {
    expect(hoursOf(0, 9, joinedView(ledgerViewOf({}), FILE))).toHaveLength(4);
  });

  it("has each event once, as long as it is now, the oldest first", () => {
    expect(view.events(0, 10 * HOUR)).toEqual([gap(1, 2), gap(6, 8), gap(8, 9)]);
  });
});
