import {
  BY_CONNECTION,
  CONNECTION_SCOPE,
  LATE,
  NO_STANDBY,
  type RelayerCondition,
  STALE,
} from "./relayer-condition.ts";

const PRUNED = "relaywatch_relayer_tx_pruned_blocks_total";

/** Alerts about the relayer itself: its account, its state, its results, its endpoints. */
export const WORK_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-account-empty",
    severity: "critical",
    title: "The relayer's account is empty",
    description: "The account has no coins of the fee denomination.",
    impact: `No transaction can be paid, so no result is submitted. ${STALE}`,
    problems: ["account-cannot-pay"],
    for: "0s",
    inhibits: [...LATE, "relayer-account-low", "relayer-not-sending", "relayer-transactions-failing"],
  },
  {
    name: "relayer-account-low",
    severity: "warning",
    title: "The relayer's account will be empty soon",
    description: "At the rate of the last day the balance lasts {{ $value | humanizeDuration }}.",
    impact: "When it is empty, no result is submitted.",
    expr: () => "min by (job, instance) (relaywatch_relayer_account_left_seconds) < 3 * 86400",
    for: "30m",
    example: {
      fires: [{ series: "relaywatch_relayer_account_left_seconds{$}", from: 7200 }],
      clears: [{ series: "relaywatch_relayer_account_left_seconds{$}", from: 9e6 }],
    },
  },
  {
    name: "relayer-not-sending",
    severity: "critical",
    title: "The relayer refuses to send",
    description:
      "The last transaction was not sent: the balance reserve or the daily limit of fees is reached.",
    impact: `No result is submitted until the limit ends: the reserve when coins arrive, the daily limit at 00:00 UTC. ${STALE}`,
    problems: ["not-sending"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
  },
  {
    name: "relayer-store-not-writable",
    severity: "critical",
    title: "The relayer cannot write its state",
    description: "The store does not accept writes, and without them nothing is sent.",
    impact: `No result is submitted until the store works. Nothing is sent twice. ${STALE}`,
    problems: ["store-not-writable"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending"],
  },
  {
    name: "relayer-no-leader",
    severity: "critical",
    title: "No relayer instance is the leader",
    description: "Every instance of the job follows another process, and none submits.",
    impact: `No result is submitted. ${STALE}`,
    expr: () => 'max by (job) (relaywatch_relayer_role{role=~"leader|starting"}) == 0',
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
    scope: ["job"],
    example: {
      fires: [
        { series: 'relaywatch_relayer_role{$,role="leader"}' },
        { series: 'relaywatch_relayer_role{$,role="starting"}' },
        { series: 'relaywatch_relayer_role{$,role="standby"}', from: 1 },
      ],
      clears: [{ series: 'relaywatch_relayer_role{$,role="leader"}', from: 1 }],
    },
  },
  {
    name: "relayer-queries-overdue",
    severity: "critical",
    title: "Query results are overdue",
    description: "{{ $value }} queries are later than health.overdue_blocks, and a result is possible.",
    impact: "Contracts work with values that are older than they asked for.",
    problems: ["queries-overdue", "queries-failing"],
    expr: () => `max ${BY_CONNECTION} (relaywatch_relayer_overdue_queries) > 0 ${NO_STANDBY}`,
    for: "2m",
    example: {
      fires: [{ series: 'relaywatch_relayer_overdue_queries{$,connection_id="connection-0"}', from: 3 }],
      clears: [{ series: 'relaywatch_relayer_overdue_queries{$,connection_id="connection-0"}', from: 0 }],
    },
  },
  {
    name: "relayer-standing-still",
    severity: "critical",
    title: "A connection has stopped",
    description: "{{ $value }} results are overdue, and none was included for ten minutes.",
    impact: `No query of the connection gets a result. ${STALE}`,
    expr: (times) =>
      `sum ${BY_CONNECTION} (relaywatch_relayer_overdue_queries) > 0 ${NO_STANDBY}\nunless sum ${BY_CONNECTION} (increase(relaywatch_relayer_results_total{outcome="included"}[${times("10m")}])) > 0`,
    for: "2m",
    inhibits: ["relayer-queries-overdue"],
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        { series: 'relaywatch_relayer_overdue_queries{$,connection_id="connection-0"}', from: 3 },
        {
          series: 'relaywatch_relayer_results_total{$,connection_id="connection-0",outcome="included"}',
          from: 70,
        },
      ],
      clears: [
        {
          series: 'relaywatch_relayer_results_total{$,connection_id="connection-0",outcome="included"}',
          step: 60,
        },
      ],
    },
  },
  {
    name: "relayer-cycle-failed",
    severity: "warning",
    title: "The cycles of a connection fail",
    description: "An error of a connection ends its cycles before results are made.",
    impact: `No query of the connection gets a result. ${STALE}`,
    problems: ["cycle-failed"],
    for: "5m",
  },
  {
    name: "relayer-queries-backing-off",
    severity: "warning",
    title: "Queries fail for a reason of their own",
    description: "{{ $value }} queries back off with {{ $labels.code }}.",
    impact: "These queries get no result; all others do. A contract that fails costs its owner the result.",
    expr: () => "max by (job, instance, connection_id, code) (relaywatch_relayer_backing_off_queries) > 0",
    for: "30m",
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        {
          series: 'relaywatch_relayer_backing_off_queries{$,connection_id="connection-0",code="rejected"}',
          from: 1,
        },
      ],
      clears: [
        {
          series: 'relaywatch_relayer_backing_off_queries{$,connection_id="connection-0",code="rejected"}',
          from: 0,
        },
      ],
    },
  },
  {
    name: "relayer-dead-letters",
    severity: "warning",
    title: "Remote transactions are dead letters",
    description:
      "{{ $value }} transactions were rejected or could not be proven, and are not sent again by themselves.",
    impact: "Contracts do not learn of these transactions. Nothing else is delayed.",
    expr: () => "max by (job, instance) (relaywatch_relayer_dead_letters) > 0",
    for: "1m",
    example: {
      fires: [{ series: "relaywatch_relayer_dead_letters{$}", from: 2 }],
      clears: [{ series: "relaywatch_relayer_dead_letters{$}", from: 0 }],
    },
  },
  {
    name: "relayer-pruned-blocks",
    severity: "warning",
    title: "TX queries skip pruned blocks",
    description: "{{ $value | humanize }} remote blocks were not searched: every endpoint has pruned them.",
    impact: "Transactions in these blocks never reach their contracts.",
    // A relayer skips blocks at its start, before its first scrape: a new counter above zero counts too.
    expr: (times) =>
      `sum ${BY_CONNECTION} (increase(${PRUNED}[${times("1h")}])) > 0\nor (sum ${BY_CONNECTION} (${PRUNED}) unless sum ${BY_CONNECTION} (${PRUNED} offset ${times("1h")})) > 0`,
    for: "0s",
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        { series: 'relaywatch_relayer_tx_pruned_blocks_total{$,connection_id="connection-0"}', step: 5 },
      ],
      clears: [
        { series: 'relaywatch_relayer_tx_pruned_blocks_total{$,connection_id="connection-0"}', step: 0 },
      ],
      resolves: "70m",
    },
  },
  {
    name: "relayer-transactions-failing",
    severity: "warning",
    title: "The relayer's transactions fail",
    description:
      "{{ $value | humanizePercentage }} of the transactions of the last 10 minutes failed, were refused or were lost.",
    impact: "Each failed transaction in a block costs its fee and delivers nothing.",
    expr: (times) => {
      const sent = (matcher: string): string =>
        `sum by (job, instance) (increase(relaywatch_relayer_transactions_total${matcher}[${times("10m")}]))`;
      return `${sent('{outcome!="included"}')} / (${sent("")} > 0) > 0.5`;
    },
    for: "5m",
    example: {
      fires: [
        { series: 'relaywatch_relayer_transactions_total{$,outcome="included"}', from: 100 },
        { series: 'relaywatch_relayer_transactions_total{$,outcome="failed"}', step: 60 },
      ],
      clears: [
        { series: 'relaywatch_relayer_transactions_total{$,outcome="included"}', step: 600 },
        { series: 'relaywatch_relayer_transactions_total{$,outcome="failed"}', step: 0 },
      ],
    },
  },
  {
    name: "relayer-spending-near-limit",
    severity: "warning",
    title: "The daily limit of fees is nearly reached",
    description: "{{ $value | humanizePercentage }} of spending.daily_fee are spent today.",
    impact: "At the limit nothing is sent until 00:00 UTC.",
    expr: () =>
      "max by (job, instance) (relaywatch_relayer_spent_today_fees / relaywatch_relayer_daily_fee_limit) > 0.8",
    for: "5m",
    example: {
      fires: [
        { series: "relaywatch_relayer_spent_today_fees{$}", from: 90 },
        { series: "relaywatch_relayer_daily_fee_limit{$}", from: 100 },
      ],
      clears: [{ series: "relaywatch_relayer_spent_today_fees{$}", from: 0 }],
    },
  },
  {
    name: "relayer-endpoint-down",
    severity: "warning",
    title: "An endpoint does not respond",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} fails. The relayer uses the others, if there are any.",
    impact: "None while another endpoint of the chain responds.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_up) == 0",
    for: "5m",
    example: {
      fires: [{ series: 'relaywatch_relayer_endpoint_up{$,chain_id="remote-1",endpoint="a"}' }],
      clears: [{ series: 'relaywatch_relayer_endpoint_up{$,chain_id="remote-1",endpoint="a"}', from: 1 }],
    },
  },
  {
    name: "relayer-endpoint-lagging",
    severity: "warning",
    title: "An endpoint lags behind",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} is {{ $value }} blocks behind the best endpoint.",
    impact: "None while another endpoint of the chain is current. Alone, it would make results late.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_lag_blocks) > 10",
    for: "5m",
    example: {
      fires: [
        { series: 'relaywatch_relayer_endpoint_lag_blocks{$,chain_id="remote-1",endpoint="a"}', from: 40 },
      ],
      clears: [
        { series: 'relaywatch_relayer_endpoint_lag_blocks{$,chain_id="remote-1",endpoint="a"}', from: 0 },
      ],
    },
  },
  {
    name: "relayer-subscription-down",
    severity: "warning",
    title: "The relayer's subscription is down",
    description: "The WebSocket to the local chain is not connected. The relayer polls instead.",
    impact: "New queries and blocks are seen later, by up to a minute for a new query.",
    expr: () => "max by (job, instance) (relaywatch_relayer_subscription_connected) == 0",
    for: "2m",
    example: {
      fires: [{ series: "relaywatch_relayer_subscription_connected{$}" }],
      clears: [{ series: "relaywatch_relayer_subscription_connected{$}", from: 1 }],
    },
  },
  {
    name: "relayer-state-unknown",
    severity: "warning",
    title: "The relayer cannot read a light client or its account",
    description: "The light client of a connection, or the balance, was not read for three minutes.",
    impact: "None that is known. The expiry of the client and the balance are not watched meanwhile.",
    problems: ["client-unknown", "account-unknown"],
    for: "2m",
  },
  {
    name: "relayer-starting",
    severity: "warning",
    title: "The relayer does not finish its start",
    description: "The relayer is running, and has not read everything that it needs.",
    impact: `No result is submitted for what was not read. ${STALE}`,
    problems: ["starting"],
    for: "5m",
  },
];
