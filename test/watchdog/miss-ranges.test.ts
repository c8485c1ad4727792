import { describe, expect, it } from "vitest";
import { type MissRange, NO_BLOCKS } from "../../src/watchdog/ledger/ledger-view.ts";
import { countObservation, EMPTY_LEDGER, memoryView } from "../../src/watchdog/ledger/ledger.ts";
import { addMisses, correctMisses, MAX_RECENT_RANGES } from "../../src/watchdog/ledger/miss-ranges.ts";
import { observationOf, up } from "../support/watchdog/observations.ts";

const MINUTE = Date.UTC(2026, 10, 21, 12);
const counts = (good: bigint, bad: bigint) => ({ ...NO_BLOCKS, good, bad });
const at = (second: number, height?: bigint) => ({
  timeMs: MINUTE + second * 1000,
  ...(height === undefined ? {} : { height }),
});

describe("addMisses", () => {
  const first = addMisses([], counts(0n, 5n), at(0, 100n), at(5, 105n));

  it("has the blocks of a reading with bad ones, and none of another", () => {
    expect(first).toEqual([
      { fromMs: MINUTE, toMs: MINUTE + 5000, blocks: { from: 101n, to: 105n }, good: 0n, bad: 5n },
    ]);
    expect(addMisses(first, counts(5n, 0n), at(5, 105n), at(10, 110n))).toBe(first);
    expect(addMisses([], counts(1n, 1n), at(0), at(5))).toEqual([
      { fromMs: MINUTE, toMs: MINUTE + 5000, good: 1n, bad: 1n },
    ]);
  });

  it("joins consecutive ranges of one minute without a good block", () => {
    const joined = addMisses(first, counts(0n, 5n), at(5, 105n), at(10, 110n));
    expect(joined).toEqual([
      { fromMs: MINUTE, toMs: MINUTE + 10_000, blocks: { from: 101n, to: 110n }, good: 0n, bad: 10n },
    ]);
    // A good block, a block between, and another minute begin a range.
    expect(addMisses(joined, counts(1n, 4n), at(10, 110n), at(15, 115n))).toHaveLength(2);
    expect(addMisses(joined, counts(0n, 4n), at(11, 111n), at(15, 115n))).toHaveLength(2);
    expect(addMisses(joined, counts(0n, 55n), at(10, 110n), at(65, 165n))).toHaveLength(2);
  });

  it("has no range of a reading after more than a minute, nor of a first one", () => {
    expect(addMisses([], counts(0n, 61n), at(0, 1n), at(61, 62n))).toEqual([]);
    expect(addMisses([], counts(0n, 1n), undefined, at(1, 1n))).toEqual([]);
    expect(addMisses([], counts(0n, 1n), at(5, 1n), at(1, 2n))).toEqual([]);
  });

  it("keeps the newest ranges in memory", () => {
    let ranges: readonly MissRange[] = [];
    for (let index = 0; index < MAX_RECENT_RANGES + 5; index += 1)
      ranges = addMisses(
        ranges,
        counts(1n, 1n),
        at(index * 10, BigInt(index * 2)),
        at(index * 10 + 2, BigInt(index * 2 + 2)),
      );
    expect([ranges.length, ranges[0]?.blocks?.from]).toEqual([MAX_RECENT_RANGES, 11n]);
  });
});

describe("correctMisses", () => {
  it("moves what a wrong clock dated later to the right time, with distinct and earlier start times", () => {
    const range = (seconds: number): MissRange => ({
      fromMs: at(seconds).timeMs,
      toMs: at(seconds + 5).timeMs,
      good: 1n,
      bad: 1n,
    });
    const earlier = [0, 10, 20, 30].map(range);
    const nowMs = at(40).timeMs;
    expect(correctMisses([...earlier, range(3_600), range(3_610)], nowMs)).toEqual([
      ...earlier,
      { fromMs: nowMs - 2, toMs: nowMs, good: 1n, bad: 1n },
      { fromMs: nowMs - 1, toMs: nowMs, good: 1n, bad: 1n },
    ]);
  });
});

it("the ledger's ranges add up to its hours and minutes", () => {
  let ledger = EMPTY_LEDGER;
  let [success, failure] = [0n, 0n];
  for (let poll = 0; poll < 200; poll += 1) {
    success += poll % 7 === 0 ? 3n : 5n;
    failure += poll % 7 === 0 || (poll > 50 && poll < 90) ? 2n : 0n;
    const page = { chainId: "c-1", success, failure, height: success + failure };
    const observation = observationOf(MINUTE + poll * 31_000, [{ metrics: up(page) }]);
    ledger = countObservation(ledger, observation, { intervalMs: 31_000 }).ledger;
  }
  const view = memoryView("v", ledger);
  const range = [MINUTE, MINUTE + 7_200_000] as const;
  for (const [rollups, spanMs] of [
    [view.hours(...range), 3_600_000],
    [view.minutes(...range), 60_000],
  ] as const)
    for (const {
      startMs,
      counts: { bad },
    } of rollups)
      expect([
        startMs,
        view.misses(startMs, startMs + spanMs).reduce((sum, one) => sum + one.bad, 0n),
      ]).toEqual([startMs, bad]);
  expect(view.hours(...range).reduce((sum, { counts: { bad } }) => sum + bad, 0n)).toBeGreaterThan(50n);
});
