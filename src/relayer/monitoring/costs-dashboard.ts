import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  type DashboardSpec,
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
  own,
  PLACE,
  plot,
  rate,
  RELAYERS,
  YEAR,
} from "./relayer-parts.ts";
import { M } from "./relayer-condition.ts";

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

const COST_OF_1000 = `1000 * sum(increase(${own("fees_total")}[1h])) / 1e6 / (sum(increase(${own("results_total", 'outcome="included"')}[1h])) > 0)`;

export const COSTS: DashboardSpec = {
  uid: DASHBOARDS.costs,
  pages: ["relayer"],
  file: "icq-costs.json",
  title: "ICQ costs",
  description:
    "Shows the cost of results, the query owners who cause the cost, and how long the balance will last.",
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
            query(`sum(${own("window_fees", `window="${window}"`)}) / 1e6`, window),
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
              `max(${own("gas_price", 'kind="price"')} / ignoring(kind) ${own("gas_price", 'kind="minimum"')})`,
              "times the minimum",
            ),
          ],
          {
            description: "Current gas price as a multiple of the fee market's minimum price.",
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
        plot(
          "Spent today",
          "NTRN",
          "Fees for this UTC day, fees for urgent results with their own budget, the forecast for a day in the current fee market, and the limit, if any.",
          {
            "{{instance}}": `max by (instance) (${own("spent_today_fees")}) / 1e6`,
            "day's forecast {{instance}}": `max by (instance) (${own("forecast_daily_fees")}) / 1e6`,
            "urgent: {{rule}}": `max by (rule) (${own("spent_today_urgent_fees")}) / 1e6`,
            limit: `max(${own("daily_fee_limit")}) / 1e6`,
          },
        ),
        plot(
          "This month and its budget",
          "NTRN",
          "Fees for this calendar month (UTC), the forecast for the whole month at the current gas price, and spending.budget, if set.",
          {
            "paid {{instance}}": `max by (instance) (${own("window_fees", 'window="month"')}) / 1e6`,
            "forecast: {{bound}}": `max by (bound) (${own("month_forecast_fees", 'price="now"')}) / 1e6`,
            "limit: budget": `max(${own("month_budget_fees")}) / 1e6`,
          },
        ),
      ],
    },
    {
      title: "Who causes it, and how long does the balance last?",
      panels: [
        plot("Fees", "NTRN", "Fees per hour for transactions included in blocks.", {
          "{{connection_id}} {{instance}}": `${rate("instance, connection_id", "fees_total", PLACE)} * 3600 / 1e6`,
        }),
        plot(
          "Balance",
          "short",
          "The account's balance in millions of the base unit (NTRN for untrn), the remaining fee grant, and the reserve that the relayer never spends.",
          {
            "million {{denom}} {{instance}}": `${own("account_balance")} / 1e6`,
            "left of the fee grant": `min(${own("fee_grant_left")}) / 1e6`,
            "limit: reserve": `max(${own("balance_reserve")}) / 1e6`,
          },
        ),
        {
          ...plot(
            "Account or fee grant empty in",
            "days",
            "Forecast at the current gas price and at gas.max_price, based on the fees of the last few hours, the last few days and the month.",
            {
              "as in the last day {{instance}}": `min by (instance) (${own("account_left_seconds")}) / 86400`,
              "now: {{bound}}": `min by (bound) (${own("empty_seconds", 'price="now"')}) / 86400`,
              "at gas.max_price: {{bound}}": `min by (bound) (${own("empty_seconds", 'price="cap"')}) / 86400`,
              "the fee grant ends": `(min(${own("fee_grant_expiry_timestamp_seconds")}) - time()) / 86400`,
            },
          ),
          width: 24,
          enough: YEAR,
          logAxis: true,
        },
        table(
          "Owners",
          [
            `topk(20, max by (owner) (${own("owner_month_fees")})) / 1e6`,
            `max by (owner) (${own("spent_today_gas")})`,
            `max by (owner) (${own("spent_today_gas")} / on (job, instance) group_left() ${M}_daily_gas_per_owner_limit{${PROCESSES}})`,
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
        {
          ...plot(
            "Gas price",
            "short",
            "Price of one unit of gas in the fee denom, on a logarithmic axis. Above the ceiling (gas.price.comfortable), the relayer sends only urgent results. Above the cap (gas.max_price), it sends nothing.",
            {
              "{{instance}}": `max by (instance) (${own("gas_price", 'kind="price"')})`,
              "limit: {{kind}}": `max by (kind) (${own("gas_price", 'kind=~"minimum|ceiling|cap"')})`,
            },
          ),
          decimals: 4,
          logAxis: true,
        },
        plot(
          "Gas per block",
          "gas",
          "The price rises while the relayer's gas and others' gas together exceed the target. Demand is the relayer's gas if every result were on time.",
          {
            own: `sum(${own("market_gas", 'kind="own"')})`,
            others: `max(${own("market_gas", 'kind="others"')})`,
            demand: `sum(${own("market_gas", 'kind="demand"')})`,
            budget: `sum(${own("market_gas", 'kind="budget"')})`,
            "limit: target": `max(${own("market_gas", 'kind="target"')})`,
          },
        ),
        plot(
          "Demand and market",
          "none",
          "Results per block that are needed for every result to be on time, and results per block that the fee market sustains at its current price. The lateness is 0 while the market sustains the demand.",
          {
            "results per block on time": `sum(${own("market_results", 'kind="demand"')})`,
            "results per block at this price": `sum(${own("market_results", 'kind="sustainable"')})`,
            "blocks late in the steady state": `max(${own("expected_late_blocks")})`,
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
            query(`max by (instance) (7 + ${own("demand_above_market")})`, "demand {{instance}}"),
            query(`9 + min by (instance) (${own("costs_complete")})`, "costs by owner {{instance}}"),
          ],
          {
            description:
              "Phase of the gas budget. Steady: the price is stable. Burst: the relayer sends a backlog. Recovering: the price falls back to its steady value. Above-ceiling: the relayer sends only urgent results. Unlimited: only batch.block_share limits the gas per block. Unpriced: the price in the fee denom is unknown. Also shows whether every payment is in the costs by owner.",
            states: PHASES,
          },
        ),
        plot("Gas per result", "gas", "Gas per result falls when more results share one client update.", {
          "{{connection_id}}": `${rate("connection_id", "gas_used_total", PLACE)} / ${rate("connection_id", "results_total", `${PLACE},outcome="included"`)}`,
        }),
      ],
    },
    {
      title: "How is it sent?",
      panels: [
        plot("Results per transaction", "none", "A connection's results in one included transaction.", {
          "median {{connection_id}}": `histogram_quantile(0.5, ${rate("connection_id, le", "batch_results_bucket", PLACE)}) >= 0`,
        }),
        plot("Client updates and simulations", "ops", "Client updates and simulations per second.", {
          "updates {{connection_id}}": rate("connection_id", "client_updates_total", PLACE),
          simulations: `sum(rate(${own("simulations_total")}[$__rate_interval]))`,
        }),
        plot(
          "Traffic",
          "Bps",
          "Encoded bytes of included transactions, and bytes of RPC bodies, per second.",
          {
            "txs {{connection_id}} {{instance}}": rate("instance, connection_id", "tx_bytes_total", PLACE),
            "{{direction}} {{chain_id}} {{instance}}": rate(
              "instance, chain_id, direction",
              "rpc_bytes_total",
              CHAIN,
            ),
          },
        ),
      ],
    },
  ],
};
