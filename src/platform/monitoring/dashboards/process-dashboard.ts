import { DASHBOARDS } from "../alerts/links.ts";
import { BAD_ABOVE_ZERO, type DashboardSpec, graph, query, restartsOf, stat } from "./panel-spec.ts";

const NO_RELOAD = "The daemons have no configuration that can be read again";
const JOB = 'job=~"$job"';
const W = "oracle_watchdog";
/** Prefixes of the daemons whose configuration can be loaded again. */
const CONFIG_DAEMONS = ["relaywatch_relayer", W] as const;

/** Process. */
export const PROCESS: DashboardSpec = {
  uid: DASHBOARDS.process,
  pages: ["watchdog", "relayer"],
  file: "process.json",
  title: "Process",
  description: "The daemons as processes, and whether their notifications arrive.",
  variables: [{ name: "job", label: "Job", metric: "relaywatch_build_info", from: "job" }],
  range: "hours",
  restarts: restartsOf(JOB),
  alerts: 'ALERTS{component="relaywatch",alertstate="firing",alertname!="RelaywatchDeadMan"}',
  rows: [
    {
      title: "Is it running?",
      panels: [
        stat("Targets down", [query(`count(up{${JOB}} == 0) or vector(0)`, "down")], {
          description: "Targets of these jobs that cannot be scraped.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
          width: 6,
        }),
        stat(
          "Running since",
          [query(`min by (job) (process_start_time_seconds{${JOB}}) * 1000`, "{{job}}")],
          {
            description: "Time since the last start.",
            unit: "dateTimeFromNow",
            width: 6,
          },
        ),
        stat(
          "Version",
          [query(`max by (program, version) (relaywatch_build_info{${JOB}})`, "{{program}} {{version}}")],
          {
            description: "Program and version.",
            unit: "none",
            show: "name",
            width: 6,
          },
        ),
        stat(
          "Alerts",
          [
            query(
              'count(ALERTS{component="relaywatch",alertstate="firing",alertname!="RelaywatchDeadMan"}) or vector(0)',
              "firing",
            ),
          ],
          {
            description: "Firing alerts about the monitoring.",
            unit: "none",
            colors: BAD_ABOVE_ZERO,
            width: 6,
          },
        ),
        graph(
          "CPU",
          [query(`rate(process_cpu_seconds_total{${JOB}}[$__rate_interval])`, "{{job}} {{instance}}")],
          {
            description: "Cores in use.",
            unit: "none",
          },
        ),
        graph(
          "Memory",
          [
            query(`process_resident_memory_bytes{${JOB}}`, "{{job}} {{instance}} resident"),
            query(`nodejs_heap_size_used_bytes{${JOB}}`, "{{job}} {{instance}} heap"),
          ],
          { description: "Resident memory, and the used part of the heap.", unit: "bytes" },
        ),
        graph("Event loop", [query(`nodejs_eventloop_lag_p99_seconds{${JOB}}`, "{{job}} {{instance}}")], {
          description: "One turn in a hundred is later than this.",
          unit: "s",
        }),
        graph(
          "Garbage collection",
          [
            query(
              `sum by (job, instance, kind) (rate(nodejs_gc_duration_seconds_sum{${JOB}}[$__rate_interval]))`,
              "{{job}} {{instance}} {{kind}}",
            ),
          ],
          {
            description: "Seconds of collection per second.",
            unit: "percentunit",
          },
        ),
        graph(
          "Open files",
          [query(`process_open_fds{${JOB}} / process_max_fds{${JOB}}`, "{{job}} {{instance}}")],
          {
            description: "Share of the limit.",
            unit: "percentunit",
          },
        ),
        graph("Scrapes by Prometheus", [query(`scrape_duration_seconds{${JOB}}`, "{{job}} {{instance}}")], {
          description: "How long the metrics page takes.",
          unit: "s",
        }),
      ],
    },
    {
      title: "Do notifications arrive?",
      panels: [
        graph(
          "Attempts",
          [
            query(
              `sum by (channel, outcome) (rate(${W}_notification_attempts_total{${JOB}}[$__rate_interval]))`,
              "{{channel}} {{outcome}}",
            ),
          ],
          {
            description: "Attempts of the watchdog to notify, by channel and outcome.",
            unit: "ops",
            emptyText: "No channel is configured",
          },
        ),
        graph(
          "Pending and given up",
          [
            query(`max by (channel) (${W}_pending_notifications{${JOB}})`, "{{channel}}"),
            query(`max by (channel) (${W}_dead_letters{${JOB}})`, "{{channel}}, given up"),
          ],
          {
            description: "Notifications that a channel has not accepted yet, and dead letters.",
            unit: "none",
            emptyText: "No channel is configured",
          },
        ),
        graph(
          "Dead-man monitor",
          [query(`time() - (${W}_dead_man_ping_timestamp_seconds{${JOB}} > 0)`, "{{instance}}")],
          {
            description: "Time since the monitor accepted a request of the watchdog.",
            unit: "s",
            emptyText: "No monitor is configured",
          },
        ),
        graph(
          "Configuration loaded",
          CONFIG_DAEMONS.map((daemon) =>
            query(`min by (instance) (${daemon}_config_last_reload_successful{${JOB}})`, "{{instance}}"),
          ),
          {
            description: "0 when the last reload failed: the settings before it hold.",
            unit: "none",
            emptyText: NO_RELOAD,
          },
        ),
        graph(
          "Since the configuration was loaded",
          CONFIG_DAEMONS.map((daemon) =>
            query(`time() - ${daemon}_config_last_reload_success_timestamp_seconds{${JOB}}`, "{{instance}}"),
          ),
          {
            description: "Time since the start or the last successful reload.",
            unit: "s",
            emptyText: NO_RELOAD,
          },
        ),
        graph(
          "State stored, clock believed",
          ["state_stored", "clock_believed"].map((name) =>
            query(`min by (instance) (${W}_${name}{${JOB}})`, `{{instance}} ${name}`),
          ),
          {
            description:
              "0 while the watchdog cannot write its state file, or its machine's clock is not believed.",
            unit: "none",
          },
        ),
        graph("Last poll", [query(`time() - ${W}_last_poll_timestamp_seconds{${JOB}}`, "{{validator}}")], {
          description: "Grows when the watchdog has stopped.",
          unit: "s",
        }),
      ],
    },
  ],
};
