import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createWatchdogMetrics, WATCHDOG_METRICS } from "../../../src/watchdog/metrics.ts";

const readme = readFileSync(new URL("../../../src/watchdog/README.md", import.meta.url), "utf8");

describe("the catalogue of metrics", () => {
  it("is what is registered, with these names and types, and what the readme lists", async () => {
    const registry = new Registry();
    createWatchdogMetrics(registry);
    const registered = await registry.getMetricsAsJSON();
    const names = registered.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      Object.values(WATCHDOG_METRICS)
        .map(({ name }) => name)
        .toSorted(),
    );
    const listed = [...readme.matchAll(/^\| `(oracle_watchdog_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    expect(listed).toHaveLength(12);
    expect(new Map(registered.map(({ name, type }) => [name, String(type)]))).toEqual(
      new Map(listed.map(([name, type]) => [name ?? "", type ?? ""])),
    );
  });

  it("keeps to the naming rules", () => {
    for (const { name, help } of Object.values(WATCHDOG_METRICS)) {
      expect(name).toMatch(/^oracle_watchdog_[a-z_]+$/);
      expect(help).toMatch(/^[A-Z1].*\.$/);
    }
  });

  it("begins closed label sets at zero", async () => {
    const registry = new Registry();
    createWatchdogMetrics(registry);
    const page = await registry.metrics();
    for (const line of [
      'oracle_watchdog_looks_total{source="sidecar-metrics",outcome="failed"} 0',
      'oracle_watchdog_notices_total{outcome="given-up"} 0',
      'oracle_watchdog_alert_firing{alert="all-prices-missing"} 0',
      "oracle_watchdog_node_restarts_total 0",
    ])
      expect(page).toContain(line);
    expect(page).not.toContain("oracle_watchdog_month_success_ratio{");
  });
});
