import { graph, query, type RowSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { CHAIN, JOB, M, PLACE } from "./relayer-parts.ts";

/** What does it cost? Is it safe? */
export const COST_ROWS: readonly RowSpec[] = [
  {
    title: "What does it cost?",
    panels: [
      graph(
        "Gas",
        [
          query(
            `sum by (connection_id) (rate(${M}_gas_used_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}}",
          ),
        ],
        {
          description: "Gas of included transactions per second.",
          unit: "short",
        },
      ),
      graph(
        "Fees",
        [
          query(
            `sum by (connection_id) (rate(${M}_fees_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}}",
          ),
        ],
        {
          description: "Fees of transactions in blocks per second, in units of the fee denom.",
          unit: "short",
        },
      ),
      graph(
        "Gas for one result",
        [
          query(
            `sum by (connection_id) (rate(${M}_gas_used_total{${PLACE}}[$__rate_interval])) / sum by (connection_id) (rate(${M}_results_total{${PLACE},outcome="included"}[$__rate_interval]))`,
            "{{connection_id}}",
          ),
        ],
        { description: "Less when more results share one client update.", unit: "short" },
      ),
      graph(
        "Spent today",
        [
          query(`max by (instance) (${M}_spent_today_fees{${JOB}})`, "{{instance}}"),
          query(`max by (instance) (${M}_forecast_daily_fees{${JOB}})`, "{{instance}} forecast of a day"),
          query(`max by (rule) (${M}_spent_today_urgent_fees{${JOB}})`, "urgent: {{rule}}"),
          query(`max(${M}_daily_fee_limit{${JOB}})`, "limit"),
        ],
        {
          description:
            "Fees of this UTC day, those for urgent results with a budget of their own, the forecast of a day at the present fee market, and the limit when there is one.",
          unit: "short",
          limits: /^limit/,
        },
      ),
      graph(
        "Fees of this month by owner",
        [query(`topk(10, max by (owner) (${M}_owner_month_fees{${JOB}}))`, "{{owner}}")],
        {
          description:
            "Fees of this calendar month (UTC) by owner of the queries, to the unit of the fee denom, with failed transactions and light clients.",
          unit: "short",
        },
      ),
      graph(
        "This month and its budget",
        [
          query(`max by (instance) (${M}_window_fees{${JOB},window="month"})`, "{{instance}} paid"),
          query(`max by (bound) (${M}_month_forecast_fees{${JOB},price="now"})`, "forecast: {{bound}}"),
          query(`max(${M}_month_budget_fees{${JOB}})`, "limit: budget"),
        ],
        {
          description:
            "Fees of this calendar month (UTC), the forecast of the whole month at the present gas price, and spending.budget when there is one.",
          unit: "short",
          limits: /^limit/,
        },
      ),
      graph(
        "Fees of the last hour, day, week and 30 days",
        [query(`max by (window) (${M}_window_fees{${JOB},window!="month"})`, "{{window}}")],
        { description: "In units of the fee denom, on a logarithmic axis.", unit: "short", logAxis: true },
      ),
      graph(
        "Gas by owner today",
        [
          query(`topk(10, max by (owner) (${M}_spent_today_gas{${JOB}}))`, "{{owner}}"),
          query(`max(${M}_daily_gas_per_owner_limit{${JOB}})`, "limit"),
        ],
        {
          description: "Gas limits of this UTC day by owner of the queries, and the limit when there is one.",
          limits: /^limit/,
          unit: "short",
        },
      ),
      graph(
        "Gas price",
        [
          query(`max by (instance) (${M}_gas_price{${JOB},kind="price"})`, "{{instance}}"),
          query(`max by (kind) (${M}_gas_price{${JOB},kind=~"minimum|ceiling|cap"})`, "limit: {{kind}}"),
        ],
        {
          description:
            "Fee coins for one unit of gas, on a logarithmic axis. The ceiling is gas.price.comfortable: above it only urgent results are sent. The cap is gas.max_price: above it nothing is sent.",
          unit: "short",
          limits: /^limit/,
          logAxis: true,
        },
      ),
      graph(
        "Gas of a block",
        [
          query(`sum(${M}_market_gas{${JOB},kind="own"})`, "own"),
          query(`max(${M}_market_gas{${JOB},kind="others"})`, "others"),
          query(`sum(${M}_market_gas{${JOB},kind="demand"})`, "demand"),
          query(`sum(${M}_market_gas{${JOB},kind="budget"})`, "budget"),
          query(`max(${M}_market_gas{${JOB},kind="target"})`, "limit: target"),
        ],
        {
          description:
            "The price rises while own and others' gas together are above the target. Demand is the own gas if every result were on time.",
          unit: "short",
          limits: /^limit/,
        },
      ),
      graph(
        "Demand and market",
        [
          query(`sum(${M}_market_results{${JOB},kind="demand"})`, "results of a block on time"),
          query(`sum(${M}_market_results{${JOB},kind="sustainable"})`, "results of a block at this price"),
          query(`max(${M}_expected_late_blocks{${JOB}})`, "blocks late in the steady state"),
        ],
        {
          description:
            "Results of a block that the demand needs, and those that the fee market bears at its present price. The lateness is 0 while the market bears the demand.",
          unit: "none",
        },
      ),
      {
        kind: "timeline",
        title: "Phase of the budget",
        description:
          "Steady: the price stays. Burst: a backlog is sent. Recovering: the price returns. Above-ceiling: only urgent results are sent. Unlimited: only batch.block_share limits a block.",
        unit: "none",
        width: 12,
        queries: [
          query(`max by (instance, phase) (${M}_market_phase{${JOB}})`, "{{instance}} {{phase}}"),
          query(`max by (instance) (${M}_demand_above_market{${JOB}})`, "{{instance}} demand above market"),
        ],
      },
      graph(
        "Results in a transaction",
        [
          query(
            `histogram_quantile(0.5, sum by (connection_id, le) (rate(${M}_batch_results_bucket{${PLACE}}[$__rate_interval])))`,
            "{{connection_id}} median",
          ),
        ],
        { description: "Results of a connection in one included transaction.", unit: "none" },
      ),
      graph(
        "Client updates and simulations",
        [
          query(
            `sum by (connection_id) (rate(${M}_client_updates_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}} updates",
          ),
          query(`sum(rate(${M}_simulations_total{${JOB}}[$__rate_interval]))`, "simulations"),
        ],
        { description: "Per second.", unit: "ops" },
      ),
      graph(
        "Transaction bytes",
        [
          query(
            `sum by (connection_id) (rate(${M}_tx_bytes_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}}",
          ),
        ],
        {
          description: "Encoded bytes of included transactions per second.",
          unit: "Bps",
        },
      ),
      graph(
        "RPC traffic",
        [
          query(
            `sum by (chain_id, direction) (rate(${M}_rpc_bytes_total{${CHAIN}}[$__rate_interval]))`,
            "{{chain_id}} {{direction}}",
          ),
        ],
        {
          description: "Bytes of RPC bodies per second.",
          unit: "Bps",
        },
      ),
    ],
  },
  {
    title: "Is it safe?",
    panels: [
      graph(
        "Time until the light client expires",
        [
          query(`${M}_client_expiry_timestamp_seconds{${PLACE}} - time()`, "{{connection_id}}"),
          query(
            `${M}_client_trusting_period_seconds{${PLACE}} / 3`,
            "{{connection_id}} limit: the relayer updates it",
          ),
          query(
            `${M}_client_trusting_period_seconds{${PLACE}} / 20`,
            "{{connection_id}} limit: it is about to expire",
          ),
        ],
        {
          description:
            "Below the upper line the relayer updates the client by itself, below the lower one a critical alert fires. At zero only governance can replace it.",
          unit: "s",
          limits: /limit/,
        },
      ),
      {
        kind: "timeline",
        title: "Light clients",
        description: "Green: active. Red: expired or frozen.",
        unit: "bool",
        width: 12,
        queries: [query(`min by (connection_id) (${M}_client_active{${PLACE}})`, "{{connection_id}}")],
        colors: [
          ["red", undefined],
          ["green", 1],
        ],
      },
      graph(
        "Balance",
        [
          query(`${M}_account_balance{${JOB}}`, "{{denom}}"),
          query(`max(${M}_balance_reserve{${JOB}})`, "limit: reserve"),
        ],
        {
          description: "Coins of the account, and the reserve that is never spent.",
          unit: "short",
          limits: /^limit/,
        },
      ),
      graph("Balance lasts for", [query(`${M}_account_left_seconds{${JOB}}`, "{{instance}}")], {
        description: "Time until the balance is spent at the rate of the last day.",
        unit: "s",
      }),
      graph(
        "Account or fee grant empty in",
        [
          query(`min by (bound) (${M}_empty_seconds{${JOB},price="now"})`, "now: {{bound}}"),
          query(`min by (bound) (${M}_empty_seconds{${JOB},price="cap"})`, "at gas.max_price: {{bound}}"),
          query(`min(${M}_fee_grant_expiry_timestamp_seconds{${JOB}}) - time()`, "the fee grant ends"),
        ],
        {
          description:
            "Forecast at the present gas price and at gas.max_price, from the last hours, the last days and the month.",
          unit: "s",
          logAxis: true,
        },
      ),
      graph(
        "Fee grant and completeness of the costs",
        [
          query(`min(${M}_fee_grant_left{${JOB}})`, "left of the fee grant"),
          query(`min(${M}_costs_complete{${JOB}})`, "costs complete"),
        ],
        {
          description:
            "What the fee grant still pays in all, and 1 while every payment is in the costs by owner.",
          unit: "short",
        },
      ),
      graph(
        "Queries that back off",
        [
          query(
            `sum by (connection_id, code) (${M}_backing_off_queries{${PLACE}})`,
            "{{connection_id}} {{code}}",
          ),
        ],
        {
          description: "By the code of their last failure.",
          unit: "none",
        },
      ),
      {
        kind: "timeline",
        title: "Endpoints",
        description: "Green: the last call succeeded.",
        unit: "bool",
        width: 12,
        queries: [
          query(`min by (chain_id, endpoint) (${M}_endpoint_up{${CHAIN}})`, "{{chain_id}} {{endpoint}}"),
        ],
        colors: [
          ["red", undefined],
          ["green", 1],
        ],
      },
      {
        kind: "timeline",
        title: "Distrusted endpoints",
        description: "1 while an endpoint is distrusted for what it returned.",
        unit: "none",
        width: 12,
        queries: [
          query(
            `max by (chain_id, endpoint) (${M}_endpoint_distrusted{${CHAIN}})`,
            "{{chain_id}} {{endpoint}}",
          ),
        ],
      },
      graph(
        "Latency of endpoints",
        [query(`${M}_endpoint_latency_seconds{${CHAIN}}`, "{{chain_id}} {{endpoint}}")],
        {
          description: "Time of the last status call.",
          unit: "s",
        },
      ),
      graph(
        "Gaps and batches of endpoints",
        [
          query(`${M}_endpoint_lacks{${CHAIN}}`, "{{chain_id}} {{endpoint}} lacks"),
          query(`${M}_endpoint_batch_size{${CHAIN}}`, "{{chain_id}} {{endpoint}} calls in a request"),
        ],
        {
          description: "What an endpoint could not do recently, and the calls that it takes in one request.",
          unit: "none",
        },
      ),
      graph("Lag of endpoints", [query(`${M}_endpoint_lag_blocks{${CHAIN}}`, "{{chain_id}} {{endpoint}}")], {
        description: "Blocks behind the best endpoint of the chain.",
        unit: "blocks",
      }),
      graph(
        "Failed RPC calls",
        [
          query(
            `sum by (chain_id, method, outcome) (rate(${M}_rpc_calls_total{${CHAIN},outcome!~"ok|not-found"}[$__rate_interval]))`,
            "{{chain_id}} {{method}} {{outcome}}",
          ),
        ],
        { description: "Per second, by code of the error.", unit: "ops", emptyText: "No call failed" },
      ),
      graph(
        "Store",
        [
          query(`${M}_store_writable{${JOB}}`, "writable"),
          query(`${M}_store_pending_writes{${JOB}}`, "pending writes"),
          query(`${M}_store_dropped_writes{${JOB}}`, "dropped writes"),
        ],
        { description: "At writable 0 nothing is sent.", unit: "none" },
      ),
      {
        kind: "timeline",
        title: "Role, gate and subscription",
        description:
          "Which process submits, whether the gate admitted the last transaction, whether the subscription is connected.",
        unit: "none",
        width: 12,
        queries: [
          query(`max by (instance, role) (${M}_role{${JOB}})`, "{{instance}} {{role}}"),
          query(`${M}_admitted{${JOB}}`, "{{instance}} admitted"),
          query(`${M}_subscription_connected{${JOB}}`, "{{instance}} subscription"),
        ],
      },
      graph(
        "Pruned blocks",
        [
          query(
            `sum by (connection_id) (increase(${M}_tx_pruned_blocks_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}}",
          ),
        ],
        {
          description: "Remote blocks that TX queries skipped, because every endpoint has pruned them.",
          unit: "blocks",
        },
      ),
    ],
  },
];
