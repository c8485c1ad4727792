import { see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { NO_STANDBY, QUERIES, REPORT, type RelayerCondition } from "./relayer-condition.ts";

const M = "relaywatch_relayer";
const BY = "by (job, instance)";

/** Output of a command in runbooks. */
const MARKET = [
  'gas_price{kind="price"} 0.0041',
  'gas_price{kind="minimum"} 0.0025',
  'gas_price{kind="ceiling"} 0.005',
  'market_gas{kind="target"} 15000000',
  'market_gas{kind="others"} 3400000',
  'market_gas{kind="own"} 11600000',
  'market_results{kind="sustainable"} 100',
  'market_results{kind="demand"} 150',
  "expected_late_blocks 2.5",
]
  .map((line) => `${M}_${line}`)
  .join("\n");

/** Output of a command in runbooks. */
const SPENDING = [
  "Relayer's spending by owner, 2026-11-26 05:44 UTC",
  "",
  "In NTRN.",
  "",
  "Owner                     Last hour  24 hours  7 days  30 days  This month  Whole month",
  "------------------------  ---------  --------  ------  -------  ----------  -----------",
  "neutron1… lending-market       0.41      9.87   66.02   240.11      201.45       246.31",
  "neutron1… dex-oracle           0.02      0.51    3.40    12.90       11.02        13.37",
  "",
  "Forecast",
  "",
  "Over budget by forecast: the month will cost more than 200 NTRN (200,000,000 untrn).",
  "",
  "What comes back",
].join("\n");

/** Mean gas of a block by kind: the gauge has that of a few blocks. */
function meanGas(kind: string, window: string): string {
  return `max ${BY} (avg_over_time(${M}_market_gas{kind="${kind}"}[${window}]))`;
}

/** Limit of a day's fees: the configured one, or a quarter of the balance. */
const DAILY_BUDGET = `(max ${BY} (${M}_daily_fee_limit) or 0.25 * max ${BY} (${M}_account_balance))`;

/**
 * Alerts about what results cost. None of them wakes anybody: results are still included, and what a day costs is limited by
 * `gas.max_price`, `spending.daily_fee` and the reserve. When one of those limits stops the relayer, a critical alert fires.
 */
export const COST_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-price-rising",
    severity: "warning",
    title: "The relayer drives up the gas price",
    description:
      "The gas price is {{ $value | humanize }} × its minimum, and the relayer alone uses at least half of the gas at which the price stays.",
    impact:
      "Every result costs more than it has to, by the factor of the alert. Everybody else on the chain pays that price too.",
    // The price can only stay above its minimum while blocks have the target's gas. So this is a price that does not return, which
    // the mean of own and others' gas tells from one that falls after a burst: then blocks are below the target. Without the
    // relayer's half they would be below it too.
    expr: (times) => {
      const [price, minimum] = ["price", "minimum"].map(
        (kind) => `max ${BY} (avg_over_time(${M}_gas_price{kind="${kind}"}[${times("5m")}]))`,
      );
      const [own, others, target] = ["own", "others", "target"].map((kind) => meanGas(kind, times("5m")));
      return `${price} / ${minimum} > 1.5\nand ${own} >= 0.5 * ${target}\nand ${own} + ${others} >= 0.95 * ${target}`;
    },
    for: "5m",
    example: {
      fires: [
        { series: `${M}_gas_price{$,kind="price"}`, from: 0.01 },
        { series: `${M}_gas_price{$,kind="minimum"}`, from: 0.0025 },
        { series: `${M}_market_gas{$,kind="own"}`, from: 12e6 },
        { series: `${M}_market_gas{$,kind="others"}`, from: 3e6 },
        { series: `${M}_market_gas{$,kind="target"}`, from: 15e6 },
      ],
      // The price is still high, but it falls.
      clears: [{ series: `${M}_market_gas{$,kind="own"}`, from: 10e6 }],
    },
    runbook: {
      checks: [
        see("How far is the price above its minimum, and how much gas do others use?", "market", MARKET),
        see("Whose queries use the gas?", "relayerReport", REPORT),
      ],
      fix: [
        'Lower `gas.price.comfortable` to at most twice the minimum and restart the relayer: the price then returns by about 2 % a block. At or above `gas.max_price`, the ceiling limits nothing (phase "unlimited").',
        "If several relayers serve this chain with the same ceiling, lower it in all of them.",
        "If the price is wanted, because results must be on time, set `spending.daily_fee` to what a day may cost, and silence the alert.",
      ],
      after: [
        "Compare what the day cost with the forecast on the page: at a price above the minimum, the same results cost that many times as much.",
        "A higher price does not allow more results in the long run: whatever the price is, it stays only with the target's gas.",
      ],
    },
  },
  {
    name: "relayer-cost-above-budget",
    severity: "warning",
    title: "A day costs more than its budget",
    description:
      "At the forecast or at the rate of the last hour, a day costs {{ $value | humanize }} units of the fee denom: more than spending.daily_fee, or without one more than a quarter of the balance.",
    impact:
      "With `spending.daily_fee`, the relayer stops sending before the day is over. Without it, the account is empty in less than four days.",
    expr: (times) =>
      [
        `max ${BY} (${M}_forecast_daily_fees) > ${DAILY_BUDGET} ${NO_STANDBY}`,
        `24 * sum ${BY} (increase(${M}_fees_total[${times("1h")}])) > ${DAILY_BUDGET}`,
      ].join("\nor "),
    for: "30m",
    example: {
      fires: [
        { series: `${M}_forecast_daily_fees{$}`, from: 2e6 },
        { series: `${M}_account_balance{$,denom="untrn"}`, from: 7e6 },
        { series: `${M}_daily_fee_limit{$}`, from: 1.9e6 },
      ],
      clears: [{ series: `${M}_daily_fee_limit{$}`, from: 2.1e6 }],
    },
    runbook: {
      checks: [
        see("Which owners cost the most, and how much of it are their callbacks?", "relayerReport", REPORT),
        see("Is the price above its minimum?", "market", MARKET),
      ],
      fix: [
        "If the price is the cause, lower `gas.price.comfortable`: results then wait for a lower price.",
        "If one owner is the cause, limit it with `spending.daily_gas_per_owner`, or ask it for longer update periods or a cheaper callback.",
        "If the cost is wanted, raise `spending.daily_fee`, or send coins to the account.",
      ],
      after: [
        "Before more queries are registered, compute their cost at this market from their number, period and gas.",
      ],
    },
  },
  {
    name: "relayer-spending-over-budget",
    severity: "warning",
    title: "The month costs more than its budget",
    description:
      "The fees of this calendar month, or their forecast, are {{ $value | humanize }} units of the fee denom: more than spending.budget.",
    impact:
      "None for results: the budget refuses nothing. When the account or its fee grant is used up, the relayer submits no result.",
    expr: () => {
      const budget = `max ${BY} (${M}_month_budget_fees)`;
      return [
        `max ${BY} (${M}_window_fees{window="month"}) > ${budget} ${NO_STANDBY}`,
        `max ${BY} (${M}_month_forecast_fees{price="now",bound="expected"}) > ${budget} ${NO_STANDBY}`,
      ].join("\nor ");
    },
    for: "30m",
    example: {
      fires: [
        { series: `${M}_month_forecast_fees{$,price="now",bound="expected"}`, from: 2e9 },
        { series: `${M}_window_fees{$,window="month"}`, from: 5e8 },
        { series: `${M}_month_budget_fees{$}`, from: 1.5e9 },
      ],
      clears: [
        { series: `${M}_month_forecast_fees{$,price="now",bound="expected"}`, from: 1.4e9 },
        { series: `${M}_window_fees{$,window="month"}`, from: 5e8 },
      ],
    },
    runbook: {
      checks: [
        see("What did the month cost, for whom, and what will it cost?", "relayerSpending", SPENDING),
        see("Is the price above its minimum?", "market", MARKET),
      ],
      fix: [
        "If one owner is the cause, ask it for longer update periods or a cheaper callback, limit it with `spending.daily_gas_per_owner`, or serve other owners only (`queries.owners`).",
        "If the price is the cause, lower `gas.price.comfortable`: results then wait for a lower price.",
        "If most of the fees are in failed transactions, find their contracts in the report: a contract that fails costs its fee each time.",
        "If the cost is wanted, raise `spending.budget` and reload the configuration.",
      ],
      after: [
        "Set `spending.daily_fee` as well if the month must not cost more: the budget warns, the daily limit refuses.",
      ],
    },
  },
  {
    name: "relayer-demand-above-market",
    severity: "warning",
    title: "The demand is above the fee market",
    description:
      "Results on time need more gas than the fee market bears at its present price. In the steady state each result is {{ $value | humanize }} blocks late.",
    impact:
      "Contracts read values that are older than they requested, by that many blocks. Nothing is lost, and results cost no more than before.",
    // The demand changes sides while it is close to what the market bears: most of ten minutes, and not each scrape.
    expr: (times) =>
      `max ${BY} (${M}_expected_late_blocks)\nand max ${BY} (avg_over_time(${M}_demand_above_market[${times("10m")}])) > 0.5 ${NO_STANDBY}`,
    for: "15m",
    example: {
      fires: [
        { series: `${M}_demand_above_market{$}`, from: 1 },
        { series: `${M}_expected_late_blocks{$}`, from: 2.5 },
      ],
      clears: [{ series: `${M}_demand_above_market{$}`, from: 0 }],
    },
    runbook: {
      fault: "busy-market",
      checks: [
        see("Results of a block on time, and those that the market bears:", "market", MARKET),
        see("Which queries are late, and with which period?", "queries", QUERIES),
      ],
      fix: [
        'Read the remedies with their cost per day on the page, section "Cost", or in `market.remedies` of `/api/status`: longer update periods, a higher ceiling, no callbacks.',
        "Longer periods and cheaper callbacks help in the long run. A higher ceiling makes bursts larger, and nothing else.",
        "If others use the market only for a while, wait: the relayer sends the longest due results first, and catches up when they stop.",
        "If some contracts need their values on time at any price, list them under `urgency`.",
      ],
      after: [
        "If this lateness is acceptable, silence the alert. `/readyz` is not affected up to 1,000 blocks: results are overdue only when they are later than the market explains, or than that.",
      ],
    },
  },
];
