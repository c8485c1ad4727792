import {
  alertNameOf,
  type AlertCase,
  type GroupSpec,
  type SelfAlert,
  type SeriesCase,
} from "./alert-spec.ts";
import { DASHBOARDS, type PanelLink } from "./links.ts";

type Values = Omit<SeriesCase, "series">;

const UNSEEN = "Nobody is notified of problems with the validator or the queries.";
const OURS = "oracle-watchdog|icq-relayer|oracle-node|oracle-sidecar";
const DAEMONS = "and on (job, instance) relaywatch_build_info";

function onProcess(panel: string): PanelLink {
  return { dashboard: DASHBOARDS.process, panel };
}

/** Creates a test case with a single series, whose values are `fires` first and then `clears`. */
function turns(series: string, fires: Values, clears: Values): AlertCase {
  return { fires: [{ series, ...fires }], clears: [{ series, ...clears }] };
}

const DAEMON_ALERTS: readonly SelfAlert[] = [
  {
    name: "relaywatch-target-down",
    cause: onProcess("Targets"),
    severity: "critical",
    summary: "A target does not respond.",
    description: "{{ $labels.job }} at {{ $labels.instance }} could not be scraped for two minutes.",
    impact:
      "While the watchdog is down, it sends no alerts; while the relayer is down, it submits no results. While a node or sidecar is down, the validator misses every block.",
    expr: () => `max by (job, instance) (up{job=~"${OURS}"}) == 0`,
    for: "2m",
    inhibits: ["relaywatch-watchdog-stopped", "relaywatch-source-stale"],
    example: {
      ...turns("up{$}", {}, { from: 1 }),
      onlyPromtool: "Prometheus writes up itself; the test stops a real daemon instead",
    },
  },
  {
    name: "relaywatch-target-missing",
    cause: onProcess("Targets"),
    severity: "warning",
    summary: "A target is no longer scraped.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} was scraped within the last day, but is no longer a target.",
    impact: "None if the target was removed on purpose. Otherwise, no alert about the target can fire.",
    expr: (times) =>
      `group by (job, instance) (last_over_time(up{job=~"${OURS}"}[${times("1d")}])) unless on (job, instance) up`,
    for: "10m",
    example: {
      fires: [],
      clears: [],
      onlyPromtool: "Prometheus writes up itself; the test leaves out a real target instead",
    },
  },
  {
    name: "relaywatch-watchdog-stopped",
    cause: onProcess("Since the last poll and dead-man request"),
    severity: "critical",
    summary: "The watchdog does not poll.",
    description:
      "The watchdog's last poll of {{ $labels.validator }} is {{ $value | humanizeDuration }} old, although its page responds.",
    impact: UNSEEN,
    expr: () =>
      "max by (job, instance, validator) (time() - oracle_watchdog_last_poll_timestamp_seconds) > 120",
    for: "1m",
    example: turns(
      'oracle_watchdog_last_poll_timestamp_seconds{$,validator="default"}',
      { from: -900, clock: true },
      { from: 0, clock: true },
    ),
  },
  {
    name: "relaywatch-source-stale",
    cause: { dashboard: DASHBOARDS.fleet, panel: "Age of the last poll and of each source" },
    severity: "warning",
    summary: "The watchdog cannot see a source.",
    description:
      "The last successful scrape of {{ $labels.source }} for {{ $labels.validator }} is {{ $value | humanizeDuration }} old.",
    impact:
      "The watchdog cannot evaluate the conditions that need this source. Once the node's page is back, the watchdog counts the missing blocks.",
    expr: () =>
      "max by (job, instance, validator, node, source) (time() - oracle_watchdog_source_last_success_timestamp_seconds) > 900",
    for: "1m",
    example: turns(
      'oracle_watchdog_source_last_success_timestamp_seconds{$,validator="default",node="node",source="node"}',
      { from: -3600, clock: true },
      { from: 0, clock: true },
    ),
  },
  {
    name: "relaywatch-state-not-stored",
    cause: onProcess("Configuration, state and clock"),
    severity: "warning",
    summary: "The watchdog is not storing its state.",
    description:
      "{{ $labels.job }} at {{ $labels.instance }} could not write its state file for more than half of the last 10 minutes. The watchdog keeps the state in memory.",
    impact:
      "Polls and alerts continue, but the watchdog sends no dead-man requests and refuses silences. If it stops before the disk works again, it loses all changes since its last successful write: alerts can notify twice, and some blocks can become unknown.",
    // Use an average: a disk that fails intermittently would reset the `for` time at each success.
    expr: (times) =>
      `min by (job, instance) (avg_over_time(oracle_watchdog_state_stored[${times("10m")}])) < 0.5`,
    for: "2m",
    inhibits: ["relaywatch-dead-man-ping-failing"],
    example: turns("oracle_watchdog_state_stored{$}", {}, { from: 1 }),
  },
  {
    name: "relaywatch-notifications-failing",
    cause: onProcess("Attempts"),
    severity: "critical",
    summary: "The watchdog's notifications fail.",
    description: "Every attempt in the last 10 minutes to notify {{ $labels.channel }} failed.",
    impact: UNSEEN,
    expr: (times) => {
      const attempts = (outcome: string): string =>
        `sum by (job, instance, channel) (increase(oracle_watchdog_notification_attempts_total{outcome${outcome}}[${times("10m")}])) > 0`;
      return `${attempts('=~"failed|rejected|expired"')} unless ${attempts('="delivered"')}`;
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
  },
  {
    name: "relaywatch-notifications-pending",
    cause: onProcess("Pending and given up"),
    severity: "warning",
    summary: "A channel does not accept the watchdog's notifications.",
    description:
      "{{ $value }} notifications for {{ $labels.channel }} are pending: the receiver has not accepted them.",
    impact: "The pending alerts reach nobody on this channel until it accepts them.",
    expr: () => "max by (job, instance, channel) (oracle_watchdog_pending_notifications) > 0",
    for: "10m",
    example: turns('oracle_watchdog_pending_notifications{$,channel="chat"}', { from: 3 }, { from: 0 }),
  },
  {
    name: "relaywatch-dead-man-ping-failing",
    cause: onProcess("Since the last poll and dead-man request"),
    severity: "warning",
    summary: "The dead-man monitor receives no requests.",
    description: "The monitor last accepted a request from the watchdog {{ $value | humanizeDuration }} ago.",
    impact:
      "The monitor raises its own alarm. While that alarm is active, nobody notices if the watchdog dies.",
    expr: () =>
      "max by (job, instance) (time() - oracle_watchdog_dead_man_ping_timestamp_seconds) > 900 and on (job, instance) oracle_watchdog_dead_man_ping_timestamp_seconds > 0",
    for: "1m",
    example: {
      ...turns(
        "oracle_watchdog_dead_man_ping_timestamp_seconds{$}",
        { from: 1, step: 1 },
        { from: 0, clock: true },
      ),
      trueAfter: "30m",
    },
  },
];

/** Alerts about processes, Prometheus and Alertmanager. */
const PROGRAM_ALERTS: readonly SelfAlert[] = [
  {
    name: "relaywatch-restarting",
    cause: onProcess("Uptime"),
    severity: "warning",
    summary: "A daemon keeps restarting.",
    description: "{{ $labels.job }} at {{ $labels.instance }} started {{ $value }} times in 15 minutes.",
    impact:
      "Each start takes seconds, during which the relayer submits no results and the watchdog does not poll.",
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
  },
  {
    name: "relaywatch-event-loop-slow",
    cause: onProcess("Event loop"),
    severity: "warning",
    summary: "A daemon's event loop is slow.",
    description:
      "In {{ $labels.job }} at {{ $labels.instance }}, one event-loop iteration in a hundred is more than {{ $value | humanizeDuration }} late.",
    impact:
      "Polls and results are late by the same amount of time. Usually the machine has too little CPU or memory.",
    expr: () => `nodejs_eventloop_lag_p99_seconds > 1 ${DAEMONS}`,
    for: "5m",
    example: {
      fires: [
        { series: "nodejs_eventloop_lag_p99_seconds{$}", from: 4 },
        { series: "relaywatch_build_info{$}", from: 1 },
      ],
      clears: [{ series: "nodejs_eventloop_lag_p99_seconds{$}", from: 0.01 }],
    },
  },
  {
    name: "relaywatch-rules-failing",
    cause: onProcess("Prometheus and Alertmanager"),
    severity: "critical",
    summary: "Prometheus cannot evaluate rules.",
    description: "Prometheus could not evaluate rules in {{ $labels.rule_group }}.",
    impact: UNSEEN,
    expr: (times) =>
      `sum by (job, instance, rule_group) (increase(prometheus_rule_evaluation_failures_total[${times("5m")}])) > 0`,
    for: "1m",
    example: turns('prometheus_rule_evaluation_failures_total{$,rule_group="a"}', { step: 4 }, { step: 0 }),
  },
  {
    name: "relaywatch-alertmanager-unreachable",
    cause: onProcess("Prometheus and Alertmanager"),
    severity: "critical",
    summary: "Prometheus cannot reach Alertmanager.",
    description: "{{ $labels.instance }} has found no Alertmanager, or its notifications fail.",
    impact: "Nobody receives alerts from Prometheus. The watchdog still sends its own alerts.",
    expr: (times) =>
      [
        "max by (job, instance) (prometheus_notifications_alertmanagers_discovered) < 1",
        `or sum by (job, instance) (increase(prometheus_notifications_errors_total[${times("5m")}])) > 0`,
      ].join("\n"),
    for: "2m",
    example: turns("prometheus_notifications_alertmanagers_discovered{$}", {}, { from: 1 }),
  },
  {
    name: "relaywatch-alertmanager-notifications-failing",
    cause: onProcess("Prometheus and Alertmanager"),
    severity: "critical",
    summary: "Alertmanager cannot notify.",
    description: "Notifications through {{ $labels.integration }} fail.",
    impact: "Nobody receives alerts through this integration.",
    expr: (times) =>
      `sum by (job, instance, integration) (increase(alertmanager_notifications_failed_total[${times("5m")}])) > 0`,
    for: "2m",
    example: turns(
      'alertmanager_notifications_failed_total{$,integration="webhook"}',
      { step: 4 },
      { step: 0 },
    ),
  },
  {
    name: "relaywatch-dead-man",
    cause: onProcess("Prometheus and Alertmanager"),
    severity: "none",
    summary: "Prometheus and Alertmanager work.",
    description: "This alert always fires. If the alert stops arriving, its receiver raises an alarm.",
    impact: "None while this alert arrives. If it does not arrive, no other alert arrives either.",
    expr: () => "vector(1)",
    for: "0s",
    example: undefined,
  },
];

/** Rule group with the alerts about the daemons themselves, Prometheus and Alertmanager. */
export const SELF_GROUP: GroupSpec = {
  name: "relaywatch.alerts",
  records: [],
  alerts: [...DAEMON_ALERTS, ...PROGRAM_ALERTS].map((alert) => ({
    ...alert,
    alert: alertNameOf(alert.name),
    component: "relaywatch",
    inhibits: alert.inhibits ?? [],
    scope: ["job", "instance"],
  })),
};
