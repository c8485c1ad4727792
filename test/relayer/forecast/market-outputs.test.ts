import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { type LogFields, type Logger, silentLogger } from "../../../src/platform/base/logger.ts";
import { registerStatusGauges } from "../../../src/relayer/api/status-gauges.ts";
import { MARKET } from "../../../src/relayer/api/status-json.ts";
import { createMarketLog } from "../../../src/relayer/health/create-health.ts";
import {
  expectedLateBlocks,
  type MarketStatus,
  priceText,
} from "../../../src/relayer/forecast/market-view.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { sampleMarket, sampleMarketWithoutCapacity, sampleStatus } from "../status-samples.ts";

it("a price has four significant digits and no exponent", () => {
  const texts = ["0.0053", "0.00000012345678", "0.27", "967.96", "31540.2"].map((text) =>
    priceText(parseDec18(text)),
  );
  expect(texts).toEqual(["0.0053", "0.0000001235", "0.27", "968", "31540"]);
});

describe("the fee market as JSON", () => {
  it("has heights, gas, amounts and prices as strings, and no remedy while the market bears the demand", () => {
    expect(MARKET.json(sampleMarket())).toEqual({
      denom: "untrn",
      read_at_height: "12",
      seconds_since_read: 1,
      phase: "steady",
      price: "0.002600000000000000",
      minimum: "0.002500000000000000",
      ceiling: "0.005000000000000000",
      cap: "1.000000000000000000",
      target_gas: "15000000",
      others_gas: "3400000",
      budget_gas: "11600000",
      fee_factor: "1.050000000000000000",
      demand_above_market: false,
      sustainable_gas: "11600000",
      demand_gas: "8700000",
      sustainable_results: 400,
      demand_results: 300,
      late_blocks: 0,
      results_per_day: 25_920_000,
      cost_per_day: "1879200000",
      cost_per_result: "72.500000000000000000",
      remedies: [],
    });
  });

  it("names the state, the lateness and the cost of each remedy when the demand is above the market", () => {
    expect(MARKET.json(sampleMarketWithoutCapacity())).toMatchObject({
      demand_above_market: true,
      demand_results: 150,
      sustainable_results: 100,
      late_blocks: 2.5,
      remedies: [
        { kind: "longer-periods", factor: 1.5, cost_per_day: "2505600000" },
        {
          kind: "higher-ceiling",
          ceiling: "0.010000000000000000",
          burst_results: 930,
          cost_per_day: "2505600000",
        },
        { kind: "fewer-callbacks", late_blocks: 0, cost_per_day: "939600000" },
      ],
    });
  });

  it("has no lateness when others leave nothing", () => {
    const { forecast } = sampleMarketWithoutCapacity();
    const without = sampleMarket({ forecast: { ...forecast, lateBlocks: Infinity } });
    expect(MARKET.json(without)).toMatchObject({ late_blocks: null });
  });

  it("has three digits of less than ten results a block, and one decimal of more", () => {
    const { forecast } = sampleMarket();
    const few = { ...forecast, sustainableResults: 0.05678, demandResults: 103.24 };
    expect(MARKET.json(sampleMarket({ forecast: few }))).toMatchObject({
      sustainable_results: 0.0568,
      demand_results: 103.2,
    });
  });

  it("is not above the market when the demand equals what it bears", () => {
    const { forecast } = sampleMarket();
    const equal = sampleMarket({ forecast: { ...forecast, demandGas: forecast.sustainableGas } });
    expect(MARKET.json(equal)).toMatchObject({ demand_above_market: false });
  });
});

it("the lateness that the market explains is rounded up, has a limit, and needs a recent reading of a demand above it", () => {
  const market = sampleMarketWithoutCapacity();
  const late = (lateBlocks: number): bigint =>
    expectedLateBlocks({ ...market, forecast: { ...market.forecast, lateBlocks } });
  expect([late(2.01), late(5_000), late(Infinity)]).toEqual([3n, 1_000n, 1_000n]);
  expect(expectedLateBlocks({ ...market, sinceReadMs: 60_001 })).toBe(0n);
  expect(expectedLateBlocks(sampleMarket())).toBe(0n);
  const none = { ...market.forecast, sustainableGas: 0n, lateBlocks: Infinity };
  expect(MARKET.json({ ...market, forecast: none })).toMatchObject({ late_blocks: null });
});

/** The lines of the fee market's metrics, without those of other gauges. */
async function scrape(registry: Registry): Promise<readonly string[]> {
  // Gauges that are scraped in one turn of the event loop share one status.
  await new Promise(setImmediate);
  const page = await registry.metrics();
  return page
    .split("\n")
    .filter((line) =>
      /^relaywatch_relayer_(gas_price|market_|demand_above|expected_late|forecast_)/.test(line),
    )
    .map((line) => line.replace("relaywatch_relayer_", ""));
}

describe("the gauges of the fee market", () => {
  it("have the prices, the gas of a block, the phase, and the forecast", async () => {
    const registry = new Registry();
    registerStatusGauges(registry, () => sampleStatus({ market: sampleMarketWithoutCapacity() }));
    expect(await scrape(registry)).toEqual([
      'gas_price{kind="price"} 0.0026',
      'gas_price{kind="minimum"} 0.0025',
      'gas_price{kind="ceiling"} 0.005',
      'gas_price{kind="cap"} 1',
      'market_gas{kind="target"} 15000000',
      'market_gas{kind="others"} 3400000',
      'market_gas{kind="own"} 8700000',
      'market_gas{kind="budget"} 11600000',
      'market_gas{kind="sustainable"} 11600000',
      'market_gas{kind="demand"} 17400000',
      'market_results{kind="sustainable"} 100',
      'market_results{kind="demand"} 150',
      'market_phase{phase="steady"} 0',
      'market_phase{phase="burst"} 0',
      'market_phase{phase="recovering"} 1',
      'market_phase{phase="above-ceiling"} 0',
      'market_phase{phase="unpriced"} 0',
      'market_phase{phase="unlimited"} 0',
      "demand_above_market 1",
      "expected_late_blocks 2.46",
      "forecast_daily_fees 2505600000",
    ]);
  });

  it("are absent on a chain without a fee market, before a block, and when the reading is older than a minute", async () => {
    const registry = new Registry();
    let market: MarketStatus | undefined = sampleMarket({ blocks: [] });
    registerStatusGauges(registry, () => sampleStatus({ market }));
    expect((await scrape(registry)).filter((line) => line.includes('"own"'))).toEqual([]);
    market = sampleMarket({ sinceReadMs: 60_000 });
    expect(await scrape(registry)).toHaveLength(21);
    market = sampleMarket({ sinceReadMs: 60_001 });
    expect(await scrape(registry)).toEqual([]);
    market = sampleMarket();
    expect(await scrape(registry)).toHaveLength(21);
    market = undefined;
    expect(await scrape(registry)).toEqual([]);
  });
});

/** The log of a market that a test changes, with its lines. */
function startLog() {
  const clock = createManualClock(0);
  const lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const logger: Logger = { ...silentLogger, info: line("info"), warn: line("warn") };
  const scene: { market: MarketStatus | undefined } = { market: undefined };
  const stop = new AbortController();
  const done = createMarketLog({ market: () => scene.market, clock, logger }).run(stop.signal);
  const pass = async (seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at += 5) await clock.advance(5_000);
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error("stop"));
    await done;
  };
  return { scene, lines, pass, end };
}

describe("the log of the fee market", () => {
  it("has one line when the demand has been above the market for a minute, and one when it has been below as long", async () => {
    const { scene, lines, pass, end } = startLog();
    scene.market = sampleMarketWithoutCapacity();
    await pass(60);
    expect(lines).toEqual([]);
    await pass(600);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "warn",
      message: "demand is above the market",
      fields: {
        demandResults: 150,
        sustainableResults: 100,
        lateBlocks: 2.5,
        price: "0.0026",
        costPerDay: 2_505_600_000n,
        remedies: [
          { kind: "longer-periods", factor: 1.5 },
          { kind: "higher-ceiling" },
          { kind: "fewer-callbacks" },
        ],
      },
    });
    scene.market = sampleMarket();
    await pass(50);
    expect(lines).toHaveLength(1);
    await pass(600);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: "info",
      message: "demand is within the market again",
      fields: { demandResults: 300, sustainableResults: 400, lasted: "11 min" },
    });
    await end();
  });

  it("has no line for a demand that changes sides within a minute", async () => {
    const { scene, lines, pass, end } = startLog();
    for (let at = 0; at < 20; at++) {
      scene.market = at % 2 === 0 ? sampleMarketWithoutCapacity() : sampleMarket();
      await pass(55);
    }
    expect(lines).toEqual([]);
    await end();
  });

  it("does not count the time without a fresh reading", async () => {
    const { scene, lines, pass, end } = startLog();
    for (const gap of [undefined, sampleMarketWithoutCapacity({ sinceReadMs: 70_000 })]) {
      scene.market = sampleMarketWithoutCapacity();
      await pass(55);
      scene.market = gap;
      await pass(300);
    }
    expect(lines).toEqual([]);
    await end();
  });
});
