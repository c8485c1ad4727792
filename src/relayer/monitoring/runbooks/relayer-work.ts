import { check, type RunbookBody, see } from "../../../platform/monitoring/alerts/runbook-spec.ts";

const DOCTOR =
  "good     account: neutron1…, sequence 31\ngood     balance: neutron1… has 999999999975198 untrn\ngood     connection-0: light client: 07-tendermint-0 is active at height 87, and expires in 13 days without an update";
const QUERIES =
  "id  type  connection    period  local height  remote height  late  results  state        error\n1   kv    connection-0  2       60            78             41    30       backing_off  rejected";
const REPORT =
  "Relayer, 2026-11-21 05:53 to 2026-11-22 05:53 UTC\n=================================================\n\nOutcome   Attempts\n--------  --------\nincluded        15\nrejected         9\n\nCost by owner\n-------------\n\nDead letters\n------------";

/** Runbooks of the relayer's account, state, results and endpoints. */
export const RELAYER_WORK_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  "relayer-account-empty": {
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
  "relayer-account-low": {
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
  "relayer-not-sending": {
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
  "relayer-store-not-writable": {
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
  "relayer-no-leader": {
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
  "relayer-queries-overdue": {
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
  "relayer-standing-still": {
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
  "relayer-cycle-failed": {
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
  "relayer-queries-backing-off": {
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
  "relayer-dead-letters": {
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
  "relayer-pruned-blocks": {
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
  "relayer-transactions-failing": {
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
  "relayer-spending-near-limit": {
    checks: [see("Who spends?", "relayerReport", REPORT)],
    fix: [
      "Raise `spending.daily_fee` and restart, when the results are wanted.",
      "One owner is the cause: limit it with `spending.daily_gas_per_owner`.",
    ],
    after: ["Compare with the last weeks: a trend needs a new limit, a single day does not."],
  },
  "relayer-endpoint-down": {
    checks: [see("Which endpoint, and with which error?", "doctor", DOCTOR)],
    fix: [
      "Repair or replace it. The relayer notices its return by itself.",
      "It was the last one of its chain: act now, results are late.",
    ],
    after: ["Keep two endpoints of different operators for each chain."],
  },
  "relayer-endpoint-lagging": {
    checks: [see("Heights of the endpoints:", "doctor", DOCTOR)],
    fix: [
      "Leave it: the relayer prefers the others while it lags.",
      "It does not catch up: replace it, or repair the node when it is yours.",
    ],
    after: ["A proxy in front of several nodes lags when one of them does: use the nodes themselves."],
  },
  "relayer-subscription-down": {
    checks: [
      check(
        "The relayer's log names the endpoint and the reason: `subscription`. A proxy without WebSocket returns 400 or 426 for `/websocket`.",
      ),
      see("Results go on meanwhile:", "queries", QUERIES),
    ],
    fix: [
      "Allow WebSocket at the endpoint or its proxy (`Upgrade` headers, idle timeout of more than a minute).",
      "Name a node of your own first in `chain.rpc`.",
    ],
    after: ["Without the subscription, new queries are seen once a minute."],
  },
  "relayer-state-unknown": {
    checks: [
      see(
        "Which of the two, and why?",
        "ready",
        "account-unknown: the balance of neutron1… is unknown: no response for 3 min (deadline exceeded)",
      ),
      see("Read it by hand:", "doctor", DOCTOR),
    ],
    fix: [
      "The endpoint answers RPC calls and not these queries: it limits or blocks `abci_query`. Use another one.",
    ],
    after: ["Read the expiry of the clients and the balance once by hand."],
  },
  "relayer-starting": {
    checks: [
      see("What is missing?", "ready", "starting: the list of queries was not read yet"),
      see("Which endpoint fails?", "doctor", DOCTOR),
    ],
    fix: [
      "The list of queries is long, and the endpoint slow: give it a minute, or use a faster endpoint.",
      "The chain's module does not exist under this name: compare `chain.name`.",
    ],
    after: ["A start takes seconds. Keep the log when it takes minutes."],
  },
};
