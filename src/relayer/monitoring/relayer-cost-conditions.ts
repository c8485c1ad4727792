import { NO_STANDBY, type RelayerCondition } from "./relayer-condition.ts";

const M = "relaywatch_relayer";
const BY = "by (job, instance)";

/** Mean gas per block, by kind. The gauge covers only a few blocks. */
function meanGas(kind: string, window: string): string {
  return `max ${BY} (avg_over_time(${M}_market_gas{kind="${kind}"}[${window}]))`;
}

/** The configured daily fee limit, or otherwise a quarter of the balance. */
const DAILY_BUDGET = `(max ${BY} (${M}_daily_fee_limit) or 0.25 * max ${BY} (${M}_account_balance))`;

/**
 * Alerts about the cost of results. None of them pages anybody, because blocks still include the results. `gas.max_price`,
 * `spending.daily_fee` and the reserve limit a day's cost. If a limit stops the relayer, a critical alert fires.
 */
export const COST_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-price-rising",
    severity: "warning",
    title: "The relayer drives up the gas price",
    description:
      "The gas price is {{ $value | humanize }} × its minimum, and the relayer alone uses at least half of the gas target, at which the price stays constant.",
    impact:
      "Every result costs more than necessary, by the factor in the alert. Everybody else on the chain pays that price too.",
    // The price can stay above its minimum only while blocks use the target's gas. The mean of own and others' gas distinguishes
    // such a price from a price that falls after a burst: blocks are then below the target. Without the relayer's half, they would
    // be below it too.
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
  },
  {
    name: "relayer-cost-above-budget",
    severity: "warning",
    title: "A day costs more than its budget",
    description:
      "According to the forecast or at the last hour's rate, a day costs {{ $value | humanize }} units of the fee denom: more than spending.daily_fee or, without one, more than a quarter of the balance.",
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
  },
  {
    name: "relayer-spending-over-budget",
    severity: "warning",
    title: "The month costs more than its budget",
    description:
      "The fees for this calendar month, or the forecast for them, are {{ $value | humanize }} units of the fee denom: more than spending.budget.",
    impact:
      "None for results: the budget blocks nothing. Once the account or its fee grant is used up, the relayer submits no results.",
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
  },
  {
    name: "relayer-demand-above-market",
    severity: "warning",
    title: "More results are due than the fee market takes",
    description:
      "Delivering results on time takes more gas than the fee market bears at its current price. In the steady state, each result is {{ $value | humanize }} blocks late.",
    impact:
      "Contracts read values that many blocks older than requested. Nothing is lost, and results cost no more than before.",
    // Demand close to the market's limit crosses the limit often. The condition therefore requires most of ten minutes instead of
    // every scrape.
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
  },
];
