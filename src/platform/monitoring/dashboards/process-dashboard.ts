import { DASHBOARDS } from "../alerts/links.ts";
import {
  type DashboardSpec,
  graph,
  PROCESSES,
  processVariables,
  query,
  restartsOf,
  ruleAlerts,
  type StateSpec,
  table,
  timeline,
  upOrDown,
} from "./panel-spec.ts";

const W = "oracle_watchdog";
const NO_CHANNEL = "No channel is configured";
/** Matches the reload metrics of all daemons that can reload their configuration. */
const CONFIG = `__name__=~"(relaywatch_relayer|${W})_config_last_reload`;

/** State numbers for a timeline with three rows (configuration, state file, clock), each of which uses its own numbers. */
const STORED: readonly StateSpec[] = [
  [0, "reload failed, previous settings in use", "red"],
  [1, "loaded", "green"],
  [2, "not stored", "red"],
  [3, "stored", "green"],
  [4, "not believed", "red"],
  [5, "believed", "green"],
];

export const PROCESS: DashboardSpec = {
  uid: DASHBOARDS.process,
  pages: ["watchdog", "relayer", "localnet"],
  file: "process.json",
  title: "Process",
  description: "Shows the daemons' processor, memory and event loop, and whether notifications arrive.",
  variables: processVariables("relaywatch_build_info"),
  range: "hours",
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component="relaywatch",alertstate="firing",alertname!="RelaywatchDeadMan"}',
  rows: [
    {
      title: "Is it running?",
      panels: [
        table(
          "Daemons",
          [
            `sort(max by (job, instance) (up{${PROCESSES}}))`,
            `max by (job, instance, program, version) (relaywatch_build_info{${PROCESSES}})`,
            `max by (job, instance) (process_start_time_seconds{${PROCESSES}}) * 1000`,
            `max by (job, instance) ({${CONFIG}_success_timestamp_seconds",${PROCESSES}}) * 1000`,
          ],
          {
            description:
              "Shows whether Prometheus can scrape each daemon (failing daemons first), the daemon's version, and when it started.",
            unit: "none",
            height: 7,
            columns: [
              { label: "job", title: "Job" },
              { label: "instance", title: "Instance" },
              { label: "Value #A", title: "Scrape", states: upOrDown("up", "down") },
              { label: "program", title: "Program" },
              { label: "version", title: "Version" },
              { label: "Value #C", title: "Started", unit: "dateTimeFromNow" },
              { label: "Value #D", title: "Configuration loaded", unit: "dateTimeFromNow" },
            ],
          },
        ),
        ruleAlerts('component="relaywatch",alertname!="RelaywatchDeadMan"', [
          { label: "job", title: "Job", width: 150 },
          { label: "instance", title: "Instance", width: 150 },
        ]),
      ],
    },
    {
      title: "Do notifications arrive?",
      panels: [
        timeline("Targets", [query(`max by (job, instance) (up{${PROCESSES}})`, "{{job}} {{instance}}")], {
          description:
            "Shows whether Prometheus could scrape each daemon. Blank means that the daemon is not a target.",
          states: upOrDown("up", "down"),
        }),
        timeline(
          "Configuration, state and clock",
          [
            query(`min by (instance) ({${CONFIG}_successful",${PROCESSES}})`, "configuration {{instance}}"),
            query(`2 + min by (instance) (${W}_state_stored{${PROCESSES}})`, "state {{instance}}"),
            query(`4 + min by (instance) (${W}_clock_believed{${PROCESSES}})`, "clock {{instance}}"),
          ],
          {
            description:
              "Shows whether the last reload succeeded, whether the watchdog can write its state file, and whether it trusts its machine's clock.",
            states: STORED,
          },
        ),
        graph(
          "Attempts",
          [
            query(
              `sum by (instance, channel, outcome) (rate(${W}_notification_attempts_total{${PROCESSES}}[$__rate_interval]))`,
              "{{outcome}} {{channel}} {{instance}}",
            ),
          ],
          {
            description: "The watchdog's attempts to notify, by channel and outcome.",
            unit: "ops",
            emptyText: NO_CHANNEL,
          },
        ),
        graph(
          "Pending and given up",
          [
            query(
              `max by (instance, channel) (${W}_pending_notifications{${PROCESSES}})`,
              "pending {{channel}} {{instance}}",
            ),
            query(
              `max by (instance, channel) (${W}_dead_letters{${PROCESSES}})`,
              "given up {{channel}} {{instance}}",
            ),
          ],
          {
            description:
              "Notifications that a channel has not accepted yet, and dead letters, i.e. notifications that are no longer retried.",
            unit: "none",
            emptyText: NO_CHANNEL,
          },
        ),
        graph(
          "Since the last poll and dead-man request",
          [
            query(
              `time() - ${W}_last_poll_timestamp_seconds{${PROCESSES}}`,
              "poll of {{validator}} {{instance}}",
            ),
            query(
              `time() - (${W}_dead_man_ping_timestamp_seconds{${PROCESSES}} > 0)`,
              "dead-man request {{instance}}",
            ),
          ],
          {
            description:
              "Time since the last poll and since the last request that the dead-man monitor accepted. A line grows when the watchdog has stopped or the monitor accepts no requests. Without a configured monitor, there is no line for requests.",
            unit: "s",
          },
        ),
        graph(
          "Prometheus and Alertmanager",
          [
            query(
              "sum by (instance, rule_group) (rate(prometheus_rule_evaluation_failures_total[$__rate_interval]))",
              "rules of {{rule_group}} {{instance}}",
            ),
            query(
              "sum by (instance, alertmanager) (rate(prometheus_notifications_errors_total[$__rate_interval]))",
              "to {{alertmanager}} {{instance}}",
            ),
            query(
              "sum by (instance, integration) (rate(alertmanager_notifications_failed_total[$__rate_interval]))",
              "by {{integration}} {{instance}}",
            ),
            query(
              "prometheus_notifications_alertmanagers_discovered",
              "known Alertmanagers {{instance}}",
              "none",
            ),
          ],
          {
            description:
              "Failed rule evaluations and notifications per second, and the number of Alertmanagers that each Prometheus server has found.",
            unit: "ops",
            emptyText: "Prometheus does not scrape itself",
          },
        ),
      ],
    },
    {
      title: "What do the daemons use?",
      panels: [
        graph(
          "CPU",
          [
            query(`rate(process_cpu_seconds_total{${PROCESSES}}[$__rate_interval])`, "{{job}} {{instance}}"),
            query(
              `sum by (job, instance) (rate(nodejs_gc_duration_seconds_sum{${PROCESSES}}[$__rate_interval]))`,
              "garbage collection {{job}} {{instance}}",
            ),
          ],
          { description: "Cores in use, and cores used for garbage collection.", unit: "none" },
        ),
        graph(
          "Memory",
          [
            query(`process_resident_memory_bytes{${PROCESSES}}`, "resident {{job}} {{instance}}"),
            query(`nodejs_heap_size_used_bytes{${PROCESSES}}`, "heap {{job}} {{instance}}"),
          ],
          { description: "Resident memory, and the used part of the heap.", unit: "bytes" },
        ),
        graph(
          "Event loop",
          [query(`nodejs_eventloop_lag_p99_seconds{${PROCESSES}}`, "{{job}} {{instance}}")],
          { description: "99th percentile of the event loop's delay.", unit: "s" },
        ),
        graph(
          "Open files",
          [query(`process_open_fds{${PROCESSES}} / process_max_fds{${PROCESSES}}`, "{{job}} {{instance}}")],
          { description: "Open files as a share of the process's limit.", unit: "percentunit" },
        ),
        graph(
          "Uptime",
          [query(`(time() - process_start_time_seconds{${PROCESSES}}) / 86400`, "{{job}} {{instance}}")],
          {
            description: "Time since the process started. Drops to zero at each restart.",
            unit: "days",
          },
        ),
        graph(
          "Scrapes by Prometheus",
          [query(`scrape_duration_seconds{${PROCESSES}}`, "{{job}} {{instance}}")],
          { description: "Duration of a scrape of the metrics page.", unit: "s" },
        ),
      ],
    },
  ],
};
