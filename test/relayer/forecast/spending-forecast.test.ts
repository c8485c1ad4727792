import { describe, expect, it } from "vitest";
import { DEC18_ONE } from "../../../src/platform/base/decimal.ts";
import {
  forecastSpending,
  type Regime,
  type RegisteredLoad,
  type SpendingInput,
} from "../../../src/relayer/forecast/forecast.ts";
import { sampleSum } from "../costs/cost-samples.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Blocks of one second in a time. */
const blocks = (ms: number): bigint => BigInt(ms / 1_000);
const query = (id: bigint, more: Partial<RegisteredLoad> = {}): RegisteredLoad => ({
  id,
  owner: "a",
  queries: 1,
  updatePeriod: 60n,
  ageBlocks: blocks(100 * DAY),
  gas: 50_000n,
  gasWithoutCallback: 50_000n,
  ...more,
});
const regime = (name: Regime["name"], hours: number, more: Partial<Regime> = {}): Regime => ({
  name,
  runningMs: hours * HOUR,
  lengthMs: hours * HOUR,
  queries: [sampleSum(1n, 0n, { owner: "a", gas: BigInt(hours) * 1_000n, results: hours })],
  ...more,
});
const hours = (...fees: readonly bigint[]) => fees.map((fee, index) => ({ startMs: index, fee, gas: 0n }));

const facts = (more: Partial<SpendingInput> = {}): SpendingInput => ({
  loads: [query(1n)],
  blockMs: 1_000,
  lateBlocks: 0,
  regimes: [regime("hours", 6)],
  hours: hours(100n, 100n, 100n, 100n),
  price: { now: DEC18_ONE, cap: 10n * DEC18_ONE },
  month: [sampleSum(1n, 7_000n, { owner: "a" })],
  monthLeftMs: 2 * DAY,
  available: 240_000n,
  ...more,
});

describe("forecastSpending", () => {
  it("multiplies measured gas with the price now and at the cap, and adds what was spent", () => {
    const found = forecastSpending(facts());
    // 1,000 gas an hour, ± 5 %.
    expect(found).toMatchObject({
      width: 0.05,
      perDay: {
        now: { low: 22_800n, expected: 24_000n, high: 25_200n },
        cap: { low: 228_000n, expected: 240_000n, high: 252_000n },
      },
      month: {
        now: { low: 52_600n, expected: 55_000n, high: 57_400n },
        cap: { expected: 487_000n },
      },
      empty: { now: { expectedMs: 10 * DAY }, cap: { expectedMs: DAY } },
      owners: [{ owner: "a", spent: 7_000n, month: { expected: 55_000n } }],
      newQueries: 0,
      goneQueries: 0,
    });
    expect(found?.empty.now?.soonestMs).toBeLessThan(10 * DAY);
    expect(found?.empty.now?.latestMs).toBeGreaterThan(10 * DAY);
  });

  it("spans its regimes, and is wider when hours differ or are few", () => {
    const busy = regime("hours", 6, {
      queries: [sampleSum(1n, 0n, { owner: "a", gas: 12_000n, results: 1 })],
    });
    const found = forecastSpending(facts({ regimes: [busy, regime("days", 100)] }));
    expect(found?.perDay.now).toEqual({ low: 22_800n, expected: 36_000n, high: 50_400n });
    const uneven = forecastSpending(facts({ hours: hours(0n, 400n, 0n, 400n) }));
    expect(uneven?.width).toBe(1);
    expect(uneven?.perDay.now.low).toBe(0n);
    expect(uneven?.empty.now?.latestMs).toBe(Infinity);
    expect(forecastSpending(facts({ hours: hours(5n, 5n) }))?.width).toBe(0.5);
  });

  it("counts running time only", () => {
    const stopped = regime("hours", 6, { runningMs: 3 * HOUR });
    expect(forecastSpending(facts({ regimes: [stopped] }))?.perDay.now.expected).toBe(48_000n);
    expect(
      forecastSpending(facts({ regimes: [regime("hours", 6, { runningMs: 599_000 })] })),
    ).toBeUndefined();
  });

  it("leaves out a query that is gone, and estimates a new one from its period and the measured gas", () => {
    const queries = [
      sampleSum(1n, 0n, { owner: "a", gas: 6_000n, results: 6 }),
      sampleSum(9n, 0n, { owner: "gone", gas: 600_000n, results: 6 }),
      // Light clients without a query, which are not gone.
      sampleSum(0n, 0n, { owner: "", gas: 0n, results: 0 }),
    ];
    const young = query(2n, { owner: "a", ageBlocks: 60n, updatePeriod: 1_800n });
    const found = forecastSpending(
      facts({ loads: [query(1n), young], regimes: [regime("hours", 6, { queries })] }),
    );
    // 1,000 gas an hour, and 2 results an hour of 1,000 gas each, as the owner's other query.
    expect(found?.perDay.now.expected).toBe(72_000n);
    expect([found?.newQueries, found?.goneQueries]).toEqual([1, 1]);
    const unknown = forecastSpending(
      facts({
        loads: [query(2n, { owner: "b", ageBlocks: 60n, updatePeriod: blocks(HOUR), gas: 500n })],
        regimes: [regime("hours", 6, { queries: [] })],
        month: [],
      }),
    );
    // Nothing was measured: the expected gas.
    expect(unknown?.perDay.now.expected).toBe(12_000n);
  });

  it("takes the rate since its registration of a query that has had results for a while", () => {
    const queries = [sampleSum(2n, 0n, { owner: "a", gas: 4_000n, results: 9 })];
    const found = forecastSpending(
      facts({
        loads: [query(2n, { ageBlocks: blocks(2 * HOUR) })],
        regimes: [regime("hours", 6, { queries })],
      }),
    );
    expect(found?.perDay.now.expected).toBe(48_000n);
  });

  it("knows when nothing is left, and when it does not know", () => {
    expect(forecastSpending(facts({ available: 0n }))?.empty.now).toEqual({
      soonestMs: 0,
      expectedMs: 0,
      latestMs: 0,
    });
    expect(forecastSpending(facts({ available: undefined }))?.empty.now).toBeUndefined();
    const nothing = forecastSpending(facts({ loads: [], regimes: [regime("hours", 6)] }));
    expect(nothing?.empty.now).toBeUndefined();
  });

  it("includes light clients without a query", () => {
    const queries = [sampleSum(0n, 0n, { owner: "", gas: 6_000n, results: 0 })];
    const found = forecastSpending(
      facts({ loads: [], regimes: [regime("hours", 6, { queries })], month: [] }),
    );
    expect(found?.owners).toMatchObject([{ owner: "", month: { expected: 48_000n } }]);
  });

  it("delays the results of a new query as the market delays all results", () => {
    const young = query(2n, { ageBlocks: 60n, updatePeriod: 1_200n });
    const at = (more: Partial<SpendingInput>): bigint | undefined =>
      forecastSpending(facts({ loads: [young], month: [], ...more }))?.perDay.now.expected;
    // Each result of owner a used 1,000 gas: three an hour, and two an hour when each is 600 blocks late.
    expect(at({})).toBe(72_000n);
    expect(at({ lateBlocks: 600 })).toBe(48_000n);
    // Nobody knows when a market without capacity delivers one.
    expect(at({ lateBlocks: Infinity })).toBe(0n);
    // A query that was there all the time has the gas that it used, however late it is.
    expect(at({ loads: [query(1n)], lateBlocks: 600 })).toBe(24_000n);
  });

  it("takes what a new TX query used, and a young query's rate over at least half an hour", () => {
    const queries = [sampleSum(2n, 0n, { owner: "a", gas: 1_000n, results: 1 })];
    const at = (more: Partial<RegisteredLoad>): bigint | undefined =>
      forecastSpending(
        facts({ loads: [query(2n, more)], regimes: [regime("hours", 6, { queries })], month: [] }),
      )?.perDay.now.expected;
    expect(at({ updatePeriod: undefined, ageBlocks: blocks(HOUR) })).toBe(24_000n);
    expect(at({ updatePeriod: undefined, ageBlocks: 60n })).toBe(48_000n);
    // With the measured gas of its own result, at its period.
    expect(at({ updatePeriod: blocks(HOUR / 4), ageBlocks: blocks(HOUR / 4) })).toBe(96_000n);
    // That of the owner's other results is another one, and that of other owners too.
    queries.push(
      sampleSum(3n, 0n, { owner: "a", gas: 5_000n, results: 1 }),
      sampleSum(4n, 0n, { owner: "b", gas: 90_000n, results: 1 }),
    );
    const young = { updatePeriod: blocks(HOUR / 4), ageBlocks: blocks(HOUR / 4) };
    expect(at(young)).toBe(96_000n);
    expect(at({ ...young, id: 5n })).toBe(288_000n);
    expect(at({ ...young, id: 5n, owner: "c" })).toBe(3_072_000n);
  });

  it("knows no period of a new query without a block time, and takes the stretch for one that was measured", () => {
    const queries = [sampleSum(1n, 0n, { owner: "a", gas: 6_000n, results: 6 })];
    const found = forecastSpending(
      facts({
        loads: [query(1n), query(2n, { ageBlocks: 60n })],
        blockMs: undefined,
        regimes: [regime("hours", 6, { queries })],
        month: [],
      }),
    );
    expect(found?.perDay.now.expected).toBe(24_000n);
    expect(found?.newQueries).toBe(0);
  });

  it("rounds fees up", () => {
    const found = forecastSpending(facts({ price: { now: DEC18_ONE / 7n, cap: DEC18_ONE }, month: [] }));
    // 24,000 / 7 = 3,428.57…
    expect(found?.perDay.now.expected).toBe(3_429n);
    expect(found?.regimes).toEqual([{ name: "hours", feePerDay: 3_429n }]);
  });
});
