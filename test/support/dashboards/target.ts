import { collectDefaultMetrics, Registry } from "prom-client";
import { AROUND_ALERT_MS } from "../../../src/platform/monitoring/alerts/links.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";

/** Time between two scrapes. */
export const STEP_MS = MINUTE_MS;
/** A fault began so long before the end of its situation. */
export const FAULT_MS = 40 * MINUTE_MS;
/** What rates look back to. */
const LOOK_BACK_MS = 10 * MINUTE_MS;
/** What the series of a situation have before its end: the range with which most dashboards open. */
export const DAY_VIEW_MS = 6 * HOUR_MS + LOOK_BACK_MS;
/** The same where an alert's link opens the dashboard. */
export const ALERT_VIEW_MS = FAULT_MS + AROUND_ALERT_MS.before + LOOK_BACK_MS;

/** What Prometheus scrapes. */
export interface Target {
  readonly job: string;
  readonly instance: string;
  /** Labels from Prometheus' configuration, besides job and instance. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The page at a time, in the order of the times; undefined: the target does not respond. */
  readonly page: (atMs: number) => Promise<string | undefined>;
}

/** Returns the time since the begin of a situation's fault; undefined before it. */
export function sinceFault(atMs: number, endMs: number): number | undefined {
  const sinceMs = atMs - (endMs - FAULT_MS);
  return sinceMs < 0 ? undefined : sinceMs;
}

/** Metrics that follow this process, not the situation: each picture would have other numbers. */
const OF_THIS_PROCESS: readonly (readonly [
  metric: RegExp,
  value: (uptime: number, atMs: number) => number,
])[] = [
  [/^process_start_time_seconds$/, (uptime, atMs) => atMs / 1000 - uptime],
  [/^process_cpu_(?:user_|system_)?seconds_total$/, (uptime) => uptime * 0.042],
  [/^process_resident_memory_bytes$/, (uptime) => 142e6 + (uptime % 1200) * 9e3],
  [/^nodejs_heap_size_used_bytes$/, (uptime) => 58e6 + (uptime % 900) * 14e3],
  [/^nodejs_eventloop_lag_\w+seconds$/, (uptime) => 0.0105 + (uptime % 7) * 0.0002],
  [/^nodejs_gc_duration_seconds_sum\b/, (uptime) => uptime * 0.0011],
  [/^process_open_fds$/, () => 43],
  [/^process_max_fds$/, () => 1024],
];

/** Series of Node.js' metrics as prom-client has them, with their value in this process. */
const ofNode = (async () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const lines = [...(await registry.metrics()).matchAll(/^((\w+)(?:\{.*\})?) (\S+)$/gm)];
  return lines.map(([, series = "", name = "", value = ""]) => ({
    series,
    value,
    steady: OF_THIS_PROCESS.find(([metric]) => metric.test(name))?.[1],
  }));
})();

/** Returns the metrics of Node.js as a daemon of ours exports them, with values of a daemon that has run for some time. */
export async function processPage(atMs: number, startMs: number): Promise<string> {
  const uptime = (atMs - startMs) / 1000;
  const lines = await ofNode;
  return lines.map(({ series, value, steady }) => `${series} ${steady?.(uptime, atMs) ?? value}`).join("\n");
}
