import { check, see } from "./runbook-spec.ts";
import type { SelfAlert } from "./alert-spec.ts";

const OURS = "oracle-watchdog|icq-relayer|oracle-node|oracle-sidecar";
const UNSEEN = "Nobody is notified of problems with the validator or the queries.";
const READY = "ok";
const TEST = "chat  slack  delivered";
const POLL = 'oracle_watchdog_last_poll_timestamp_seconds{validator="default"} 1795326818.2';
const STATUS_NOT_STORED =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nWatchdog: the state is not stored since 2026-11-22T03:12:09.000Z: database or disk is full. It is in memory only: repair the disk before anybody restarts the watchdog.\n\nValidator      Month  Tier   Pay  Full pay is lost after an outage of  All pay is lost after an outage of";

/** Alerts about the daemons and their notifications. */
export const DAEMON_ALERTS: readonly SelfAlert[] = [
  {
    name: "relaywatch-target-down",
    severity: "critical",
    summary: "A target does not respond.",
    description: "{{ $labels.job }} at {{ $labels.instance }} could not be scraped for two minutes.",
    impact:
      "While the watchdog is down it sends no alert, and while the relayer is down it submits no result. While a node or sidecar is down, the validator misses every block.",
    expr: () => `max by (job, instance) (up{job=~"${OURS}"}) == 0`,
    for: "2m",
    inhibits: ["relaywatch-watchdog-stopped", "relaywatch-source-stale"],
    example: {
      fires: [{ series: "up{$}" }],
      clears: [{ series: "up{$}", from: 1 }],
      onlyPromtool: "Prometheus writes up itself; the test stops a real daemon instead",
    },
    runbook: {
      checks: [
        see("On the watchdog's machine. No output and exit code 7: it does not run.", "watchdogReady", READY),
        see("On the relayer's machine, the same:", "ready", READY),
        check(
          "`systemctl status oracle-watchdog icq-relayer`: exit code 78 is a configuration error, after which systemd does not restart the daemon; after 75 it does.",
        ),
      ],
      fix: [
        "Read the last log lines of the stopped daemon, then start it: `systemctl restart NAME`.",
        "After exit code 78, run `relaywatch config validate FILE`: it prints every error with its line.",
        "If it runs but Prometheus cannot reach it, set `http.listen`: by default the daemons listen on loopback.",
      ],
      after: [
        "The watchdog counts the blocks of its downtime from the node's counters. The relayer submits results of the queries that became due.",
      ],
    },
  },
  {
    name: "relaywatch-target-missing",
    severity: "warning",
    summary: "A target is no longer scraped.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} was scraped within the last day, and is not a target any more.",
    impact: "None when it was removed on purpose. Otherwise alerts about it cannot fire.",
    expr: (times) =>
      `group by (job, instance) (last_over_time(up{job=~"${OURS}"}[${times("1d")}])) unless on (job, instance) up`,
    for: "10m",
    example: {
      fires: [],
      clears: [],
      onlyPromtool: "Prometheus writes up itself; the test leaves out a real target instead",
    },
    runbook: {
      checks: [
        check(
          "Was the target removed on purpose? `git log` of the Prometheus configuration, and the page Status, Targets of Prometheus.",
        ),
      ],
      fix: [
        "Put it back, and reload Prometheus: `curl -X POST http://127.0.0.1:9090/-/reload`.",
        "If it was removed on purpose, silence the alert. It is resolved a day after the last scrape.",
      ],
      after: ["After a removal on purpose, no alert about this target can fire any more."],
    },
  },
  {
    name: "relaywatch-watchdog-stopped",
    severity: "critical",
    summary: "The watchdog does not poll.",
    description:
      "The watchdog's last poll of {{ $labels.validator }} is {{ $value | humanizeDuration }} old, although its page responds.",
    impact: UNSEEN,
    expr: () =>
      "max by (job, instance, validator) (time() - oracle_watchdog_last_poll_timestamp_seconds) > 120",
    for: "1m",
    example: {
      fires: [
        {
          series: 'oracle_watchdog_last_poll_timestamp_seconds{$,validator="default"}',
          from: -900,
          clock: true,
        },
      ],
      clears: [
        {
          series: 'oracle_watchdog_last_poll_timestamp_seconds{$,validator="default"}',
          from: 0,
          clock: true,
        },
      ],
    },
    runbook: {
      checks: [
        see("The time of the last poll, in seconds since 1970. Compare with `date +%s`.", "attempts", POLL),
        see("Does the watchdog know why?", "watchdogReady", "polling: the last poll is 3 min old"),
      ],
      fix: [
        "Restart the watchdog. With `state_dir`, it continues to count without a gap.",
        "`relaywatch status` shows whether its state is stored. If a disk hangs, such as a network disk, repair it first: it blocks the polls.",
        "If it stops again, save the log, and run a second watchdog until you have found the cause.",
      ],
      after: [
        "Configure the supervisor to restart it when `/livez` fails.",
        "Configure `notify.dead_man`: it detects this without Prometheus.",
      ],
    },
  },
  {
    name: "relaywatch-source-stale",
    severity: "warning",
    summary: "The watchdog cannot see a source.",
    description:
      "The last successful scrape of {{ $labels.source }} for {{ $labels.validator }} is {{ $value | humanizeDuration }} old.",
    impact:
      "The watchdog cannot evaluate the conditions that need this source. It counts the missing blocks when the node's page is back.",
    expr: () =>
      "max by (job, instance, validator, node, source) (time() - oracle_watchdog_source_last_success_timestamp_seconds) > 900",
    for: "1m",
    example: {
      fires: [
        {
          series:
            'oracle_watchdog_source_last_success_timestamp_seconds{$,validator="default",node="node",source="node"}',
          from: -3600,
          clock: true,
        },
      ],
      clears: [
        {
          series:
            'oracle_watchdog_source_last_success_timestamp_seconds{$,validator="default",node="node",source="node"}',
          from: 0,
          clock: true,
        },
      ],
    },
    runbook: {
      checks: [
        see(
          "Which source?",
          "watchdogMetrics",
          'oracle_watchdog_source_up{validator="default",node="node",source="prices"} 0',
        ),
        see(
          "Its error, and since when:",
          "status",
          "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator  Month  Tier  Pay  Full pay is lost after an outage of  All pay is lost after an outage of\n\nCannot see: sidecar prices  default  warning  firing  2026-11-22 05:54  connection refused",
        ),
      ],
      fix: [
        "Follow the runbook of the source: [node](cannot-see-node.md), [prices](cannot-see-prices.md), [sidecar metrics](cannot-see-sidecar-metrics.md), [chain](cannot-see-chain.md).",
        "If you do not have this source, set it to null.",
      ],
      after: ["If you also alert on `cannot-see-…`, you can silence one of the two."],
    },
  },
  {
    name: "relaywatch-state-not-stored",
    severity: "warning",
    summary: "The watchdog does not store its state.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} could not write its state file for more than half of the last 10 minutes. It continues in memory.",
    impact:
      "Polls and alerts continue, but the watchdog sends no dead-man requests and refuses silences. If it ends before the disk works again, it loses all changes since then: alerts can notify twice, and some blocks can become unknown.",
    // A disk that fails now and then never fails for long.
    expr: (times) =>
      `min by (job, instance) (avg_over_time(oracle_watchdog_state_stored[${times("10m")}])) < 0.5`,
    for: "2m",
    inhibits: ["relaywatch-dead-man-ping-failing"],
    example: {
      fires: [{ series: "oracle_watchdog_state_stored{$}" }],
      clears: [{ series: "oracle_watchdog_state_stored{$}", from: 1 }],
    },
    runbook: {
      checks: [
        see("Since when, and why?", "status", STATUS_NOT_STORED),
        check(
          "On its machine: `df -h` and `df -i` of `state_dir` (full?), `dmesg | tail` (disk errors, a file system that became read-only), `mount` (is the disk still there?).",
        ),
      ],
      fix: [
        "If the disk is full, free space. The watchdog tries again at least every 30 s and then stores everything that is in memory, without a restart.",
        "Do not restart the watchdog before it has stored its state: only its memory has the latest changes.",
        "If the disk is read-only or has errors, repair it, and mount it at the same path. The watchdog does not create a new file when the old one is gone.",
        "If the file cannot be recovered, copy the rest of `state_dir`, and then restart the watchdog with a new directory. It begins with a first reading, so the earlier part of the month is an estimate.",
      ],
      after: [
        "Check that `relaywatch status` no longer shows the line, and that the log has `state stored again`.",
        "Give `state_dir` a disk that no other program fills, and alert on its free space.",
      ],
    },
  },
  {
    name: "relaywatch-notifications-failing",
    severity: "critical",
    summary: "The watchdog's notifications fail.",
    description: "Every attempt of the last 10 minutes to notify {{ $labels.channel }} failed.",
    impact: UNSEEN,
    expr: (times) => {
      const attempts = (outcome: string): string =>
        `sum by (job, instance, channel) (increase(oracle_watchdog_notification_attempts_total{outcome=~"${outcome}"}[${times("10m")}])) > 0`;
      return `${attempts("failed|rejected|expired")} unless ${attempts("delivered")}`;
    },
    for: "2m",
    example: {
      fires: [
        { series: 'oracle_watchdog_notification_attempts_total{$,channel="chat",outcome="failed"}', step: 4 },
        {
          series: 'oracle_watchdog_notification_attempts_total{$,channel="chat",outcome="delivered"}',
          from: 9,
        },
      ],
      clears: [
        {
          series: 'oracle_watchdog_notification_attempts_total{$,channel="chat",outcome="delivered"}',
          step: 4,
        },
      ],
    },
    runbook: {
      checks: [
        see(
          "Send a test to every channel, and read the error:",
          "alertsTest",
          TEST.replace("delivered", "failed: HTTP 403"),
        ),
        check(
          "Search the watchdog's log for `notification failed`: it has the channel and the reason, and no secrets.",
        ),
      ],
      fix: [
        "After HTTP 401 or 403, put a new token into its file, and restart the watchdog: the old one was revoked.",
        "After timeouts, check the machine's proxy and firewall.",
        "Until it works, check the watchdog's page yourself, or add a second channel.",
      ],
      after: [
        "The watchdog now delivers the queued notifications of the last day, oldest first.",
        "Use two channels of different companies for critical alerts.",
      ],
    },
  },
  {
    name: "relaywatch-notifications-pending",
    severity: "warning",
    summary: "A channel does not accept the watchdog's notifications.",
    description:
      "{{ $value }} notifications for {{ $labels.channel }} are pending: the receiver has not accepted them.",
    impact: "These alerts reach nobody on this channel until it accepts them.",
    expr: () => "max by (job, instance, channel) (oracle_watchdog_pending_notifications) > 0",
    for: "10m",
    example: {
      fires: [{ series: 'oracle_watchdog_pending_notifications{$,channel="chat"}', from: 3 }],
      clears: [{ series: 'oracle_watchdog_pending_notifications{$,channel="chat"}', from: 0 }],
    },
    runbook: {
      checks: [
        see("Which channel does not accept?", "alertsTest", TEST.replace("delivered", "failed: HTTP 429")),
        see(
          "Which alerts are pending?",
          "alerts",
          "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
        ),
      ],
      fix: [
        "After HTTP 429, wait: the watchdog sends again when the receiver permits it. If this happens often, raise the channel's `min_severity`.",
        "After any other error, follow [relaywatch-notifications-failing](relaywatch-notifications-failing.md).",
      ],
      after: [
        "The watchdog drops notifications older than a day. Read the alerts of that time in the handover report.",
      ],
    },
  },
  {
    name: "relaywatch-dead-man-ping-failing",
    severity: "warning",
    summary: "The dead-man monitor receives no request.",
    description: "The monitor last accepted a request of the watchdog {{ $value | humanizeDuration }} ago.",
    impact:
      "The monitor raises its own alarm. While that alarm is active, nobody notices when the watchdog dies.",
    expr: () =>
      "max by (job, instance) (time() - oracle_watchdog_dead_man_ping_timestamp_seconds) > 900 and on (job, instance) oracle_watchdog_dead_man_ping_timestamp_seconds > 0",
    for: "1m",
    example: {
      fires: [{ series: "oracle_watchdog_dead_man_ping_timestamp_seconds{$}", from: 1, step: 1 }],
      clears: [{ series: "oracle_watchdog_dead_man_ping_timestamp_seconds{$}", from: 0, clock: true }],
      trueAfter: "30m",
    },
    runbook: {
      checks: [
        see("Does the watchdog poll? It sends no request when it does not.", "attempts", POLL),
        check(
          "From its machine: `curl -sI` the URL of `notify.dead_man`. HTTP 404: somebody deleted the check at the monitor.",
        ),
      ],
      fix: [
        "Restore the network path to the monitor, or create its check again and put the new URL into the secret file.",
      ],
      after: ["Test it: stop the watchdog for longer than the monitor's grace time, and wait for the alarm."],
    },
  },
];
