import { describe, expect, it } from "vitest";
import { countObservation, EMPTY_LEDGER, type Ledger } from "../../../src/watchdog/ledger/ledger.ts";
import {
  fillLedger,
  type StoredReading,
  nextPiece,
  planGap,
  shorterPieceMs,
} from "../../../src/watchdog/prometheus-api/backfill.ts";
import { nodePage, observationOf, up } from "../../support/watchdog/observations.ts";

/** Ten seconds before December. */
const START_MS = Date.UTC(2026, 11, 1) - 10_000;
const COUNTING = { intervalMs: 5000 };
const LIMITS = { afterMs: 60_000, longestMs: 600_000, giveUpMs: 60_000 };

/** A page that was stored: blocks of one second, of which the last ones are bad. */
function stored(second: number, bad: bigint, more: { readonly node?: string } = {}): StoredReading {
  const height = 1000n + BigInt(second);
  const page = nodePage(height - bad, bad, {
    height,
    processStartMs: START_MS - 1_000_000,
    sampledAtMs: START_MS + second * 1000,
  });
  return { node: more.node ?? "node", reading: page };
}

const observe = ({ node, reading: page }: StoredReading, atMs = page.sampledAtMs ?? 0) =>
  observationOf(atMs, [{ name: node, metrics: up(page) }]);
const first = countObservation(EMPTY_LEDGER, observe(stored(0, 0n)), COUNTING).ledger;
const fill = (ledger: Ledger, pages: readonly StoredReading[], more = {}): Ledger =>
  fillLedger(ledger, pages, { ...COUNTING, validator: "default", ...more });
const monthsOf = ({ sources }: Ledger) =>
  [...sources.calls.rollups.months.values()].map(({ month, backfilled, finalized }) => [
    month,
    backfilled,
    finalized?.hash,
  ]);

describe("filling a ledger", () => {
  it("marks the blocks, seals the month that is over, and its hash has the mark", () => {
    const pages = [stored(5, 2n), stored(9, 2n), stored(40, 3n)];
    const filled = fill(first, pages);
    const live = pages.reduce((sum, page) => countObservation(sum, observe(page), COUNTING).ledger, first);
    const [november, december] = monthsOf(filled);
    expect(november).toEqual([
      "2026-11",
      { good: 7n, bad: 2n, unknown: 0n },
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(december).toEqual(["2026-12", { good: 30n, bad: 1n, unknown: 0n }, undefined]);
    expect(monthsOf(live).map(([month, backfilled]) => [month, backfilled])).toEqual([
      ["2026-11", undefined],
      ["2026-12", undefined],
    ]);
    expect(monthsOf(live)[0]?.[2]).not.toBe(november?.[2]);
  });

  it("splits months by the first block of the month when the chain says it", () => {
    const pages = [stored(5, 0n), stored(15, 0n)];
    const edge = { month: "2026-12", firstHeight: 1008n };
    const counts = (ledger: Ledger) => monthsOf(ledger).map(([, backfilled]) => backfilled);
    expect(counts(fill(first, pages, { edge }))).toEqual([
      { good: 7n, bad: 0n, unknown: 0n },
      { good: 8n, bad: 0n, unknown: 0n },
    ]);
    expect(counts(fill(first, pages))).toEqual([
      { good: 10n, bad: 0n, unknown: 0n },
      { good: 5n, bad: 0n, unknown: 0n },
    ]);
  });

  it("never changes a sealed month, also with pages of it", () => {
    const closed = fill(first, [stored(5, 0n), stored(20, 0n)]);
    const again = fill(closed, [stored(3, 3n), stored(5, 0n), stored(8, 5n), stored(20, 0n)]);
    expect(monthsOf(again)).toEqual(monthsOf(closed));
    expect(again.events).toEqual(closed.events);
  });

  it("has one event for a gap that was filled in pieces", () => {
    const filled = fill(fill(first, [stored(5, 0n)]), [stored(20, 0n), stored(50, 0n)]);
    expect(filled.events.recent.filter(({ kind }) => kind === "backfill")).toMatchObject([
      { fromMs: START_MS, toMs: START_MS + 50_000 },
    ]);
  });

  it("counts several nodes by the better one, although their scrapes have other times", () => {
    const second = (at: number, bad: bigint) => stored(at, bad, { node: "second" });
    const rounds = [5, 20, 35, 50];
    const bothWays = [
      rounds.flatMap((at) => [stored(at, 0n), second(at + 7, BigInt(at))]),
      rounds.flatMap((at) => [second(at, BigInt(at)), stored(at + 7, 0n)]),
    ];
    for (const pages of bothWays) {
      const counts = monthsOf(fill(first, pages)).map(([, backfilled]) => backfilled);
      expect(counts).toMatchObject([
        { bad: 0n, unknown: 0n },
        { bad: 0n, unknown: 0n },
      ]);
    }
    // A node that is gone does not delay the other one.
    const alone = fill(first, [second(5, 5n), ...rounds.map((at) => stored(at + 60, 0n))]);
    expect(alone.sources.calls.checkpoint?.height).toBe(1110n);
  });

  it("leaves out a page of the same process with lower counts: another clock stored it", () => {
    const ahead = { ...stored(30, 0n), reading: { ...stored(30, 0n).reading, success: 900n } };
    // Another process would be a conflict of two nodes.
    expect(fill(first, [ahead])).toMatchObject({ sources: first.sources, events: first.events });
  });
});

describe("planning a backfill", () => {
  it("begins where the ledger is, or at the oldest samples that may be read", () => {
    const at = (second: number) => planGap(first, observe(stored(second, 0n)), LIMITS);
    expect([at(60), at(61)]).toEqual([undefined, { fromMs: START_MS, toMs: START_MS + 61_000 }]);
    expect(at(601)).toEqual({ fromMs: START_MS + 1000, toMs: START_MS + 601_000 });
  });

  it("needs a reading, of the ledger and of the poll", () => {
    expect(planGap(undefined, observe(stored(90, 0n)), LIMITS)).toBeUndefined();
    expect(planGap(EMPTY_LEDGER, observe(stored(90, 0n)), LIMITS)).toBeUndefined();
    expect(planGap(first, observationOf(START_MS + 90_000, [{}]), LIMITS)).toBeUndefined();
  });

  it("reads pieces within one month, and shorter ones down to a minute", () => {
    const gap = { fromMs: START_MS, toMs: START_MS + 7_200_000 };
    expect(nextPiece(gap, 3_600_000).toMs).toBe(START_MS + 10_000);
    expect(nextPiece({ ...gap, fromMs: START_MS + 10_000 }, 3_600_000).toMs).toBe(START_MS + 3_610_000);
    expect([shorterPieceMs(3_600_000), shorterPieceMs(100_000), shorterPieceMs(60_000)]).toEqual([
      900_000,
      60_000,
      undefined,
    ]);
  });
});
