import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Registry } from "prom-client";
import { localnetRegistry, relayerRegistry, watchdogRegistry } from "../../src/cli/generate/metrics-page.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { parsePrometheusText } from "./watchdog/prometheus-page.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** Pages of real nodes and sidecars. */
const PAGES = [
  "test/fixtures/metrics/node-26660-healthy.prom",
  "test/fixtures/metrics/sidecar-8002.prom",
  "test/fixtures/samples/node-26660.prom",
  "test/fixtures/samples/sidecar-8002.prom",
  "test/fixtures/samples/sidecar-8002.spec-connect-prefix.prom",
];

/** Metrics of Prometheus and Alertmanager. */
const FOREIGN = [
  "up",
  "ALERTS",
  "scrape_duration_seconds",
  "prometheus_rule_evaluation_failures_total",
  "prometheus_notifications_alertmanagers_discovered",
  "prometheus_notifications_errors_total",
  "alertmanager_notifications_failed_total",
];

/** Labels that Prometheus adds from the configuration of the target. */
const TARGET_LABELS = ["job", "instance", "chain_id", "validator"];

/** A program with the process metrics. */
const PROGRAM = {
  build: { name: "relaywatch", version: "0.0.0", commit: undefined, nodeVersion: "v20.0.0" },
  program: "oracle-watchdog",
  processMetrics: true,
};

/**
 * Returns the labels of every metric that our daemons, nodes and sidecars export, and "any" for those of other programs and
 * of `records`, the names of recording rules.
 */
export function knownMetrics(records: readonly string[]): ReadonlyMap<string, readonly string[] | "any"> {
  const known = new Map<string, readonly string[] | "any">();
  const registries = [
    watchdogRegistry(),
    relayerRegistry(),
    localnetRegistry(),
    createMetricsRegistry(PROGRAM),
  ];
  for (const registry of registries)
    for (const [name, labels] of registered(registry)) known.set(name, [...labels, ...TARGET_LABELS]);
  for (const page of PAGES)
    for (const { name, labels } of parsePrometheusText(readFileSync(join(ROOT, page))).samples) {
      const before = known.get(name) ?? TARGET_LABELS;
      if (before !== "any") known.set(name, [...before, ...labels.keys()]);
    }
  for (const name of [...FOREIGN, ...records]) known.set(name, "any");
  return known;
}

function registered(registry: Registry): readonly (readonly [string, readonly string[]])[] {
  return registry.getMetricsAsArray().flatMap((metric): (readonly [string, readonly string[]])[] => {
    const names: unknown = Reflect.get(metric, "labelNames");
    const labels = Array.isArray(names) ? names.map(String) : [];
    if (String(metric.type) !== "histogram") return [[metric.name, labels]];
    return [
      [`${metric.name}_bucket`, [...labels, "le"]],
      [`${metric.name}_sum`, labels],
      [`${metric.name}_count`, labels],
    ];
  });
}
