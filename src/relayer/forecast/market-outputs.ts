import type { Registry } from "prom-client";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { dec18ToNumber, formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { formatDuration } from "../../platform/base/text.ts";
import {
  answering,
  knownSeries,
  registerStatusMetrics,
  series,
  seriesBy,
} from "../../platform/process/status-metrics.ts";
import { MARKET_PHASES } from "../gas-budget/budget.ts";
import type { Forecast } from "./forecast.ts";
import { isDemandAboveMarket, isFresh, type MarketStatus, meanOwnGas, priceText } from "./market-view.ts";
import type { Remedy } from "./remedies.ts";

/** Converts the market to `market` in `GET /api/status`. Heights, gas, amounts and prices are strings. */
export function marketJson(market: MarketStatus): JsonObject {
  const { forecast } = market;
  return {
    denom: market.denom,
    read_at_height: `${market.readAtHeight}`,
    seconds_since_read: Math.round(market.sinceReadMs / 100) / 10,
    phase: market.phase,
    price: formatDec18(market.price),
    minimum: formatDec18(market.minimum),
    ceiling: formatDec18(market.ceiling),
    cap: formatDec18(market.cap),
    target_gas: `${market.targetGas}`,
    others_gas: `${market.othersGas}`,
    budget_gas: `${market.budgetGas}`,
    fee_factor: formatDec18(market.feeFactor),
    demand_above_market: isDemandAboveMarket(market),
    ...forecastJson(forecast),
  };
}

/** Converts a forecast to JSON. Gas and amounts are strings. `late_blocks` is null if others' transactions leave no gas. */
export function forecastJson(forecast: Forecast): JsonObject {
  return {
    sustainable_gas: `${forecast.sustainableGas}`,
    demand_gas: `${forecast.demandGas}`,
    sustainable_results: threeDigits(forecast.sustainableResults),
    demand_results: threeDigits(forecast.demandResults),
    late_blocks: lateBlocksJson(forecast.lateBlocks),
    results_per_day: Math.round(forecast.resultsPerDay),
    cost_per_day: `${forecast.costPerDay}`,
    cost_per_result: formatDec18(forecast.costPerResult),
    remedies: forecast.remedies.map(remedyJson),
  };
}

function remedyJson(remedy: Remedy): JsonObject {
  const { kind } = remedy;
  const cost = { cost_per_day: `${remedy.costPerDay}` };
  if (kind === "longer-periods") return { kind, factor: Math.ceil(remedy.factor * 100) / 100, ...cost };
  if (kind === "fewer-callbacks") return { kind, late_blocks: lateBlocksJson(remedy.lateBlocks), ...cost };
  return { kind, ceiling: formatDec18(remedy.ceiling), burst_results: remedy.burstResults, ...cost };
}

function lateBlocksJson(lateBlocks: number): number | null {
  return Number.isFinite(lateBlocks) ? oneDecimal(lateBlocks) : null;
}

/** Keeps one decimal, or three digits below 10. A market may sustain only a tenth of a result per block. */
function threeDigits(value: number): number {
  return value < 10 ? Number(value.toPrecision(3)) : oneDecimal(value);
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Number of blocks over which the gauge averages this relayer's gas: about one scrape interval. */
const OWN_BLOCKS = 10;

const MARKET_GAUGES = answering<MarketStatus>("What does it cost?", [
  {
    name: "relaywatch_relayer_gas_price",
    help: "Price per unit of gas in the fee denom: the price of the next block, the minimum of the chain, the ceiling (gas.price.comfortable), and the cap (gas.max_price).",
    labelNames: ["kind"],
    values: ({ price, minimum, ceiling, cap }) =>
      seriesBy("kind", {
        price: dec18ToNumber(price),
        minimum: dec18ToNumber(minimum),
        ceiling: dec18ToNumber(ceiling),
        cap: dec18ToNumber(cap),
      }),
  },
  {
    name: "relaywatch_relayer_market_gas",
    help: `Gas per block: target at which the price does not change, others (smoothed), own (mean of the last ${OWN_BLOCKS} blocks), the relayer's budget for the next block, sustainable (target less others), and demand (if every result were on time).`,
    labelNames: ["kind"],
    values: (market) =>
      seriesBy("kind", {
        target: market.targetGas,
        others: market.othersGas,
        own: meanOwnGas(market, OWN_BLOCKS),
        budget: market.budgetGas,
        sustainable: market.forecast.sustainableGas,
        demand: market.forecast.demandGas,
      }),
  },
  {
    name: "relaywatch_relayer_market_results",
    help: "Results per block: sustainable (what the fee market bears at its current price), and demand (if every result were on time).",
    labelNames: ["kind"],
    values: ({ forecast }) =>
      seriesBy("kind", { sustainable: forecast.sustainableResults, demand: forecast.demandResults }),
  },
  {
    name: "relaywatch_relayer_market_phase",
    help: "1 for the phase of the budget: steady, burst, recovering, above-ceiling, unpriced or unlimited; 0 for the others.",
    labelNames: ["phase"],
    values: ({ phase }) => MARKET_PHASES.map((known) => series(known === phase ? 1 : 0, { phase: known })),
  },
  {
    name: "relaywatch_relayer_demand_above_market",
    help: "1 while timely results would need more gas than the fee market bears at its current price, else 0.",
    labelNames: [],
    values: (market) => [series(isDemandAboveMarket(market) ? 1 : 0)],
  },
  {
    name: "relaywatch_relayer_expected_late_blocks",
    help: "Local blocks by which each result will be late in the steady state. 0 when the fee market bears the demand, infinite when others use the whole target.",
    labelNames: [],
    values: ({ forecast }) => [series(forecast.lateBlocks)],
  },
  {
    name: "relaywatch_relayer_forecast_daily_fees",
    help: "Fees that the served queries will cost per day in the current fee market, in units of the fee denom.",
    labelNames: [],
    values: ({ forecast }) => knownSeries(forecast.costPerDay),
  },
]);

/** Registers the fee market gauges. The gauges are absent without a fee market, or if the newest reading is over a minute old. */
export function registerMarketGauges(registry: Registry, market: () => MarketStatus | undefined): void {
  registerStatusMetrics(registry, MARKET_GAUGES, () => {
    const present = market();
    return present !== undefined && isFresh(present) ? present : undefined;
  });
}

interface MarketLogDeps {
  /** Undefined without a reading. */
  readonly market: () => MarketStatus | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 5_000;
/** Minimum duration before the state begins or ends. Demand close to the market's limit crosses the limit often. */
const HELD_MS = 60_000;

/**
 * Creates a service that logs a warning when the state "demand-above-market" begins and a line when it ends. Both lines contain the
 * figures. Without a fresh reading, the state does not change. Never fails.
 */
export function createMarketLog({ market, clock, logger }: MarketLogDeps): Service {
  let isLogged = false;
  let loggedMs = 0;
  /** Monotonic time since which the state has differed from the logged one, ms; undefined while they agree. */
  let differsFromMs: number | undefined;
  const record = (present: MarketStatus, nowMs: number): void => {
    if (isDemandAboveMarket(present) === isLogged) {
      differsFromMs = undefined;
      return;
    }
    differsFromMs ??= nowMs;
    if (nowMs - differsFromMs < HELD_MS) return;
    isLogged = !isLogged;
    if (isLogged) logger.warn("demand is above the market", logFields(present));
    else
      logger.info("demand is within the market again", {
        ...logFields(present),
        lasted: formatDuration(differsFromMs - loggedMs),
      });
    if (isLogged) loggedMs = differsFromMs;
    differsFromMs = undefined;
  };
  return {
    name: "market log",
    run: async (signal) => {
      while (!signal.aborted) {
        const present = market();
        if (present === undefined || !isFresh(present)) differsFromMs = undefined;
        else record(present, clock.monotonicMs());
        await pause(INTERVAL_MS, clock, signal);
      }
    },
  };
}

function logFields(market: MarketStatus): Readonly<Record<string, unknown>> {
  const { denom, price, minimum, targetGas, othersGas, forecast } = market;
  return {
    demandResults: threeDigits(forecast.demandResults),
    sustainableResults: threeDigits(forecast.sustainableResults),
    lateBlocks: lateBlocksJson(forecast.lateBlocks),
    demandGas: forecast.demandGas,
    sustainableGas: forecast.sustainableGas,
    targetGas,
    othersGas,
    price: priceText(price),
    minimum: priceText(minimum),
    costPerDay: forecast.costPerDay,
    denom,
    ...(forecast.remedies.length === 0 ? {} : { remedies: forecast.remedies.map(remedyJson) }),
  };
}
