import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closeBlock, gasUpToPrice, initialState, type State } from "../../../src/cosmos/fee-market/market.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { localnetRelayerConfig } from "../../../src/relayer/cli/relayer-config-options.ts";
import { minInt } from "../../../src/platform/base/integers.ts";
import { defaultParams } from "../../../src/localnet/chain/modules/feemarket/module.ts";
import { forecast, type ForecastInput } from "../../../src/relayer/forecast/forecast.ts";
import { adviseOnPrices, ceilingOf } from "../../../src/relayer/forecast/loads.ts";
import type { QueryLoad, Remedy } from "../../../src/relayer/forecast/steady-state.ts";

const PARAMS = defaultParams("untrn");
const TARGET = 15_000_000;

/** A load of KV queries. */
type KvLoad = QueryLoad & { readonly updatePeriod: bigint };

const load = (fields: Partial<KvLoad> = {}): KvLoad => {
  const one = { queries: 1_000, updatePeriod: 1n, gas: 28_500n, ...fields };
  return { gasWithoutCallback: one.gas, ...one };
};

const input = (fields: Partial<ForecastInput> = {}): ForecastInput => ({
  loads: [load()],
  params: PARAMS,
  othersGas: 0n,
  ceiling: parseDec18("0.005"),
  blockMs: 1_000,
  feeFactor: parseDec18("1.05"),
  batch: { fixedGas: 195_000n, blockSharePermille: 900n },
  ...fields,
});

function remedy<K extends Remedy["kind"]>(
  of: ForecastInput,
  kind: K,
): Extract<Remedy, { kind: K }> | undefined {
  return forecast(of).remedies.find((one): one is Extract<Remedy, { kind: K }> => one.kind === kind);
}

const loads = fc.array(
  fc.record({
    queries: fc.integer({ min: 1, max: 400 }),
    updatePeriod: fc.bigInt({ min: 1n, max: 60n }),
    gas: fc.bigInt({ min: 20_000n, max: 200_000n }),
    gasWithoutCallback: fc.bigInt({ min: 20_000n, max: 200_000n }),
  }),
  { minLength: 1, maxLength: 4 },
);
const inputs = fc.record({
  loads,
  othersGas: fc.bigInt({ min: 0n, max: 14_000_000n }),
  fixedGas: fc.constantFrom(0n, 195_000n),
});
const toInput = ({ fixedGas, ...rest }: { fixedGas: bigint } & Pick<ForecastInput, "loads" | "othersGas">) =>
  input({ ...rest, batch: { fixedGas, blockSharePermille: 900n } });

/** Gas of a block when each result comes `late` blocks after it is due, and each period is `factor` times as long. */
function gasOf({ loads: all, batch }: ForecastInput, late: number, factor = 1): number {
  const rate = (one: QueryLoad): number => one.queries / (Number(one.updatePeriod) * factor + late);
  const results = all.reduce((sum, one) => sum + rate(one), 0);
  const own = all.reduce((sum, one) => sum + rate(one) * Number(one.gas), 0);
  return own + Number(batch.fixedGas) * Math.min(1, results);
}

describe("a forecast", () => {
  it("of 1,000 queries that are always due: the worked example of the documentation", () => {
    const found = forecast(input());
    expect(found).toMatchObject({
      sustainableGas: 15_000_000n,
      demandGas: 28_695_000n,
      demandResults: 1_000,
    });
    // 28,500,000 / (1 + L) + 195,000 = 15,000,000
    expect(found.lateBlocks).toBeCloseTo(28_500 / 14_805 - 1, 9);
    expect(found.sustainableResults).toBeCloseTo(14_805 / 28.5, 6);
    expect(found.resultsPerDay).toBeCloseTo((14_805 / 28.5) * 86_400, 3);
    // 15,000,000 gas × 86,400 blocks × 0.0025 × 1.05
    expect(found.costPerDay).toBe(3_402_000_000n);
    expect(Number(found.costPerResult) / 1e18).toBeCloseTo((15_000_000 * 0.002625) / (14_805 / 28.5), 6);
  });

  it("of a demand that the market bears costs its gas, and is on time", () => {
    const found = forecast(input({ loads: [load({ queries: 300, updatePeriod: 3n })], blockMs: 2_000 }));
    expect(found).toMatchObject({ demandGas: 3_045_000n, demandResults: 100, lateBlocks: 0, remedies: [] });
    expect(found.costPerDay).toBe((3_045_000n * 43_200n * 2_625n) / 1_000_000n);
    expect(found.resultsPerDay).toBe(4_320_000);
    expect(found.sustainableResults).toBeCloseTo(14_805 / 28.5, 6);
  });

  it("counts the transaction of each result when there are few", () => {
    // One result in ten blocks: it pays for the transaction and the client update alone.
    const found = forecast(input({ loads: [load({ queries: 1, updatePeriod: 10n })] }));
    expect(found.demandGas).toBe(22_350n);
    expect(Number(found.costPerResult) / 1e18).toBeCloseTo((28_500 + 195_000) * 0.002625, 6);
    expect(found.sustainableResults).toBeCloseTo(14_805 / 28.5, 6);
    // With a gas of 20 million, the market bears less than one of them a block.
    const large = forecast(input({ loads: [load({ queries: 1, updatePeriod: 10n, gas: 20_000_000n })] }));
    expect(large.sustainableResults).toBeCloseTo(15_000 / 20_195, 9);
  });

  it("of results that fill a block, one in several blocks", () => {
    const found = forecast(input({ loads: [load({ queries: 1, gas: 20_000_000n })] }));
    expect(found.lateBlocks).toBeCloseTo(20_195 / 15_000 - 1, 9);
    expect(found.sustainableResults).toBeCloseTo(15_000 / 20_195, 9);
  });

  it("leaves out TX queries, whose results come when they come", () =>
    expect(forecast(input({ loads: [load(), { ...load(), updatePeriod: undefined }] }))).toEqual(
      forecast(input()),
    ));

  it("of exactly what the market bears is on time", () => {
    const batch = { fixedGas: 0n, blockSharePermille: 900n };
    const equal = input({ loads: [load({ queries: 500, gas: 30_000n })], batch });
    expect(forecast(equal)).toMatchObject({ demandGas: 15_000_000n, lateBlocks: 0, remedies: [] });
    expect(forecast({ ...equal, othersGas: 1n }).lateBlocks).toBeGreaterThan(0);
  });

  it("is the same for one load and for its queries one by one", () => {
    const single = Array.from({ length: 1_000 }, () => load({ queries: 1 }));
    expect(forecast(input({ loads: single }))).toEqual(forecast(input()));
  });

  it("without queries costs nothing", () =>
    expect(forecast(input({ loads: [] }))).toMatchObject({
      demandGas: 0n,
      sustainableResults: 0,
      lateBlocks: 0,
      costPerDay: 0n,
      costPerResult: 0n,
      remedies: [],
    }));

  it("beside others that use the whole target has no steady state", () => {
    const found = forecast(input({ othersGas: 16_000_000n }));
    expect(found).toMatchObject({
      sustainableGas: 0n,
      lateBlocks: Infinity,
      costPerDay: 0n,
      resultsPerDay: 0,
    });
    expect(found.remedies.map(({ kind }) => kind)).toEqual(["higher-ceiling"]);
  });

  it("is late exactly when the demand exceeds the market, by what makes both equal", () =>
    fc.assert(
      fc.property(inputs, (facts) => {
        const of = toInput(facts);
        const found = forecast(of);
        const sustainable = TARGET - Number(facts.othersGas);
        expect(Number(found.sustainableGas)).toBe(sustainable);
        expect(Math.abs(Number(found.demandGas) - gasOf(of, 0))).toBeLessThan(1.01);
        if (found.demandGas <= found.sustainableGas) {
          expect(found.lateBlocks).toBe(0);
          expect(found.resultsPerDay).toBeCloseTo(found.demandResults * 86_400, 3);
        } else {
          expect(gasOf(of, found.lateBlocks) / sustainable).toBeCloseTo(1, 9);
          expect(found.resultsPerDay).toBeCloseTo(found.sustainableResults * 86_400, 3);
          expect(found.sustainableResults).toBeLessThan(found.demandResults);
        }
        // Gas of a block × price × factor × blocks of a day.
        const used = Math.min(sustainable, gasOf(of, 0));
        const cost = used * 0.002625 * 86_400;
        expect(Math.abs(Number(found.costPerDay) - cost)).toBeLessThan(1 + cost * 1e-9);
      }),
    ));

  it("is no better with more others, more queries, or shorter periods", () =>
    fc.assert(
      fc.property(inputs, (facts) => {
        const of = toInput(facts);
        const { lateBlocks } = forecast(of);
        const worse = [
          { ...of, othersGas: of.othersGas + 100_000n },
          { ...of, loads: [...of.loads, load({ queries: 50, updatePeriod: 7n })] },
          {
            ...of,
            loads: of.loads.map((one) => ({ ...one, updatePeriod: ((one.updatePeriod ?? 1n) + 1n) / 2n })),
          },
        ];
        for (const other of worse)
          expect(forecast(other).lateBlocks).toBeGreaterThanOrEqual(lateBlocks - 1e-6);
      }),
    ));

  it("equals the lateness of queries that are served in order of their lateness, once a block each", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            queries: fc.integer({ min: 20, max: 60 }),
            updatePeriod: fc.bigInt({ min: 1n, max: 12n }),
            gas: fc.constantFrom(28_500n, 93_000n),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        fc.double({ min: 0.2, max: 0.9, noNaN: true }),
        (some, share) => {
          const of = input({ loads: some.map(load), batch: { fixedGas: 0n, blockSharePermille: 900n } });
          const capacity = gasOf(of, 0) * share;
          const others = BigInt(TARGET - Math.floor(capacity));
          const { lateBlocks } = forecast({ ...of, othersGas: others });
          expect(Math.abs(serve(of.loads, Math.floor(capacity)) - lateBlocks)).toBeLessThan(
            0.03 * lateBlocks + 0.6,
          );
        },
      ),
      { numRuns: 40 },
    ));
});

/** Serves queries with `capacity` gas in each block, those due the longest first. Returns the mean lateness of the second half. */
function serve(all: readonly QueryLoad[], capacity: number): number {
  const queries = all.flatMap((one) =>
    Array.from({ length: one.queries }, () => ({
      period: Number(one.updatePeriod),
      gas: Number(one.gas),
      due: 1,
    })),
  );
  const BLOCKS = 1_200;
  let left = 0;
  let [count, late] = [0, 0];
  for (let block = 1; block <= BLOCKS; block++) {
    left += capacity;
    for (const query of queries.filter(({ due }) => due <= block).toSorted((a, b) => a.due - b.due)) {
      if (left <= 0) break;
      left -= query.gas;
      if (block > BLOCKS / 2) {
        count++;
        late += block - query.due;
      }
      query.due = block + query.period;
    }
    left = Math.min(left, 0);
  }
  return late / count;
}

describe("remedies", () => {
  it("longer periods: with the factor, the demand is what the market bears, at the same cost", () =>
    fc.assert(
      fc.property(inputs, (facts) => {
        const of = toInput(facts);
        const found = forecast(of);
        const longer = remedy(of, "longer-periods");
        fc.pre(longer !== undefined);
        expect(longer.factor).toBeGreaterThan(1);
        expect(gasOf(of, 0, longer.factor) / Number(found.sustainableGas)).toBeCloseTo(1, 9);
        expect(longer.costPerDay).toBe(found.costPerDay);
      }),
    ));

  it("longer periods: with the fixed gas of each block, also when it holds hardly more than one result", () => {
    const of = input({ loads: [load({ queries: 100, gas: 8_000_000n })] });
    expect(remedy(of, "longer-periods")?.factor).toBeCloseTo(800 / 14.805, 9);
    const larger = input({ loads: [load({ queries: 100, gas: 20_000_000n })] });
    expect(remedy(larger, "longer-periods")?.factor).toBeCloseTo((100 * 20.195) / 15, 9);
  });

  it("fewer callbacks: the forecast without them, and only when that saves gas", () => {
    const busy = load({ queries: 300, gas: 93_000n, gasWithoutCallback: 28_500n });
    const of = input({ loads: [busy, load({ queries: 50 })] });
    const quiet = forecast(input({ loads: [load({ queries: 350 })] }));
    expect(remedy(of, "fewer-callbacks")).toEqual({
      kind: "fewer-callbacks",
      lateBlocks: quiet.lateBlocks,
      costPerDay: quiet.costPerDay,
    });
    expect(quiet.lateBlocks).toBe(0);
    // An estimate without the callback that is above what the results really use is no increase.
    const estimated = load({ queries: 50, gasWithoutCallback: 400_000n });
    expect(remedy(input({ loads: [busy, estimated] }), "fewer-callbacks")).toEqual(
      remedy(of, "fewer-callbacks"),
    );
    expect(remedy(input(), "fewer-callbacks")).toBeUndefined();
    expect(
      remedy(input({ loads: [load({ gas: 28_500n, gasWithoutCallback: 30_000n })] }), "fewer-callbacks"),
    ).toBeUndefined();
  });

  it("higher ceiling: one burst of full blocks up to twice the ceiling, each at its own price", () => {
    const burst = remedy(input(), "higher-ceiling");
    // 27 million of 30 million gas raise the price by an eighth of 12/15 in each block.
    const blocks = Math.floor(Math.log(4) / Math.log(1.1));
    expect(blocks).toBe(14);
    expect(burst?.ceiling).toBe(parseDec18("0.01"));
    // One more block of less gas ends at the ceiling.
    const last = 15_000_000 * (1 + (4 / 1.1 ** blocks - 1) * 8);
    const results = (blocks * (27_000_000 - 195_000) + last - 195_000) / 28_500;
    expect(Math.abs((burst?.burstResults ?? 0) - results)).toBeLessThan(1);
    const cost = 0.002625 * ((27_000_000 * (1.1 ** blocks - 1)) / 0.1 + last * 1.1 ** blocks);
    expect(Number(burst?.costPerDay)).toBeCloseTo(cost, -1);
  });

  it("a burst sends one result of each query, and then what is due", () => {
    // 27 million of gas send 300 with 90,000: the first block has all of them, the next ones what is due again.
    const of = input({
      loads: [load({ queries: 290, updatePeriod: 4n, gas: 90_000n })],
      othersGas: 12_000_000n,
      batch: { fixedGas: 0n, blockSharePermille: 600n },
    });
    // 18, then 8.1 + 6.525, 6.525 … of which the market bears 3.
    const burst = remedy(of, "higher-ceiling");
    const gas = [18, 8.1 + 6.525, 6.525];
    const prices = [1];
    for (const one of gas) prices.push((prices.at(-1) ?? 0) * (1 + (0.125 * (one - 3)) / 15));
    while ((prices.at(-1) ?? 0) <= 4) {
      gas.push(6.525);
      prices.push((prices.at(-1) ?? 0) * (1 + (0.125 * 3.525) / 15));
    }
    // The last block has less, and ends at the ceiling.
    const sent = [...gas.slice(0, -1), 3 + 120 * (4 / (prices.at(-2) ?? 0) - 1)];
    const results = sent.reduce((sum, one) => sum + one, 0) / 0.09;
    expect(Math.abs((burst?.burstResults ?? 0) - results)).toBeLessThan(1);
    const cost = sent.reduce((sum, one, index) => sum + one * 1e6 * (prices[index] ?? 0) * 0.002625, 0);
    expect(Number(burst?.costPerDay) / cost).toBeCloseTo(1, 4);
  });

  it("a burst begins in the steady state of a market with a longer window", () => {
    const params = {
      ...PARAMS,
      alpha: parseDec18("0.025"),
      beta: parseDec18("0.95"),
      gamma: parseDec18("0.25"),
      window: 8n,
    };
    const start = initialState(params);
    let state: State = { ...start, window: start.window.map(() => 15_000_000n) };
    let [gas, cost, blocks] = [0n, 0n, 0];
    for (;;) {
      const own = minInt(27_000_000n, gasUpToPrice(state, parseDec18("0.01"), params) ?? 0n);
      if (own <= 15_000_000n) break;
      gas += own;
      cost += own * state.baseGasPrice;
      blocks++;
      state = closeBlock({ ...state, window: state.window.with(Number(state.index), own) }, params);
    }
    expect(blocks).toBeGreaterThan(5);
    const burst = remedy(input({ params }), "higher-ceiling");
    expect(burst?.burstResults).toBe(Math.floor((Number(gas) - blocks * 195_000) / 28_500));
    expect((Number(burst?.costPerDay) * 1e18) / (Number(cost) * 1.05)).toBeCloseTo(1, 5);
  });

  it("a higher ceiling is no remedy when the share of a block is below the target", () => {
    const batch = { fixedGas: 195_000n, blockSharePermille: 500n };
    expect(forecast(input({ batch })).remedies.map(({ kind }) => kind)).toEqual(["longer-periods"]);
  });

  it("a burst is bounded when the demand is hardly above the market", () => {
    const of = input({ loads: [load({ queries: 520 })] });
    expect(remedy(of, "higher-ceiling")?.burstResults).toBeLessThanOrEqual(520_000);
  });
});

describe("ceilingOf", () => {
  it("is the configured one, by default twice the minimum", () => {
    const { gas } = localnetRelayerConfig(portsAt(0), undefined).config;
    expect(ceilingOf({ gas }, PARAMS)).toBe(parseDec18("0.005"));
    expect(ceilingOf({ gas: { ...gas, price: { comfortable: 7n } } }, PARAMS)).toBe(7n);
  });
});

describe("adviseOnPrices", () => {
  const at = (ceiling: string, cap: string): string | undefined =>
    adviseOnPrices({ ceiling: parseDec18(ceiling), cap: parseDec18(cap) }, PARAMS)?.[0];

  it("finds a cap and a ceiling below the minimum", () => {
    expect(at("0.005", "0.00249")).toMatch(/^gas\.max_price is 1\.0 × the minimum: nothing is sent/);
    expect(at("0.001", "1")).toMatch(/^gas\.price\.comfortable is 0\.4 × the minimum: only urgent results/);
    expect(at("0.0025", "0.0025")).toBeUndefined();
  });

  it("finds that nothing limits the price, when the cap is high", () => {
    expect(at("1", "1")).toMatch(
      /not below gas\.max_price, which is 400\.0 × the minimum: a backlog fills every block/,
    );
    expect(at("0.25", "0.25")).toBeUndefined();
    expect(at("0.2501", "0.2501")).toMatch(/100\.0 × the minimum/);
    expect(at("0.999", "1")).toBeUndefined();
  });
});
