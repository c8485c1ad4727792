import {
  at,
  BY_CONNECTION,
  CONNECTION,
  CONNECTION_SCOPE,
  M,
  NO_STANDBY,
  rises,
  STALE,
  turns,
  type RelayerCondition,
} from "./relayer-condition.ts";

const PRUNED = "relaywatch_relayer_tx_pruned_blocks_total";

/** Alerts about late, failing or lost results, and about the daily fee limit. */
export const RESULT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-queries-overdue",
    severity: "critical",
    title: "Query results are overdue",
    description:
      "{{ $value }} queries are overdue by more than health.overdue_blocks, even though a result could have been delivered.",
    impact: "Contracts use older values than they requested.",
    problems: ["queries-overdue", "queries-failing"],
    expr: () => `max ${BY_CONNECTION} (relaywatch_relayer_overdue_queries) > 0 ${NO_STANDBY}`,
    for: "2m",
    example: turns("overdue_queries", 3, 0, CONNECTION),
  },
  {
    name: "relayer-standing-still",
    severity: "critical",
    title: "A connection has stopped",
    description: "{{ $value }} results are overdue, and no result has been included for ten minutes.",
    impact: `No query on the connection gets a result. ${STALE}`,
    expr: (times) =>
      `sum ${BY_CONNECTION} (relaywatch_relayer_overdue_queries) > 0 ${NO_STANDBY}\nunless sum ${BY_CONNECTION} (increase(relaywatch_relayer_results_total{outcome="included"}[${times("10m")}])) > 0`,
    for: "2m",
    inhibits: ["relayer-queries-overdue"],
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        at("overdue_queries", 3, CONNECTION),
        at("results_total", 70, `${CONNECTION},outcome="included"`),
      ],
      clears: [rises("results_total", 60, `${CONNECTION},outcome="included"`)],
    },
  },
  {
    name: "relayer-cycle-failed",
    severity: "warning",
    title: "A connection's cycles fail",
    description: "A connection error ends the connection's cycles before they produce results.",
    impact: `No query on the connection gets a result. ${STALE}`,
    problems: ["cycle-failed"],
    for: "5m",
  },
  {
    name: "relayer-queries-backing-off",
    severity: "warning",
    title: "Some queries fail and back off",
    description: "{{ $value }} queries fail with {{ $labels.code }} and are backing off.",
    impact: "These queries get no result. Other queries are not affected.",
    expr: () => "max by (job, instance, connection_id, code) (relaywatch_relayer_backing_off_queries) > 0",
    for: "30m",
    scope: CONNECTION_SCOPE,
    example: turns("backing_off_queries", 1, 0, `${CONNECTION},code="rejected"`),
  },
  {
    name: "relayer-dead-letters",
    severity: "warning",
    title: "Remote transactions are dead letters",
    description:
      "{{ $value }} remote transactions were rejected or could not be proven. The relayer automatically resends only the transactions that no endpoint could prove.",
    impact: "Contracts do not receive these transactions. Other results are not delayed.",
    expr: () => "max by (job, instance) (relaywatch_relayer_dead_letters) > 0",
    for: "1m",
    example: turns("dead_letters", 2, 0),
  },
  {
    name: "relayer-pruned-blocks",
    severity: "warning",
    title: "TX queries skip pruned blocks",
    description: "{{ $value | humanize }} remote blocks were skipped: every endpoint has pruned them.",
    impact: "Transactions in these blocks never reach their contracts.",
    // Treat a new counter above zero as an increase, too, because a relayer may skip blocks on startup, before its first scrape.
    expr: (times) =>
      `sum ${BY_CONNECTION} (increase(${PRUNED}[${times("1h")}])) > 0\nor (sum ${BY_CONNECTION} (${PRUNED}) unless sum ${BY_CONNECTION} (${PRUNED} offset ${times("1h")})) > 0`,
    for: "0s",
    scope: CONNECTION_SCOPE,
    example: {
      fires: [rises("tx_pruned_blocks_total", 5, CONNECTION)],
      clears: [rises("tx_pruned_blocks_total", 0, CONNECTION)],
      resolves: "70m",
    },
  },
  {
    name: "relayer-transactions-failing",
    severity: "warning",
    title: "The relayer's transactions fail",
    description:
      "{{ $value | humanizePercentage }} of the transactions in the last 10 minutes failed, were refused or were lost.",
    impact: "Each failed transaction in a block costs its fee and delivers nothing.",
    expr: (times) => {
      const sent = (matcher: string): string =>
        `sum by (job, instance) (increase(relaywatch_relayer_transactions_total${matcher}[${times("10m")}]))`;
      return `${sent('{outcome!="included"}')} / (${sent("")} > 0) > 0.5`;
    },
    for: "5m",
    example: {
      fires: [
        at("transactions_total", 100, 'outcome="included"'),
        rises("transactions_total", 60, 'outcome="failed"'),
      ],
      clears: [
        rises("transactions_total", 600, 'outcome="included"'),
        rises("transactions_total", 0, 'outcome="failed"'),
      ],
    },
  },
  {
    name: "relayer-spending-near-limit",
    severity: "warning",
    title: "The daily fee limit is nearly reached",
    description: "{{ $value | humanizePercentage }} of spending.daily_fee has been spent today.",
    impact: "None yet. At the limit, the relayer sends nothing until 00:00 UTC.",
    expr: () =>
      "max by (job, instance) (relaywatch_relayer_spent_today_fees / relaywatch_relayer_daily_fee_limit) > 0.8",
    for: "5m",
    example: {
      fires: [at("spent_today_fees", 90), at("daily_fee_limit", 100)],
      clears: [at("spent_today_fees", 0)],
    },
  },
];

const BY = "by (job, instance)";

/** Returns an expression for the mean gas per block over `window`, because the gauge covers only a few blocks. */
function meanGas(kind: string, window: string): string {
  return `max ${BY} (avg_over_time(${M}_market_gas{kind="${kind}"}[${window}]))`;
}

/** The configured daily fee limit or, if there is none, a quarter of the balance. */
const DAILY_BUDGET = `(max ${BY} (${M}_daily_fee_limit) or 0.25 * max ${BY} (${M}_account_balance))`;

/**
 * Alerts about the cost of results. All of these alerts are warnings, because blocks still include the results. The settings
 * `gas.max_price`, `spending.daily_fee` and `spending.reserve` limit a day's cost. If a limit stops the relayer, a critical alert
 * fires.
 */
export const COST_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-price-rising",
    severity: "warning",
    title: "The relayer drives up the gas price",
    description:
      "The gas price is {{ $value | humanize }} × its minimum, and the relayer alone uses at least half of the gas target, at which the price stays constant.",
    impact:
      "Every result costs more than necessary, by the factor in the alert. All other senders on the chain pay the higher price too.",
    // The price can stay above its minimum only while blocks use the target gas. After a burst, the price falls while the relayer's
    // and others' mean gas together is below the target. Without the relayer's half of the gas, blocks would also be below the
    // target.
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
        at("gas_price", 0.01, 'kind="price"'),
        at("gas_price", 0.0025, 'kind="minimum"'),
        at("market_gas", 12e6, 'kind="own"'),
        at("market_gas", 3e6, 'kind="others"'),
        at("market_gas", 15e6, 'kind="target"'),
      ],
      // The price is still high but falling, so the alert clears.
      clears: [at("market_gas", 10e6, 'kind="own"')],
    },
  },
  {
    name: "relayer-cost-above-budget",
    severity: "warning",
    title: "A day costs more than its budget",
    description:
      "According to the forecast or at the last hour's rate, a day costs {{ $value | humanize }} units of the fee denom: more than spending.daily_fee or, without one, more than a quarter of the balance.",
    impact:
      "With `spending.daily_fee`, the relayer stops sending before the day is over. Without a daily limit, the account is empty in less than four days.",
    expr: (times) =>
      [
        `max ${BY} (${M}_forecast_daily_fees) > ${DAILY_BUDGET} ${NO_STANDBY}`,
        `24 * sum ${BY} (increase(${M}_fees_total[${times("1h")}])) > ${DAILY_BUDGET}`,
      ].join("\nor "),
    for: "30m",
    example: {
      fires: [
        at("forecast_daily_fees", 2e6),
        at("account_balance", 7e6, 'denom="untrn"'),
        at("daily_fee_limit", 1.9e6),
      ],
      clears: [at("daily_fee_limit", 2.1e6)],
    },
  },
  {
    name: "relayer-spending-over-budget",
    severity: "warning",
    title: "The month costs more than its budget",
    description:
      "The fees for this calendar month, or the forecast for them, are {{ $value | humanize }} units of the fee denom: more than spending.budget.",
    impact:
      "Results are not affected, because the budget does not stop the relayer. Once the account or its fee grant is used up, the relayer submits no results.",
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
        at("month_forecast_fees", 2e9, 'price="now",bound="expected"'),
        at("window_fees", 5e8, 'window="month"'),
        at("month_budget_fees", 1.5e9),
      ],
      clears: [
        at("month_forecast_fees", 1.4e9, 'price="now",bound="expected"'),
        at("window_fees", 5e8, 'window="month"'),
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
      "Contracts read values that are this many blocks older than requested. Nothing is lost, and results cost no more than before.",
    // Demand near the market's limit often crosses this limit, so the condition must hold for most of ten minutes instead of at
    // every scrape.
    expr: (times) =>
      `max ${BY} (${M}_expected_late_blocks)\nand max ${BY} (avg_over_time(${M}_demand_above_market[${times("10m")}])) > 0.5 ${NO_STANDBY}`,
    for: "15m",
    example: {
      fires: [at("demand_above_market", 1), at("expected_late_blocks", 2.5)],
      clears: [at("demand_above_market", 0)],
    },
  },
];
