import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { BuildInfo } from "./build-info.ts";

/** Gauges of prom-client whose names end as counters do; promlint rejects them. */
const BADLY_NAMED = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources",
  "nodejs_active_resources_total",
];

/** What a process's registry begins with. */
export interface MetricsOptions {
  readonly build: BuildInfo;
  /** Which program this is, e.g. "oracle-watchdog": label `program` of `relaywatch_build_info`. */
  readonly program: string;
  /** Adds CPU, memory, event loop and garbage collection of the process. Once per process is enough. */
  readonly processMetrics: boolean;
}

/** Creates a registry of its own, with `relaywatch_build_info` and, if asked for, the process metrics. */
export function createMetricsRegistry(options: MetricsOptions): Registry {
  const registry = new Registry();
  new Gauge({
    name: "relaywatch_build_info",
    help: "Always 1; what runs here is in the labels.",
    labelNames: ["program", "version", "node_version"],
    registers: [registry],
  }).set(
    { program: options.program, version: options.build.version, node_version: options.build.nodeVersion },
    1,
  );
  if (options.processMetrics) {
    collectDefaultMetrics({ register: registry });
    for (const name of BADLY_NAMED) registry.removeSingleMetric(name);
  }
  return registry;
}
