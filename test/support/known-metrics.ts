import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownMetrics } from "../../src/cli/generate/metrics-page.ts";
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
  "ALERTS_FOR_STATE",
  "scrape_duration_seconds",
  "prometheus_rule_evaluation_failures_total",
  "prometheus_notifications_alertmanagers_discovered",
  "prometheus_notifications_errors_total",
  "alertmanager_notifications_failed_total",
];

/** Labels that Prometheus adds from the configuration of the target. */
const TARGET_LABELS = ["job", "instance", "chain_id", "validator"];

/**
 * Returns the labels of every metric that our daemons, nodes and sidecars export, and "any" for those of other programs and
 * of `records`, the names of recording rules.
 */
export function knownMetrics(records: readonly string[]): ReadonlyMap<string, readonly string[] | "any"> {
  const known = new Map<string, readonly string[] | "any">();
  for (const [name, labels] of ownMetrics()) known.set(name, [...labels, ...TARGET_LABELS]);
  for (const page of PAGES)
    for (const { name, labels } of parsePrometheusText(readFileSync(join(ROOT, page))).samples) {
      const before = known.get(name) ?? TARGET_LABELS;
      if (before !== "any") known.set(name, [...before, ...labels.keys()]);
    }
  for (const name of [...FOREIGN, ...records]) known.set(name, "any");
  return known;
}
