import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { BuildInfo } from "./build-info.ts";

/** prom-client's gauges whose names promlint rejects, because they look like counter names. */
const BADLY_NAMED = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources",
  "nodejs_active_resources_total",
];

/** Questions that operators ask and metrics answer, in the order of the sections in `docs/metrics.md`. */
export const METRIC_QUESTIONS = [
  "Is it active?",
  "Is it current?",
  "What does it cost?",
  "Is it safe?",
] as const;

/**
 * A metric's definition. Create the metric with `{ ...definition, registers }`, so that prom-client stores all fields in the
 * metric, where the generator of `docs/metrics.md` finds the question and the help.
 */
export interface MetricDefinition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly question: (typeof METRIC_QUESTIONS)[number];
  readonly labelNames?: readonly Label[];
}

export interface MetricsOptions {
  readonly build: BuildInfo;
  /** The `program` label of `relaywatch_build_info`, for example "oracle-watchdog". */
  readonly program: string;
  /** Adds CPU, memory, event loop and garbage collection metrics. Only one registry per process needs them. */
  readonly processMetrics: boolean;
}

/** Creates a registry with `relaywatch_build_info` and optionally the process metrics. */
export function createMetricsRegistry(options: MetricsOptions): Registry {
  const registry = new Registry();
  new Gauge({
    name: "relaywatch_build_info",
    help: "Always 1; the labels contain the program, its version and its source commit.",
    labelNames: ["program", "version", "commit", "node_version"],
    registers: [registry],
  }).set(
    {
      program: options.program,
      version: options.build.version,
      commit: options.build.commit ?? "unknown",
      node_version: options.build.nodeVersion,
    },
    1,
  );
  if (options.processMetrics) {
    collectDefaultMetrics({ register: registry });
    for (const name of BADLY_NAMED) registry.removeSingleMetric(name);
  }
  return registry;
}
