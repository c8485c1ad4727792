import { alertNameOf, type GroupSpec, type SelfAlert } from "./alert-spec.ts";
import { DAEMON_ALERTS } from "./daemon-alerts.ts";
import { DASHBOARDS } from "./links.ts";
import { check, see } from "./runbook-spec.ts";

const UNSEEN = "Nobody is notified of problems with the validator or the queries.";
const DAEMONS = "and on (job, instance) relaywatch_build_info";
const READY = "ok";

/** Alerts about processes, Prometheus and Alertmanager. */
const PROGRAM_ALERTS: readonly SelfAlert[] = [
  {
    name: "relaywatch-restarting",
    severity: "warning",
    summary: "A daemon restarts again and again.",
    description: "{{ $labels.job }} at {{ $labels.instance }} started {{ $value }} times in 15 minutes.",
    impact:
      "Each start takes seconds, in which the relayer submits no result and the watchdog does not poll.",
    expr: (times) => `changes(process_start_time_seconds[${times("15m")}]) > 2 ${DAEMONS}`,
    for: "0s",
    example: {
      fires: [
        { series: "process_start_time_seconds{$}", from: 100, step: 60 },
        { series: "relaywatch_build_info{$}", from: 1 },
      ],
      clears: [{ series: "process_start_time_seconds{$}", step: 0 }],
      resolves: "20m",
    },
    runbook: {
      checks: [
        check(
          "`journalctl -u NAME | grep -E 'exited|fatal'`: read the exit code. 1: a fatal error, with the reason in the last line. 75: a temporary error. 137: killed, usually for lack of memory.",
        ),
        see("Is it up now?", "watchdogReady", READY),
      ],
      fix: [
        "If the port is in use, stop the other instance.",
        "If it was killed for lack of memory, raise the service's limit: the dashboard Process shows the memory that it needs.",
        "If each start ends with the same error, go back to the previous version.",
      ],
      after: ["You need not repair any state: each daemon continues from its stored state."],
    },
  },
  {
    name: "relaywatch-event-loop-slow",
    severity: "warning",
    summary: "A daemon's event loop is slow.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }}: one iteration of the event loop in a hundred is more than {{ $value | humanizeDuration }} late.",
    impact: "Polls and results are late by the same time. Usually the machine has too little CPU or memory.",
    expr: () => `nodejs_eventloop_lag_p99_seconds > 1 ${DAEMONS}`,
    for: "5m",
    example: {
      fires: [
        { series: "nodejs_eventloop_lag_p99_seconds{$}", from: 4 },
        { series: "relaywatch_build_info{$}", from: 1 },
      ],
      clears: [{ series: "nodejs_eventloop_lag_p99_seconds{$}", from: 0.01 }],
    },
    runbook: {
      checks: [
        check(
          "Run `top` on its machine: does another process use the CPU, or does the machine swap? The dashboard Process shows garbage collection and memory.",
        ),
      ],
      fix: [
        "Move the other process, or give the daemon its own CPU.",
        "If memory is near its limit, raise `--max-old-space-size` or the service's limit.",
        "With many thousand queries or validators, split them over several processes (`shards`).",
      ],
      after: ["On the dashboard, compare the event loop's delay before and after."],
    },
  },
  {
    name: "relaywatch-rules-failing",
    severity: "critical",
    summary: "Prometheus cannot evaluate rules.",
    description: "Prometheus could not evaluate rules of {{ $labels.rule_group }}.",
    impact: UNSEEN,
    expr: (times) =>
      `sum by (job, instance, rule_group) (increase(prometheus_rule_evaluation_failures_total[${times("5m")}])) > 0`,
    for: "1m",
    example: {
      fires: [{ series: 'prometheus_rule_evaluation_failures_total{$,rule_group="a"}', step: 4 }],
      clears: [{ series: 'prometheus_rule_evaluation_failures_total{$,rule_group="a"}', step: 0 }],
    },
    runbook: {
      checks: [
        check(
          "Open Status, Rules in Prometheus: it shows the rule and its error. `many-to-many matching` means two series with the same labels: two Prometheus jobs scrape the same target.",
        ),
        check("If somebody edited a file by hand, run `promtool check rules *.rules.yaml`."),
      ],
      fix: [
        "Restore the generated files, and scrape each target in one job.",
        "After `query timed out`, give Prometheus more CPU: the windows of three days need it.",
      ],
      after: [
        "Alerts of the failing rules could not fire during this time. Read the watchdog's own list of alerts.",
      ],
    },
  },
  {
    name: "relaywatch-alertmanager-unreachable",
    severity: "critical",
    summary: "Prometheus cannot reach Alertmanager.",
    description:
      "Prometheus knows no Alertmanager, or every notification to {{ $labels.alertmanager }} fails.",
    impact: "Nobody receives Prometheus' alerts. The watchdog still sends its own.",
    expr: (times) =>
      [
        "max by (job, instance) (prometheus_notifications_alertmanagers_discovered) < 1",
        `or sum by (job, instance, alertmanager) (increase(prometheus_notifications_errors_total[${times("5m")}])) > 0`,
      ].join("\n"),
    for: "2m",
    example: {
      fires: [{ series: "prometheus_notifications_alertmanagers_discovered{$}" }],
      clears: [{ series: "prometheus_notifications_alertmanagers_discovered{$}", from: 1 }],
    },
    runbook: {
      checks: [
        check(
          "Open Status, Runtime in Prometheus. If its list of Alertmanagers is empty, `alerting.alertmanagers` is wrong. Otherwise run `curl -s http://127.0.0.1:9093/-/ready` on Alertmanager's machine.",
        ),
        see(
          "Read the watchdog's own alerts, which do not need Prometheus:",
          "alerts",
          "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
        ),
      ],
      fix: [
        "Start Alertmanager. If it refuses its configuration, run `amtool check-config`.",
        "Correct the target in the Prometheus configuration, and reload it.",
      ],
      after: ["For critical alerts, give the watchdog its own channel besides Alertmanager."],
    },
  },
  {
    name: "relaywatch-alertmanager-notifications-failing",
    severity: "critical",
    summary: "Alertmanager cannot notify.",
    description: "Notifications by {{ $labels.integration }} fail.",
    impact: "Nobody receives the alerts of this integration.",
    expr: (times) =>
      `sum by (job, instance, integration) (increase(alertmanager_notifications_failed_total[${times("5m")}])) > 0`,
    for: "2m",
    example: {
      fires: [{ series: 'alertmanager_notifications_failed_total{$,integration="webhook"}', step: 4 }],
      clears: [{ series: 'alertmanager_notifications_failed_total{$,integration="webhook"}', step: 0 }],
    },
    runbook: {
      checks: [
        check(
          "Search Alertmanager's log for `Notify for alerts failed`: it has receiver, integration and status.",
        ),
      ],
      fix: [
        "After HTTP 401 or 403, renew the secret in its file. Alertmanager reads it at each notification.",
        "After HTTP 404, create the webhook or the channel again: somebody deleted it.",
      ],
      after: ["Send a test alert through every receiver: `amtool alert add test severity=critical`."],
    },
  },
  {
    name: "relaywatch-dead-man",
    severity: "none",
    summary: "Prometheus and Alertmanager work.",
    description: "This alert always fires. Its receiver raises an alarm when it no longer arrives.",
    impact: "None while it arrives. When it does not arrive, no other alert does.",
    expr: () => "vector(1)",
    for: "0s",
    example: undefined,
    runbook: {
      checks: [
        check(
          "If the receiver raised an alarm, this alert did not arrive: Prometheus, Alertmanager or the network path to the receiver is down. Check them in this order.",
        ),
        see("Does the watchdog itself still work? It notifies without Prometheus.", "watchdogReady", READY),
      ],
      fix: [
        "Start Prometheus, then Alertmanager, and check their disks.",
        "If both run, follow [relaywatch-alertmanager-unreachable](relaywatch-alertmanager-unreachable.md).",
      ],
      after: ["Use a receiver that is not on the same machine, and not in the same network."],
    },
  },
];

/** Alerts about the monitoring itself. */
export const SELF_GROUP: GroupSpec = {
  name: "relaywatch.alerts",
  records: [],
  alerts: [...DAEMON_ALERTS, ...PROGRAM_ALERTS].map((alert) => ({
    ...alert,
    alert: alertNameOf(alert.name),
    component: "relaywatch",
    dashboard: DASHBOARDS.process,
    inhibits: alert.inhibits ?? [],
    scope: ["job", "instance"],
  })),
};
