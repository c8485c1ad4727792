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
      "A daemon that is down does nothing: no alert of the watchdog, no result of the relayer. A node or sidecar that is down misses every block.",
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
        see(
          "The watchdog, on its machine. No output and exit code 7: it does not run.",
          "watchdogReady",
          READY,
        ),
        see("The relayer, the same:", "ready", READY),
        check(
          "`systemctl status oracle-watchdog icq-relayer`: exit code 78 is a bad configuration and is not restarted, 75 is restarted.",
        ),
      ],
      fix: [
        "Start what has stopped: `systemctl restart NAME`, and read its last lines first.",
        "78: `relaywatch config validate FILE` prints every error with its line.",
        "It runs and Prometheus does not reach it: the daemons listen on loopback unless `http.listen` is set.",
      ],
      after: [
        "The watchdog counts the blocks of its downtime from the node's counters. The relayer answers the queries that became due.",
      ],
    },
  },
  {
    name: "relaywatch-target-missing",
    severity: "warning",
    summary: "A target is no longer scraped.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} was scraped within the last day, and is not a target any more.",
    impact: "None when it was removed on purpose. Otherwise its alerts cannot fire.",
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
        "On purpose: the alert ends a day after the last scrape. Silence it until then.",
      ],
      after: ["Rules about it can no longer fire: remove it from the dashboards' variables too."],
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
        "Restart it. With `state_dir`, counting continues without a gap.",
        "`relaywatch status` shows whether its state is stored. A disk that hangs, such as a network disk, blocks the polls: repair it first.",
        "It stops again: save the log, and run a second watchdog until the cause is found.",
      ],
      after: [
        "Let the supervisor restart on `/livez`.",
        "Configure `notify.dead_man`: it notices this without Prometheus.",
      ],
    },
  },
  {
    name: "relaywatch-source-stale",
    severity: "warning",
    summary: "The watchdog cannot see a source.",
    description:
      "The last successful scrape of {{ $labels.source }} for {{ $labels.validator }} is {{ $value | humanizeDuration }} old.",
    impact: "Conditions of this source cannot be seen. Blocks are counted when the node's page is back.",
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
        "Follow the runbook of that source: [node](cannot-see-node.md), [prices](cannot-see-prices.md), [sidecar metrics](cannot-see-sidecar-metrics.md), [chain](cannot-see-chain.md).",
        "You do not have this source: set it to null.",
      ],
      after: ["An installation that alerts on this and on `cannot-see-…` may silence one of them."],
    },
  },
  {
    name: "relaywatch-state-not-stored",
    severity: "warning",
    summary: "The watchdog does not store its state.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} could not write its state file for more than half of the last 10 minutes. It goes on in memory.",
    impact:
      "Polls and alerts go on, and dead-man requests stop. When the watchdog ends before the disk works again, what came since is lost: alerts can notify twice, and blocks that the node has not counted either are unknown. Silences are refused.",
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
        "Full: free space. The watchdog tries again at least every 30 s, and stores everything that is in memory. No restart is needed.",
        "Do not restart the watchdog before it stores again: memory is the only place that has what came since.",
        "Read-only, or an error of the disk: repair or mount it at the same place again. The watchdog does not create a new file when the old one is gone.",
        "The file cannot be saved any more: copy what is left of `state_dir`, and then restart the watchdog with a new one. It begins with a first reading, so the month before it is an estimate.",
      ],
      after: [
        "`relaywatch status` does not show the line any more, and the log has `state stored again`.",
        "Give `state_dir` a disk that nothing else fills, and alert on its free space.",
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
        check("The watchdog's log: `notification failed` with channel and reason. Secrets are not in it."),
      ],
      fix: [
        "401 or 403: the token was revoked. Put the new one into its file, and restart the watchdog.",
        "Timeouts: the proxy or the firewall of the machine.",
        "Until it works, look at the page yourself, or add a second channel.",
      ],
      after: [
        "What was queued for a day at most is delivered now, oldest first.",
        "Use two channels of different companies for critical alerts.",
      ],
    },
  },
  {
    name: "relaywatch-notifications-pending",
    severity: "warning",
    summary: "Notifications of the watchdog are not accepted.",
    description: "{{ $value }} notifications for {{ $labels.channel }} wait for their receiver.",
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
          "What is it about?",
          "alerts",
          "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
        ),
      ],
      fix: [
        "429: the receiver limits you. The watchdog waits for the time that the receiver requests; raise `min_severity` of the channel when that happens often.",
        "An error of the receiver: see [relaywatch-notifications-failing](relaywatch-notifications-failing.md).",
      ],
      after: [
        "Notifications older than a day are dropped. Read the alerts of that time in the handover report.",
      ],
    },
  },
  {
    name: "relaywatch-dead-man-ping-failing",
    severity: "warning",
    summary: "The dead-man monitor gets no request.",
    description: "The monitor accepted the watchdog's last request {{ $value | humanizeDuration }} ago.",
    impact: "The monitor will raise its own alarm. When the watchdog then dies, that alarm does not show it.",
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
          "From its machine: `curl -sI` the URL of `notify.dead_man`. 404 means that the check was deleted at the monitor.",
        ),
      ],
      fix: [
        "Restore the path to the monitor, or create its check again and put the new URL into the secret file.",
      ],
      after: ["Test it: stop the watchdog for longer than the monitor's grace time, and expect its alarm."],
    },
  },
];
