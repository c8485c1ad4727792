import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  type DashboardSpec,
  graph,
  PROCESSES,
  query,
  type StateSpec,
  stat,
  stateCode,
  table,
  timeline,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import {
  ANNOTATIONS,
  BALANCE_LASTS,
  CHAIN,
  CHAINS,
  CONNECTIONS,
  M,
  PLACE,
  RELAYERS,
  YEAR,
} from "./relayer-parts.ts";

const PHASES: readonly StateSpec[] = [
  [1, "steady", "green"],
  [2, "burst", "blue"],
  [3, "recovering", "yellow"],
  [4, "above-ceiling", "orange"],
  [5, "unlimited", "purple"],
  [6, "unpriced", "orange"],
  [7, "the market bears the demand", "green"],
  [8, "more demand than the market bears", "orange"],
  [9, "some payments are missing", "yellow"],
  [10, "costs complete", "green"],
];

const COST_OF_1000 = `1000 * sum(increase(${M}_fees_total{${PROCESSES}}[1h])) / 1e6 / (sum(increase(${M}_results_total{${PROCESSES},outcome="included"}[1h])) > 0)`;

export const COSTS: DashboardSpec = {
  uid: DASHBOARDS.costs,
  pages: ["relayer"],
  file: "icq-costs.json",
  title: "ICQ costs",
  description: "What do results cost, who causes the cost, and how long does the balance last?",
  variables: [...RELAYERS, CONNECTIONS, CHAINS],
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "What does it cost?",
      panels: [
        { ...BALANCE_LASTS, width: 5 },
        stat(
          "Paid",
          ["1h", "24h", "7d", "30d"].map((window) =>
            query(`sum(${M}_window_fees{${PROCESSES},window="${window}"}) / 1e6`, window),
          ),
          {
            description: "Fees over the last hour, day, week and 30 days.",
            unit: "NTRN",
            show: "name and value",
            width: 8,
          },
        ),
        stat(
          "Price against the minimum",
          [
            query(
              `max(${M}_gas_price{${PROCESSES},kind="price"} / ignoring(kind) ${M}_gas_price{${PROCESSES},kind="minimum"})`,
              "times the minimum",
            ),
          ],
          {
            description: "The gas price, as a multiple of the fee market's minimum.",
            unit: "none",
            decimals: 2,
            width: 5,
          },
        ),
        stat("Cost per thousand results", [query(COST_OF_1000, "of the last hour")], {
          description: "Fees in the last hour per thousand results.",
          unit: "NTRN",
          emptyText: "No result in the last hour",
          width: 6,
        }),
        graph(
          "Spent today",
          [
            query(`max by (instance) (${M}_spent_today_fees{${PROCESSES}}) / 1e6`, "{{instance}}"),
            query(
              `max by (instance) (${M}_forecast_daily_fees{${PROCESSES}}) / 1e6`,
              "day's forecast {{instance}}",
            ),
            query(`max by (rule) (${M}_spent_today_urgent_fees{${PROCESSES}}) / 1e6`, "urgent: {{rule}}"),
            query(`max(${M}_daily_fee_limit{${PROCESSES}}) / 1e6`, "limit"),
          ],
          {
            description:
              "Fees for this UTC day, fees for urgent results with their own budget, the forecast for a day in the current fee market, and the limit, if any.",
            unit: "NTRN",
            limits: /^limit/,
          },
        ),
        graph(
          "This month and its budget",
          [
            query(
              `max by (instance) (${M}_window_fees{${PROCESSES},window="month"}) / 1e6`,
              "paid {{instance}}",
            ),
            query(
              `max by (bound) (${M}_month_forecast_fees{${PROCESSES},price="now"}) / 1e6`,
              "forecast: {{bound}}",
            ),
            query(`max(${M}_month_budget_fees{${PROCESSES}}) / 1e6`, "limit: budget"),
          ],
          {
            description:
              "Fees for this calendar month (UTC), the forecast for the whole month at the current gas price, and spending.budget, if set.",
            unit: "NTRN",
            limits: /^limit/,
          },
        ),
      ],
    },
    {
      title: "Who causes it, and how long does the balance last?",
      panels: [
        graph(
          "Fees",
          [
            query(
              `sum by (instance, connection_id) (rate(${M}_fees_total{${PLACE}}[$__rate_interval])) * 3600 / 1e6`,
              "{{connection_id}} {{instance}}",
            ),
          ],
          {
            description: "Fees per hour for transactions included in blocks.",
            unit: "NTRN",
          },
        ),
        graph(
          "Balance",
          [
            query(`${M}_account_balance{${PROCESSES}} / 1e6`, "million {{denom}} {{instance}}"),
            query(`min(${M}_fee_grant_left{${PROCESSES}}) / 1e6`, "left of the fee grant"),
            query(`max(${M}_balance_reserve{${PROCESSES}}) / 1e6`, "limit: reserve"),
          ],
          {
            description:
              "The account's coins in millions of the base unit (NTRN for untrn), what is left of the fee grant, and the reserve that is never spent.",
            unit: "short",
            limits: /^limit/,
          },
        ),
        graph(
          "Account or fee grant empty in",
          [
            query(
              `min by (instance) (${M}_account_left_seconds{${PROCESSES}}) / 86400`,
              "as in the last day {{instance}}",
            ),
            query(`min by (bound) (${M}_empty_seconds{${PROCESSES},price="now"}) / 86400`, "now: {{bound}}"),
            query(
              `min by (bound) (${M}_empty_seconds{${PROCESSES},price="cap"}) / 86400`,
              "at gas.max_price: {{bound}}",
            ),
            query(
              `(min(${M}_fee_grant_expiry_timestamp_seconds{${PROCESSES}}) - time()) / 86400`,
              "the fee grant ends",
            ),
          ],
          {
            description:
              "Forecast at the current gas price and at gas.max_price, from the last few hours, the last few days and the month.",
            width: 24,
            unit: "days",
            enough: YEAR,
            logAxis: true,
          },
        ),
        table(
          "Owners",
          [
            `topk(20, max by (owner) (${M}_owner_month_fees{${PROCESSES}})) / 1e6`,
            `max by (owner) (${M}_spent_today_gas{${PROCESSES}})`,
            `max by (owner) (${M}_spent_today_gas{${PROCESSES}} / on (job, instance) group_left() ${M}_daily_gas_per_owner_limit{${PROCESSES}})`,
          ],
          {
            description:
              "Query owners: fees for this calendar month (UTC), including failed transactions and light clients, gas limits for this UTC day, and their share of the limit, if any.",
            unit: "none",
            height: 6,
            emptyText: "Nothing was paid this month",
            columns: [
              { label: "owner", title: "Owner", width: 560 },
              { label: "Value #A", title: "Fees this month", unit: "NTRN" },
              { label: "Value #B", title: "Gas today", unit: "gas" },
              { label: "Value #C", title: "Of the limit", unit: "percentunit" },
            ],
          },
        ),
      ],
    },
    {
      title: "Why does it cost this?",
      panels: [
        graph(
          "Gas price",
          [
            query(`max by (instance) (${M}_gas_price{${PROCESSES},kind="price"})`, "{{instance}}"),
            query(
              `max by (kind) (${M}_gas_price{${PROCESSES},kind=~"minimum|ceiling|cap"})`,
              "limit: {{kind}}",
            ),
          ],
          {
            description:
              "Fee coins for one unit of gas, on a logarithmic axis. The ceiling is gas.price.comfortable: above it, only urgent results are sent. The cap is gas.max_price: above it, nothing is sent.",
            unit: "short",
            decimals: 4,
            limits: /^limit/,
            logAxis: true,
          },
        ),
        graph(
          "Gas per block",
          [
            query(`sum(${M}_market_gas{${PROCESSES},kind="own"})`, "own"),
            query(`max(${M}_market_gas{${PROCESSES},kind="others"})`, "others"),
            query(`sum(${M}_market_gas{${PROCESSES},kind="demand"})`, "demand"),
            query(`sum(${M}_market_gas{${PROCESSES},kind="budget"})`, "budget"),
            query(`max(${M}_market_gas{${PROCESSES},kind="target"})`, "limit: target"),
          ],
          {
            description:
              "The price rises while the relayer's gas and others' gas together exceed the target. Demand is the relayer's gas if every result were on time.",
            unit: "gas",
            limits: /^limit/,
          },
        ),
        graph(
          "Demand and market",
          [
            query(`sum(${M}_market_results{${PROCESSES},kind="demand"})`, "results per block on time"),
            query(
              `sum(${M}_market_results{${PROCESSES},kind="sustainable"})`,
              "results per block at this price",
            ),
            query(`max(${M}_expected_late_blocks{${PROCESSES}})`, "blocks late in the steady state"),
          ],
          {
            description:
              "Results per block: how many the demand needs, and how many the fee market bears at its current price. The lateness is 0 while the market bears the demand.",
            unit: "none",
          },
        ),
        timeline(
          "Budget phase",
          [
            query(
              stateCode({
                metric: `${M}_market_phase`,
                selector: PROCESSES,
                by: "instance",
                states: PHASES.slice(0, 6),
                label: "phase",
              }),
              "{{instance}}",
            ),
            query(`max by (instance) (7 + ${M}_demand_above_market{${PROCESSES}})`, "demand {{instance}}"),
            query(`9 + min by (instance) (${M}_costs_complete{${PROCESSES}})`, "costs by owner {{instance}}"),
          ],
          {
            description:
              "Steady: the price is stable. Burst: a backlog is sent. Recovering: the price returns. Above-ceiling: only urgent results are sent. Unlimited: only batch.block_share limits a block. Unpriced: the price in the fee denom is not known. Also shows whether every payment is in the costs by owner.",
            states: PHASES,
          },
        ),
        graph(
          "Gas per result",
          [
            query(
              `sum by (connection_id) (rate(${M}_gas_used_total{${PLACE}}[$__rate_interval])) / sum by (connection_id) (rate(${M}_results_total{${PLACE},outcome="included"}[$__rate_interval]))`,
              "{{connection_id}}",
            ),
          ],
          { description: "Falls when more results share one client update.", unit: "gas" },
        ),
      ],
    },
    {
      title: "How is it sent?",
      panels: [
        graph(
          "Results per transaction",
          [
            query(
              `histogram_quantile(0.5, sum by (connection_id, le) (rate(${M}_batch_results_bucket{${PLACE}}[$__rate_interval]))) >= 0`,
              "median {{connection_id}}",
            ),
          ],
          { description: "A connection's results in one included transaction.", unit: "none" },
        ),
        graph(
          "Client updates and simulations",
          [
            query(
              `sum by (connection_id) (rate(${M}_client_updates_total{${PLACE}}[$__rate_interval]))`,
              "updates {{connection_id}}",
            ),
            query(`sum(rate(${M}_simulations_total{${PROCESSES}}[$__rate_interval]))`, "simulations"),
          ],
          { description: "Per second.", unit: "ops" },
        ),
        graph(
          "Traffic",
          [
            query(
              `sum by (instance, connection_id) (rate(${M}_tx_bytes_total{${PLACE}}[$__rate_interval]))`,
              "txs {{connection_id}} {{instance}}",
            ),
            query(
              `sum by (instance, chain_id, direction) (rate(${M}_rpc_bytes_total{${CHAIN}}[$__rate_interval]))`,
              "{{direction}} {{chain_id}} {{instance}}",
            ),
          ],
          {
            description: "Encoded bytes of included transactions, and bytes of RPC bodies, per second.",
            unit: "Bps",
          },
        ),
      ],
    },
  ],
};
