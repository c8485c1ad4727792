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
    impact: "Each start costs seconds: results are late, and conditions are evaluated again.",
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
          "`journalctl -u NAME | grep -E 'exited|fatal'`: the exit code. 1 is fatal with its reason in the last line, 75 asks for another try, 137 was killed, usually for memory.",
        ),
        see("Is it up now?", "watchdogReady", READY),
      ],
      fix: [
        "A busy port: another instance runs. Stop one.",
        "Killed for memory: raise the limit of the service; the dashboard Process has the need.",
        "The same error at each start: go back to the version before.",
      ],
      after: ["State is durable at every moment, so nothing is repaired by hand."],
    },
  },
  {
    name: "relaywatch-event-loop-slow",
    severity: "warning",
    summary: "A daemon's event loop is slow.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }}: one in a hundred turns of the event loop is later than {{ $value | humanizeDuration }}.",
    impact:
      "Polls and results are late by as much. It usually means that the machine has too little CPU or memory.",
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
          "`top` on its machine: another process takes the CPU, or the machine swaps. The dashboard Process shows garbage collection and memory.",
        ),
      ],
      fix: [
        "Move the neighbour, or give the daemon a CPU of its own.",
        "Memory near its limit: raise `--max-old-space-size` or the limit of the service.",
        "Many thousand queries or validators: split them over several processes (`shards`).",
      ],
      after: ["Compare the event loop before and after on the dashboard."],
    },
  },
  {
    name: "relaywatch-rules-failing",
    severity: "critical",
    summary: "Rules of Prometheus fail.",
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
          "The page Status, Rules of Prometheus names the rule and its error. `many-to-many matching` is two series with the same labels: two Prometheus jobs scrape the same target.",
        ),
        check("`promtool check rules *.rules.yaml` for a file that was edited by hand."),
      ],
      fix: [
        "Restore the generated files, and scrape each target in one job.",
        "`query timed out`: Prometheus has too little CPU for the windows of three days.",
      ],
      after: ["Alerts of the failing rules could not fire until then. Read the watchdog's own list."],
    },
  },
  {
    name: "relaywatch-alertmanager-unreachable",
    severity: "critical",
    summary: "Prometheus does not reach Alertmanager.",
    description:
      "Prometheus knows no Alertmanager, or every notification to {{ $labels.alertmanager }} fails.",
    impact: "Alerts of Prometheus reach nobody. Those that the watchdog sends itself still do.",
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
          "Prometheus, Status, Runtime: the list of Alertmanagers. Empty: `alerting.alertmanagers` is wrong. `curl -s http://127.0.0.1:9093/-/ready` on its machine.",
        ),
        see(
          "Alerts of the watchdog reach people without Prometheus:",
          "alerts",
          "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
        ),
      ],
      fix: [
        "Start Alertmanager; `amtool check-config` when it refuses its configuration.",
        "Correct the target in the Prometheus configuration, and reload it.",
      ],
      after: ["Give the watchdog a channel of its own besides Alertmanager for critical alerts."],
    },
  },
  {
    name: "relaywatch-alertmanager-notifications-failing",
    severity: "critical",
    summary: "Alertmanager cannot notify.",
    description: "Notifications by {{ $labels.integration }} fail.",
    impact: "Alerts of this receiver reach nobody.",
    expr: (times) =>
      `sum by (job, instance, integration) (increase(alertmanager_notifications_failed_total[${times("5m")}])) > 0`,
    for: "2m",
    example: {
      fires: [{ series: 'alertmanager_notifications_failed_total{$,integration="webhook"}', step: 4 }],
      clears: [{ series: 'alertmanager_notifications_failed_total{$,integration="webhook"}', step: 0 }],
    },
    runbook: {
      checks: [
        check("Alertmanager's log: `Notify for alerts failed`, with receiver, integration and status."),
      ],
      fix: [
        "401 or 403: renew the secret in its file. Alertmanager reads it at each notification.",
        "404: the webhook or the channel was deleted.",
      ],
      after: ["Send a test alert through every receiver: `amtool alert add test severity=critical`."],
    },
  },
  {
    name: "relaywatch-dead-man",
    severity: "none",
    summary: "Prometheus and Alertmanager work.",
    description: "This alert always fires. Its receiver raises an alarm when it no longer arrives.",
    impact: "None while it arrives. When it does not, no alert arrives.",
    expr: () => "vector(1)",
    for: "0s",
    example: undefined,
    runbook: {
      checks: [
        check(
          "This alert fires always. When its receiver raised an alarm, it did not arrive: Prometheus, Alertmanager or the path to the receiver is down.",
        ),
        see("Does the watchdog itself still work? It notifies without Prometheus.", "watchdogReady", READY),
      ],
      fix: [
        "Start Prometheus, then Alertmanager, and check their disks.",
        "Both run: follow [relaywatch-alertmanager-unreachable](relaywatch-alertmanager-unreachable.md).",
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
