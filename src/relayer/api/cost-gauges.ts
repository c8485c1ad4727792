import type { Registry } from "prom-client";
import { dec18ToNumber } from "../../platform/base/decimal.ts";
import { byOwner } from "../costs/cost-windows.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { FORECAST_PRICES } from "../forecast/forecast.ts";
import { isDemandAboveMarket, isFresh, type MarketStatus, meanOwnGas } from "../forecast/market-view.ts";
import { MARKET_PHASES } from "../gas-budget/budget.ts";
import type { GateStatus } from "../gate/create-gate.ts";
import { ROLES } from "../gate/leadership.ts";
import { namedOwners, type SpendingLimits } from "../gate/spending.ts";
import {
  oneOf,
  type Reading,
  registerStatusMetrics,
  seconds,
  type StatusMetric,
  type StatusMetrics,
} from "../../platform/process/status-metrics.ts";

/** Number of blocks over which the "own" gauge averages the relayer's gas. Ten blocks take about one scrape interval. */
const OWN_BLOCKS = 10;

const MARKET: StatusMetrics<MarketStatus> = {
  relaywatch_relayer_gas_price: {
    help: "Price per unit of gas in the fee denom, by kind: price (of the next block), minimum (of the chain), ceiling (gas.price.comfortable), or cap (gas.max_price).",
    by: ["kind"],
    read: ({ price, minimum, ceiling, cap }) =>
      Object.entries({ price, minimum, ceiling, cap }).map(([kind, one]) => [kind, dec18ToNumber(one)]),
  },
  relaywatch_relayer_market_gas: {
    help: `Gas per block, by kind: target (keeps the price constant), others (used by other senders, smoothed), own (used by the relayer, mean of the last ${OWN_BLOCKS} blocks), budget (the relayer's limit for the next block), sustainable (target minus others), or demand (needed for every result to be on time).`,
    by: ["kind"],
    read: (market) =>
      Object.entries({
        target: market.targetGas,
        others: market.othersGas,
        own: meanOwnGas(market, OWN_BLOCKS),
        budget: market.budgetGas,
        sustainable: market.forecast.sustainableGas,
        demand: market.forecast.demandGas,
      }),
  },
  relaywatch_relayer_market_results: {
    help: "Results per block, by kind: sustainable (possible at the fee market's current price), or demand (needed for every result to be on time).",
    by: ["kind"],
    read: ({ forecast: { sustainableResults: sustainable, demandResults: demand } }) =>
      Object.entries({ sustainable, demand }),
  },
  relaywatch_relayer_market_phase: {
    help: "1 for the current phase of the relayer's gas budget (steady, burst, recovering, above-ceiling, unpriced or unlimited), 0 for all others.",
    by: ["phase"],
    read: ({ phase }) => oneOf(MARKET_PHASES, phase),
  },
  relaywatch_relayer_demand_above_market: {
    help: "1 while sending every result on time would need more gas than the fee market sustains at its current price, else 0.",
    read: isDemandAboveMarket,
  },
  relaywatch_relayer_expected_late_blocks: {
    help: "Local blocks by which each result will be late in the steady state. 0 if the fee market sustains the demand, infinite if other senders use the entire gas target.",
    read: ({ forecast }) => forecast.lateBlocks,
  },
  relaywatch_relayer_forecast_daily_fees: {
    help: "Forecast of the served queries' fees per day in the current fee market, in units of the fee denom.",
    read: ({ forecast }) => forecast.costPerDay,
  },
};

/** Registers the fee market gauges, which are absent if the chain has no fee market or the newest reading is over a minute old. */
export function registerMarketGauges(registry: Registry, market: () => MarketStatus | undefined): void {
  const fresh = () => {
    const present = market();
    return present !== undefined && isFresh(present) ? present : undefined;
  };
  registerStatusMetrics(registry, MARKET, fresh, "What does it cost?");
}

/** Maximum number of owners with their own series. Owners with lower fees this month share the series "other". */
const MAX_OWNERS = 20;
/** Age above which the costs are out of date, so that their series are absent. */
const FRESH_MS = 300_000;

const COSTS: StatusMetrics<CostsView> = {
  relaywatch_relayer_window_fees: {
    help: "Fees paid in the last hour, 24 hours, 7 days and 30 days, and in this calendar month (UTC), in units of the fee denom.",
    by: ["window"],
    read: ({ windows }) => windows.map(({ name, fee }) => [name, fee]),
  },
  relaywatch_relayer_owner_month_fees: {
    help: `Fees of this calendar month (UTC) by query owner, for the ${MAX_OWNERS} owners with the highest fees. The owner 'other' is the sum of all other owners, and an empty owner is for light clients that no query uses.`,
    by: ["owner"],
    read: ownerFees,
  },
  relaywatch_relayer_month_forecast_fees: {
    help: "Forecast of this calendar month's total fees (UTC), including the fees paid so far. bound is the low, expected or high value; price is the current gas price (now) or gas.max_price (cap). Absent until the process has run for ten minutes.",
    by: ["price", "bound"],
    read: ({ forecast }) =>
      forecast && FORECAST_PRICES.map((price) => [price, Object.entries(forecast.month[price])]),
  },
  relaywatch_relayer_month_budget_fees: {
    help: "Fee budget for a calendar month (spending.budget), in units of the fee denom. Absent without a budget.",
    read: ({ budget }) => budget,
  },
  relaywatch_relayer_empty_seconds: {
    help: "Forecast of the time until the account's balance or its fee grant is used up. bound is the soonest, expected or latest value; price is the current gas price (now) or gas.max_price (cap). Absent if the time is unknown, or if the funds will not be used up.",
    by: ["price", "bound"],
    read: ({ forecast }) =>
      FORECAST_PRICES.map((price) => {
        const { soonestMs, expectedMs, latestMs } = forecast?.empty[price] ?? {};
        const times = Object.entries({ soonest: soonestMs, expected: expectedMs, latest: latestMs });
        return [price, times.map(([bound, ms]) => [bound, ms === Infinity ? undefined : seconds(ms)])];
      }),
  },
  relaywatch_relayer_fee_grant_left: {
    help: "Amount that the fee grant can still pay in total, in units of the fee denom. Absent if there is no grant or the grant has no limit.",
    read: ({ payer }) => payer.grant?.allowance?.left,
  },
  relaywatch_relayer_fee_grant_expiry_timestamp_seconds: {
    help: "Time at which the fee grant expires. Absent if the fee grant never expires.",
    read: ({ payer }) => seconds(payer.grant?.allowance?.expiresAtMs),
  },
  relaywatch_relayer_costs_complete: {
    help: "1 if the recorded costs include every payment since recording began, 0 if payments may be missing or the costs are unreadable.",
    read: ({ incomplete }) => incomplete === undefined,
  },
};

function ownerFees({ windows }: CostsView): Reading {
  const month = windows.find(({ name }) => name === "month");
  if (month === undefined) return undefined;
  const owners = byOwner(month.queries);
  const others = owners.slice(MAX_OWNERS).reduce((sum, { fee }) => sum + fee, 0n);
  return [
    ...owners.slice(0, MAX_OWNERS).map(({ owner, fee }) => [owner, fee] as const),
    ["other", others === 0n ? undefined : others],
  ];
}

/** Registers the cost gauges, which are absent before the first read and if the last read is older than {@link FRESH_MS}. */
export function registerCostGauges(registry: Registry, view: () => CostsView, nowMs: () => number): void {
  const fresh = () => {
    const costs = view();
    return costs.readAtMs === undefined || nowMs() - costs.readAtMs > FRESH_MS ? undefined : costs;
  };
  registerStatusMetrics(registry, COSTS, fresh, "What does it cost?");
}

interface GateMetric extends StatusMetric<GateStatus> {
  /** The metric's section in `docs/metrics.md`; by default, the section "Is it safe?". */
  readonly question?: "What does it cost?";
  /** The spending limit without which the gauge is not registered; undefined if the gauge is always registered. */
  readonly limit?: keyof SpendingLimits;
}

const GATE: Readonly<Record<string, GateMetric>> = {
  relaywatch_relayer_role: {
    help: "1 for this process's role, 0 for all others: leader (submits), starting (will submit soon), standby (another process submits), or unknown (cannot read the lease).",
    by: ["role"],
    read: ({ leadership }) => oneOf(ROLES, leadership.role),
  },
  relaywatch_relayer_store_pending_writes: {
    help: "Number of store writes that are not durable yet.",
    read: ({ store }) => store.pendingWrites,
  },
  relaywatch_relayer_store_dropped_writes: {
    help: "Number of submission attempts that the relayer could not store since the process started.",
    read: ({ store }) => store.droppedWrites,
  },
  relaywatch_relayer_store_writable: {
    help: "1 while the store accepts writes, else 0. The relayer sends nothing while this gauge is 0.",
    read: ({ store }) => store.error === undefined,
  },
  relaywatch_relayer_admitted: {
    help: "1 if the relayer was allowed to send its last transaction, 0 if the lease, the balance reserve or a spending limit prevented the transaction.",
    read: ({ refusal }) => refusal === undefined,
  },
  relaywatch_relayer_spent_today_fees: {
    question: "What does it cost?",
    help: "Fees of the transactions sent on this UTC day, in units of the fee denom.",
    read: ({ spending }) => spending.fee,
  },
  relaywatch_relayer_daily_fee_limit: {
    help: "Maximum fees per UTC day (spending.daily_fee). Absent if no limit is configured.",
    limit: "dailyFee",
    read: ({ spending }) => spending.limits.dailyFee,
  },
  relaywatch_relayer_daily_gas_per_owner_limit: {
    help: "Maximum gas per UTC day for each query owner (spending.daily_gas_per_owner). Absent if no limit is configured.",
    limit: "dailyGasPerOwner",
    read: ({ spending }) => spending.limits.dailyGasPerOwner,
  },
  relaywatch_relayer_balance_reserve: {
    help: "Part of the balance that is never spent (spending.reserve), in units of the fee denom.",
    read: ({ reserve }) => reserve.reserve,
  },
  relaywatch_relayer_spent_today_urgent_fees: {
    question: "What does it cost?",
    help: "Fees paid for urgent results on this UTC day, in units of the fee denom, for each urgency rule that has a daily_fee.",
    by: ["rule"],
    read: ({ spending: { limits, feeByRule } }) =>
      [...(limits.dailyFeeByRule?.keys() ?? [])].map((rule) => [rule, feeByRule.get(rule) ?? 0n]),
  },
  relaywatch_relayer_spent_today_gas: {
    question: "What does it cost?",
    help: "Sum of the gas limits of this UTC day's transactions, by query owner: one series for each of the 100 owners with the most gas, and one series for all other owners.",
    by: ["owner"],
    read: ({ spending }) => namedOwners(spending.gasByOwner),
  },
};

/** Registers the broadcast gate's metrics. Omits the metrics of spending limits that are not configured. */
export function registerGateMetrics(
  registry: Registry,
  status: () => GateStatus,
  limits: SpendingLimits,
): void {
  for (const [name, { limit, question = "Is it safe?", ...row }] of Object.entries(GATE))
    if (limit === undefined || limits[limit] !== undefined)
      registerStatusMetrics(registry, { [name]: row }, status, question);
}
