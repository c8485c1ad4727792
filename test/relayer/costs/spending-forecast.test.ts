import { describe, expect, it } from "vitest";
import { DEC18_ONE } from "../../../src/platform/base/decimal.ts";
import {
  type ForecastFacts,
  type ForecastQuery,
  forecastSpending,
  type Regime,
} from "../../../src/relayer/costs/spending-forecast.ts";
import { sampleSum } from "./cost-samples.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const query = (id: bigint, more: Partial<ForecastQuery> = {}): ForecastQuery => ({
  id,
  owner: "a",
  intervalMs: 60_000,
  ageMs: 100 * DAY,
  gas: 50_000n,
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

const facts = (more: Partial<ForecastFacts> = {}): ForecastFacts => ({
  queries: [query(1n)],
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
    ];
    const young = query(2n, { owner: "a", ageMs: 60_000, intervalMs: 1_800_000 });
    const found = forecastSpending(
      facts({ queries: [query(1n), young], regimes: [regime("hours", 6, { queries })] }),
    );
    // 1,000 gas an hour, and 2 results an hour of 1,000 gas each, as the owner's other query.
    expect(found?.perDay.now.expected).toBe(72_000n);
    expect([found?.newQueries, found?.goneQueries]).toEqual([1, 1]);
    const unknown = forecastSpending(
      facts({
        queries: [query(2n, { owner: "b", ageMs: 60_000, intervalMs: HOUR, gas: 500n })],
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
        queries: [query(2n, { ageMs: 2 * HOUR })],
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
    const nothing = forecastSpending(facts({ queries: [], regimes: [regime("hours", 6)] }));
    expect(nothing?.empty.now).toBeUndefined();
  });

  it("includes light clients without a query", () => {
    const queries = [sampleSum(0n, 0n, { owner: "", gas: 6_000n, results: 0 })];
    const found = forecastSpending(
      facts({ queries: [], regimes: [regime("hours", 6, { queries })], month: [] }),
    );
    expect(found?.owners).toMatchObject([{ owner: "", month: { expected: 48_000n } }]);
  });
});
