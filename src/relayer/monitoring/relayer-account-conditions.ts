import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { LATE, STALE, DOCTOR, REPORT, type RelayerCondition } from "./relayer-condition.ts";

/** Alerts about the account and the state of the relayer: without them nothing is sent. */
export const ACCOUNT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-account-empty",
    severity: "critical",
    title: "The relayer's account is empty",
    description: "The account has no coins of the fee denomination.",
    impact: `No transaction can be paid, so no result is submitted. ${STALE}`,
    problems: ["account-cannot-pay"],
    for: "0s",
    inhibits: [...LATE, "relayer-account-low", "relayer-not-sending", "relayer-transactions-failing"],
    runbook: {
      checks: [
        see(
          "Address and denomination:",
          "doctor",
          DOCTOR.replace(
            "good     balance: neutron1… has 999999999975198 untrn",
            "bad      balance: neutron1… has 0 untrn",
          ),
        ),
        see("What spent it, by owner:", "relayerReport", REPORT),
      ],
      fix: [
        "Send coins of the fee denomination to the address. The relayer sees them within a minute and goes on.",
        "With `signer.fee_granter`, renew or raise the fee grant instead.",
      ],
      after: [
        "Send enough for a month at the present cost.",
        "Set `spending.daily_fee` when one owner's queries emptied it.",
      ],
    },
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
    runbook: {
      checks: [
        see("What a day costs, and for whom:", "relayerReport", REPORT),
        see("The balance:", "doctor", DOCTOR),
      ],
      fix: [
        "Send coins before the time in the alert is over.",
        "Is the rate of spending new? A contract with a short update period, or one that fails after its fee was paid, is the usual cause.",
      ],
      after: ["Limit the gas of one owner a day with `spending.daily_gas_per_owner`."],
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
    runbook: {
      checks: [
        see(
          "Which limit?",
          "ready",
          "not-sending: nothing is sent: the daily limit of fees is reached until 00:00 UTC",
        ),
        see("Who used it:", "relayerReport", REPORT),
      ],
      fix: [
        "Reserve: send coins, or lower `spending.reserve` and restart.",
        "Daily limit: raise `spending.daily_fee` and restart, or wait until 00:00 UTC. What was spent today is remembered over the restart.",
      ],
      after: ["Choose limits from a normal week: twice its largest day leaves room for a bad one."],
    },
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
        "PostgreSQL is down: start it. Never delete the state: without it, older transactions are not searched, and newer ones are sent again.",
      ],
      after: ["Nothing was sent meanwhile, so nothing was sent twice."],
    },
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
    runbook: {
      checks: [
        see("On each instance: who holds the lease?", "ready", "ok"),
        check(
          "In the database: `select * from relaywatch.lease`. A holder that no longer exists is replaced after `lease.ttl`.",
        ),
      ],
      fix: [
        "Start an instance that may lead: one with the same signer and the same store.",
        "Two instances with different signers on one connection: the second one stays a standby. Give each its shard.",
        "Clocks do not matter: the lease lives by the clock of the database.",
      ],
      after: [
        "Test a takeover: stop the leader, and watch the other one begin within `lease.ttl` and a few seconds.",
      ],
    },
  },
];
