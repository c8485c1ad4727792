import {
  BY_CONNECTION,
  CONNECTION_SCOPE,
  NO_STANDBY,
  STALE,
  type RelayerCondition,
} from "./relayer-condition.ts";

const PRUNED = "relaywatch_relayer_tx_pruned_blocks_total";

/** Alerts about results: late, failing, or too expensive. */
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
    example: {
      fires: [{ series: 'relaywatch_relayer_overdue_queries{$,connection_id="connection-0"}', from: 3 }],
      clears: [{ series: 'relaywatch_relayer_overdue_queries{$,connection_id="connection-0"}', from: 0 }],
    },
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
      "{{ $value }} remote transactions were rejected or could not be proven. The relayer does not resend them automatically.",
    impact: "Contracts do not receive these transactions. Other results are not delayed.",
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
    description: "{{ $value | humanize }} remote blocks were skipped: every endpoint has pruned them.",
    impact: "Transactions in these blocks never reach their contracts.",
    // A relayer skips blocks at its start, before its first scrape. A new counter above zero is therefore an increase too.
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
    title: "The daily fee limit is nearly reached",
    description: "{{ $value | humanizePercentage }} of spending.daily_fee is spent today.",
    impact: "None yet. At the limit, the relayer sends nothing until 00:00 UTC.",
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
];
