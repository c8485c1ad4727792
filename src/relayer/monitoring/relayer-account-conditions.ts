import { LATE, STALE, type RelayerCondition } from "./relayer-condition.ts";

/** Alerts about the relayer's account and state, without which nothing is sent. */
export const ACCOUNT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-account-empty",
    severity: "critical",
    title: "The relayer's account cannot pay",
    description:
      "The account holds less than one transaction's fee, or a node refuses its transactions for lack of funds.",
    impact: `The relayer cannot pay for transactions, so it submits no results. ${STALE}`,
    problems: ["account-cannot-pay"],
    for: "0s",
    inhibits: [...LATE, "relayer-account-low", "relayer-not-sending", "relayer-transactions-failing"],
  },
  {
    name: "relayer-account-low",
    severity: "warning",
    title: "The relayer's account will be empty soon",
    description: "At the last day's rate of spending, the balance lasts {{ $value | humanizeDuration }}.",
    impact: "None yet. Once the account is empty, the relayer submits no results.",
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
      "The relayer did not send its last transaction: it has reached the balance reserve or the daily fee limit.",
    impact: `The relayer submits no results until coins arrive (reserve) or until 00:00 UTC (daily limit). ${STALE}`,
    problems: ["not-sending"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
  },
  {
    name: "relayer-store-not-writable",
    severity: "critical",
    title: "The relayer cannot write its state",
    description: "The store does not accept writes. The relayer sends nothing that it cannot record.",
    impact: `The relayer submits no results until the store works. ${STALE}`,
    problems: ["store-not-writable"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending"],
  },
  {
    name: "relayer-lease-unknown",
    severity: "critical",
    title: "The relayer cannot read its lease",
    description:
      "The database with the lease does not respond, so this process sends nothing and cannot tell whether another one does.",
    impact: `While no process can reach the database, no result is submitted. ${STALE}`,
    problems: ["lease-unknown"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending", "relayer-store-not-writable"],
  },
  {
    name: "relayer-no-leader",
    severity: "critical",
    title: "No relayer instance is the leader",
    description: "No instance of the job holds the lease, so none submits results.",
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
];
