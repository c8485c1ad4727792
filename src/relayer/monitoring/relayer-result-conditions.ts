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
    description:
      "{{ $value }} queries are more than health.overdue_blocks late, although a result is possible.",
    impact: "Contracts use older values than they requested.",
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
          "Is there another problem? A problem of a chain or of the account explains all late queries.",
          "ready",
          "queries-overdue: connection-0: 3 queries are overdue; query 1 by 41 blocks, 1 min 22 s",
        ),
        see("Does a proof succeed now?", "doctor", DOCTOR),
      ],
      fix: [
        "If all queries of a connection are late, check its endpoints and the block's gas limit. The relayer uses at most `batch.block_share` of it.",
        'If the demand is above the fee market (the problem names it, and `market.demand_above_market` of `/api/status`), results are late at any price: longer periods or cheaper callbacks help, which the page compares in its section "Cost".',
        "If one query is late, run `relaywatch relayer inspect ID`: it shows the attempts and their errors.",
      ],
      after: ["If this lateness is acceptable, raise `health.overdue_blocks`."],
    },
  },
  {
    name: "relayer-standing-still",
    severity: "critical",
    title: "A connection has stopped",
    description: "{{ $value }} results are overdue, and no result was included for ten minutes.",
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
        see("Does the relayer report a problem?", "ready", "cycle-failed: connection-0: …"),
        see("How did the last attempts end?", "relayerReport", REPORT),
        see(
          "Is the newest attempt old?",
          "inspect",
          "query 1: backing_off, overdue\nreason: rejected: …; failures: 7, next try in 4000 ms\nattempts:\n  2026-11-22T05:53:10.000Z rejected, block -, 0 gas, fee 0, …",
        ),
      ],
      fix: [
        "If attempts fail, find their outcome in the relayer's README: its table has the meaning of each.",
        "If there are no attempts, restart the relayer. It reads its state and the chain, and sends nothing twice.",
        "If it stops again, save its log since the last result, and report it.",
      ],
      after: [
        "Configure the supervisor to restart the relayer when `/livez` fails: it does so five minutes after a loop hangs.",
      ],
    },
  },
  {
    name: "relayer-cycle-failed",
    severity: "warning",
    title: "The cycles of a connection fail",
    description: "An error of a connection ends its cycles before they produce results.",
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
        "If an endpoint returns errors, replace it.",
        "If the connection or its client does not exist on the local chain, correct `connections[].id`.",
        "If the error names a query, the connection works: follow [relayer-queries-backing-off](relayer-queries-backing-off.md).",
      ],
      after: ["Check that the next cycle succeeds: it begins within a minute after the repair."],
    },
  },
  {
    name: "relayer-queries-backing-off",
    severity: "warning",
    title: "Some queries fail and back off",
    description: "{{ $value }} queries fail with {{ $labels.code }} and are backing off.",
    impact: "These queries get no result. All other queries are not affected.",
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
          "Which error did the contract or the chain return?",
          "inspect",
          "query 1: backing_off\nreason: rejected: query 1: the contract refused: …; failures: 7, next try in 4000 ms\nattempts:\n  2026-11-22T05:53:10.000Z rejected, block -, 0 gas, fee 0, query 1: the contract refused: …",
        ),
      ],
      fix: [
        "`rejected`: the contract fails. Send the reason to its owner, who alone can repair it.",
        "`no-such-store`, `empty-value`, `absence-not-provable`: the remote state cannot be proven. Ask the owner to query other keys.",
        "`over-budget`: raise `spending.daily_gas_per_owner`, or wait until 00:00 UTC.",
        "`pruned`: add an endpoint that still has these blocks.",
      ],
      after: [
        "If the contract is abandoned, remove the query: after its timeout, anybody can remove it and receives the deposit.",
      ],
    },
  },
  {
    name: "relayer-dead-letters",
    severity: "warning",
    title: "Remote transactions are dead letters",
    description:
      "{{ $value }} remote transactions were rejected or could not be proven. The relayer does not send them again by itself.",
    impact: "Contracts do not receive these transactions. Other results are not delayed.",
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
        "If the contract is repaired, send them again: `relaywatch relayer dead-letters resubmit --all`. Each costs a fee.",
        "If they are too old to be proven, add an endpoint with older blocks. Without one they are lost.",
        "If the owner does not want them, leave them in the list: they cost nothing.",
      ],
      after: ["The alert is resolved when the list is empty. If some entries remain on purpose, silence it."],
    },
  },
  {
    name: "relayer-pruned-blocks",
    severity: "warning",
    title: "TX queries skip pruned blocks",
    description: "{{ $value | humanize }} remote blocks were skipped: every endpoint has pruned them.",
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
        "Add an endpoint that stores more blocks, before the next restart of the relayer.",
        "If the owner needs their transactions, search the skipped blocks on an archive node. The log has their heights.",
        "To make such queries back off instead of skipping blocks, set `queries.tx_skip_pruned: false`.",
      ],
      after: ["Keep the relayer's downtime shorter than the time for which its endpoints store blocks."],
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
        see("How do the transactions end?", "relayerReport", REPORT),
        see(
          "With which error?",
          "inspect",
          "query 1: backing_off\nreason: not-included: out of gas in location: …; failures: 1, next try in 2000 ms\nattempts:\n  2026-11-22T05:53:10.000Z not-included, block -, 94600 gas, fee 240, out of gas in location: …",
        ),
      ],
      fix: [
        "`out of gas`: the relayer raises its gas estimate and tries again. If the error remains, raise `gas.adjustment`.",
        "Wrong sequence: another program signs with the same account. Give the relayer its own account.",
        "`redundant`: another relayer was faster, which is not an error. Compare the costs of both.",
      ],
      after: ["Read the fees of the failed transactions in the report."],
    },
  },
  {
    name: "relayer-spending-near-limit",
    severity: "warning",
    title: "The daily fee limit is nearly reached",
    description: "{{ $value | humanizePercentage }} of spending.daily_fee is spent today.",
    impact: "None yet. At the limit the relayer sends nothing until 00:00 UTC.",
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
        "If the results are wanted, raise `spending.daily_fee` and restart the relayer.",
        "If one owner is the cause, limit its gas with `spending.daily_gas_per_owner`.",
      ],
      after: ["Compare with the last weeks: raise the limit for a trend, not for a single day."],
    },
  },
];
