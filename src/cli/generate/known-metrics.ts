import type { Registry } from "prom-client";
import { REAL_TIMES } from "../../platform/monitoring/alerts/times.ts";
import { createMetricsRegistry } from "../../platform/process/metrics.ts";
import { createSidecarFamilies } from "../../localnet/sidecar/sidecar-families.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import { localnetRegistry, relayerRegistry, watchdogRegistry } from "./metrics-page.ts";
import { RULE_FILES } from "./rules.ts";

/** A program with the process metrics. */
const PROGRAM = {
  build: { name: "relaywatch", version: "0.0.0", commit: undefined, nodeVersion: "v20.0.0" },
  program: "oracle-watchdog",
  processMetrics: true,
};

/** Returns the labels of every metric that our daemons export, by its name as a series has it. */
export function ownMetrics(): ReadonlyMap<string, readonly string[]> {
  const registries = [
    watchdogRegistry(),
    relayerRegistry(),
    localnetRegistry(),
    createMetricsRegistry(PROGRAM),
  ];
  return new Map(registries.flatMap(registered));
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

/**
 * Returns the names of all metrics that a runbook may use: ours, a sidecar's, the recording rules, and those of nodes and other
 * programs that a rule or a dashboard uses.
 */
export function usableMetrics(): ReadonlySet<string> {
  const groups = [...RULE_FILES.values()].flat();
  const expressions = groups.flatMap(({ records, alerts }) =>
    [...records, ...alerts].map(({ expr }) => expr(REAL_TIMES)),
  );
  const used = [...expressions, ...dashboardFiles().values()].join("\n");
  return new Set([
    ...ownMetrics().keys(),
    ...Object.values(createSidecarFamilies("side_car")).map(({ name }) => name),
    ...groups.flatMap(({ records }) => records.map(({ record }) => record)),
    ...(used.match(/[a-zA-Z_:][\w:]*/g) ?? []),
  ]);
}
