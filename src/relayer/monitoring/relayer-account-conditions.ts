import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { LATE, STALE, DOCTOR, REPORT, type RelayerCondition } from "./relayer-condition.ts";

/** Alerts about the account and the state of the relayer: without them nothing is sent. */
export const ACCOUNT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-account-empty",
    severity: "critical",
    title: "The relayer's account cannot pay",
    description:
      "The account has less than the fee of a transaction, or a node refuses its transactions for lack of funds.",
    impact: `The relayer cannot pay for transactions, so it submits no result. ${STALE}`,
    problems: ["account-cannot-pay"],
    for: "0s",
    inhibits: [...LATE, "relayer-account-low", "relayer-not-sending", "relayer-transactions-failing"],
    runbook: {
      checks: [
        see(
          "Address, denomination, and what a transaction costs:",
          "doctor",
          DOCTOR.replace(
            "good     balance: neutron1… has 999999999975198 untrn",
            "bad      balance: neutron1… has 1577 untrn, and a transaction costs about 54796",
          ),
        ),
        see("The spending by owner:", "relayerReport", REPORT),
      ],
      fix: [
        "Send coins of the fee denomination to the address. The relayer sees them within a minute and sends again.",
        "With `signer.fee_granter`, renew or raise the fee grant instead.",
      ],
      after: [
        "Send enough for a month at the current cost.",
        "If one owner's queries emptied it, set `spending.daily_gas_per_owner`.",
      ],
    },
  },
  {
    name: "relayer-account-low",
    severity: "warning",
    title: "The relayer's account will be empty soon",
    description: "At the rate of the last day's fees the balance lasts {{ $value | humanizeDuration }}.",
    impact: "None yet. When the account is empty, the relayer submits no result.",
    expr: () => "min by (job, instance) (relaywatch_relayer_account_left_seconds) < 3 * 86400",
    for: "30m",
    example: {
      fires: [{ series: "relaywatch_relayer_account_left_seconds{$}", from: 7200 }],
      clears: [{ series: "relaywatch_relayer_account_left_seconds{$}", from: 9e6 }],
    },
    runbook: {
      checks: [
        see("The cost of a day, by owner:", "relayerReport", REPORT),
        see("The balance:", "doctor", DOCTOR),
      ],
      fix: [
        "Send coins within the time that the alert shows.",
        "If the spending has risen, find the owner in the report. The usual cause is a contract with a short update period, or one that fails after the relayer has paid the fee.",
      ],
      after: ["Limit each owner's daily gas with `spending.daily_gas_per_owner`."],
    },
  },
  {
    name: "relayer-not-sending",
    severity: "critical",
    title: "The relayer refuses to send",
    description:
      "The relayer did not send its last transaction: it has reached the balance reserve or the daily fee limit.",
    impact: `The relayer submits no result until coins arrive (reserve) or until 00:00 UTC (daily limit). ${STALE}`,
    problems: ["not-sending"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
    runbook: {
      checks: [
        see(
          "Which limit?",
          "ready",
          "not-sending: nothing is sent: the daily limit of fees is reached until 00:00 UTC",
        ),
        see("The spending by owner:", "relayerReport", REPORT),
      ],
      fix: [
        "For the reserve, send coins, or lower `spending.reserve` and restart the relayer.",
        "For the daily limit, raise `spending.daily_fee` and restart the relayer, or wait until 00:00 UTC. A restart does not reset the amount spent today.",
      ],
      after: ["Choose limits from a normal week: twice its most expensive day is enough for a bad day."],
    },
  },
  {
    name: "relayer-store-not-writable",
    severity: "critical",
    title: "The relayer cannot write its state",
    description: "The store does not accept writes. The relayer sends nothing that it cannot record.",
    impact: `The relayer submits no result until the store works. ${STALE}`,
    problems: ["store-not-writable"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending"],
    runbook: {
      checks: [
        see(
          "The error of the store:",
          "ready",
          "store-not-writable: nothing is sent while the store cannot write: database or disk is full; free its disk or repair it",
        ),
        check(
          "SQLite: `df -h` and `ls -l` of `state_dir`. PostgreSQL: can the relayer's user still write to the schema `relaywatch`?",
        ),
      ],
      fix: [
        "Free the disk, or restore the rights. The relayer writes again by itself, without a restart.",
        "If PostgreSQL is down, start it. Never delete the state: without it the relayer skips older remote transactions and sends newer ones again.",
      ],
      after: [
        "Check that lateness returns to 0. The relayer sent nothing while it could not write, so it sent nothing twice.",
      ],
    },
  },
  {
    name: "relayer-lease-unknown",
    severity: "critical",
    title: "The relayer cannot read its lease",
    description:
      "The database with the lease does not respond, so this process sends nothing, and it is not known whether another one does.",
    impact: `While no process can reach the database, no result is submitted. ${STALE}`,
    problems: ["lease-unknown"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending", "relayer-store-not-writable"],
    runbook: {
      checks: [
        see(
          "Since when, and with which error?",
          "ready",
          "lease-unknown: this process sends nothing, and it is not known whether another one does: the lease cannot be read: connect ECONNREFUSED 10.0.0.5:5432; repair the database",
        ),
        check(
          "Does another instance lead? On its status page the role is leader. If this alert fires for all instances, the database is down.",
        ),
        check("In the database, run `select * from relaywatch.lease`."),
      ],
      fix: [
        "Start PostgreSQL, or open its port for the relayer. The relayer reads the lease again within seconds, without a restart.",
        "If one instance only cannot reach it, repair the network of that instance: until then there is no standby.",
      ],
      after: ["Check that one instance is the leader, and that lateness returns to 0."],
    },
  },
  {
    name: "relayer-no-leader",
    severity: "critical",
    title: "No relayer instance is the leader",
    description: "No instance of the job has the lease, so none submits results.",
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
    runbook: {
      checks: [
        see("On each instance: who holds the lease?", "ready", "ok"),
        check(
          "In the database, run `select * from relaywatch.lease`. If the holder no longer exists, another instance takes over after `lease.ttl`.",
        ),
      ],
      fix: [
        "Start an instance with the same signer and the same store.",
        "If two instances have different signers on one connection, give each its own shard: otherwise the second one remains a standby.",
        "Do not search for clock differences: the lease uses the database's clock.",
      ],
      after: [
        "Test a takeover: stop the leader, and check that the other instance becomes the leader within `lease.ttl` and a few seconds.",
      ],
    },
  },
];
