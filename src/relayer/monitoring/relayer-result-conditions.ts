import { see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import {
  BY_CONNECTION,
  CONNECTION_SCOPE,
  NO_STANDBY,
  STALE,
  DOCTOR,
  REPORT,
  QUERIES,
  type RelayerCondition,
} from "./relayer-condition.ts";

const PRUNED = "relaywatch_relayer_tx_pruned_blocks_total";

/** Alerts about results: late, failing, or too expensive. */
export const RESULT_CONDITIONS: readonly RelayerCondition[] = [
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
    runbook: {
      checks: [
        see("Which queries, and by how much?", "overdue", QUERIES),
        see(
          "What else is wrong? A problem of a chain or of the account explains all of them.",
          "ready",
          "queries-overdue: connection-0: 3 queries are overdue; query 1 by 41 blocks, 1 min 22 s",
        ),
        see("Does a proof succeed now?", "doctor", DOCTOR),
      ],
      fix: [
        "All queries of a connection are late: see its endpoints and the gas limits of a block. `batch.block_share` is the share that the relayer may use.",
        "Blocks are full: raise `gas.max_price` within what you pay, so that transactions are included.",
        "One query is late: `relaywatch relayer inspect ID` has its attempts and their errors.",
      ],
      after: ["Raise `health.overdue_blocks` when the alert fires for a lateness that nobody minds."],
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
    runbook: {
      checks: [
        see("Is there a problem that the relayer knows?", "ready", "cycle-failed: connection-0: …"),
        see("How did the last attempts end?", "relayerReport", REPORT),
        see(
          "Is the newest attempt old?",
          "inspect",
          "attempts:\n- connection_id: connection-0\n  outcome: rejected",
        ),
      ],
      fix: [
        "Attempts fail: the outcome names the reason, and the table in the relayer's README the meaning.",
        "There are no attempts: restart the relayer. It reads its state and the chain, and sends nothing twice.",
        "It stops again: keep its log from the last result on, and report it.",
      ],
      after: [
        "`/livez` turns red by itself after five minutes when a loop hangs: let your supervisor restart on it.",
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
    runbook: {
      checks: [
        see(
          "The error of the connection:",
          "ready",
          "cycle-failed: connection-0: read-failed: every endpoint of remote-1 failed",
        ),
        see("Which check fails?", "doctor", DOCTOR),
      ],
      fix: [
        "An endpoint returns errors: replace it.",
        "The connection or its client does not exist on the local chain: compare `connections[].id`.",
        "The error names a query: it is no error of the connection. See [relayer-queries-backing-off](relayer-queries-backing-off.md).",
      ],
      after: ["Cycles back off after errors. The next one begins within a minute of the repair."],
    },
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
    runbook: {
      checks: [
        see("Which queries, and with which code?", "queries", QUERIES),
        see(
          "What exactly did the contract or the chain say?",
          "inspect",
          "attempts:\n- connection_id: connection-0\n  outcome: rejected\n  reason: 'query 1: the contract refused: …'",
        ),
      ],
      fix: [
        "`rejected`: the contract fails. Send its owner the reason; only they can fix it.",
        "`no-such-store`, `empty-value`, `absence-not-provable`: the remote state cannot be proven. The owner must ask for other keys.",
        "`over-budget`: raise `spending.daily_gas_per_owner`, or let it wait until 00:00 UTC.",
        "`pruned`: add an endpoint that keeps these blocks.",
      ],
      after: [
        "Remove the query when its contract is abandoned: whoever removes it after its timeout gets the deposit.",
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
    runbook: {
      checks: [
        see(
          "Which transactions, and why?",
          "deadLetters",
          "query  hash   reason    time\n7      AB12…  rejected  2026-11-22T05:53:59Z",
        ),
        see("Is it one contract?", "relayerReport", REPORT),
      ],
      fix: [
        "The contract was repaired: send them again with `relaywatch relayer dead-letters resubmit --all`. Each costs a fee.",
        "Too old to be proven: an endpoint with older blocks may still do; otherwise they are lost.",
        "The owner does not want them: they stay in the list and cost nothing.",
      ],
      after: ["The alert ends when the list is empty. Silence it when the rest is to stay."],
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
    runbook: {
      checks: [see("From which height do the endpoints have blocks?", "doctor", DOCTOR)],
      fix: [
        "Add an endpoint that keeps more blocks, before the next restart of the relayer.",
        "The skipped blocks are named in the log. Search them by hand on an archive node when the owner needs their transactions.",
        "With `queries.tx_skip_pruned: false` such queries wait instead of skipping.",
      ],
      after: [
        "A relayer that was down for longer than its endpoints keep blocks always loses some: watch its downtime.",
      ],
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
    runbook: {
      checks: [
        see("How do they end?", "relayerReport", REPORT),
        see(
          "With which error?",
          "inspect",
          "attempts:\n- connection_id: connection-0\n  outcome: not-included\n  reason: out of gas in location: …",
        ),
      ],
      fix: [
        "Out of gas: the relayer learns and tries again with more; when it stays, raise `gas.adjustment`.",
        "Wrong sequence: somebody else signs with the same account. Give the relayer an account of its own.",
        "Another relayer was faster: nothing is wrong. Compare the costs of both.",
      ],
      after: ["Failed transactions in a block cost their fee: the report has the sum."],
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
    runbook: {
      checks: [see("Who spends?", "relayerReport", REPORT)],
      fix: [
        "Raise `spending.daily_fee` and restart, when the results are wanted.",
        "One owner is the cause: limit it with `spending.daily_gas_per_owner`.",
      ],
      after: ["Compare with the last weeks: a trend needs a new limit, a single day does not."],
    },
  },
];
