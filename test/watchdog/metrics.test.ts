import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { registerReloadMetrics } from "../../src/platform/process/reloadable.ts";
import { createWatchdogMetrics } from "../../src/watchdog/polling/metrics.ts";
import type { Seen } from "../../src/watchdog/sources/observation.ts";
import { failed, healthyFrame, START_MS, withChain } from "../support/watchdog/frames.ts";
import { buildValidator, TROUBLED } from "../support/pages/watchdog-scenes.ts";

const RELOADS = { successAtMs: 0, error: undefined, failedAtMs: undefined, needRestart: [] };

const metricsPage = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");

describe("createWatchdogMetrics", () => {
  it("registers the metrics in the table of docs/metrics.md, with their types", async () => {
    const registry = new Registry();
    createWatchdogMetrics(registry, ["webhook"]);
    registerReloadMetrics(registry, "oracle_watchdog", () => RELOADS);
    const listed = [...metricsPage.matchAll(/^\| `(oracle_watchdog_\w+)(?:\{[\w,]+\})?` \| (\w+) \|/gm)];
    const registered = await registry.getMetricsAsJSON();
    expect(registered.length).toBeGreaterThan(0);
    expect(Object.fromEntries(listed.map(([, name, type]) => [name, type]))).toEqual(
      Object.fromEntries(registered.map(({ name, type }) => [name, String(type)])),
    );
  });

  it("has the page of the registry, from the lines of the last status of each validator", async () => {
    const registry = new Registry();
    const metrics = createWatchdogMetrics(registry, ["webhook"]);
    const status = (name: string, more: Parameters<typeof buildValidator>[0] = {}) =>
      buildValidator({ ...TROUBLED, name, ...more }).status;
    const sorted = (text: string) => text.split("\n").toSorted();
    for (const shown of [
      status('a"\\\n'),
      status("b"),
      status("b", { status: { assessment: undefined, lateMs: 1500 } }),
      status("b", { status: { storeProblem: "full" } }),
    ]) {
      metrics.showStatus(shown);
      expect(sorted(await metrics.page())).toEqual(sorted(await registry.metrics()));
    }
    expect(await metrics.page()).toContain('oracle_watchdog_priced_pairs{validator="b"}');
  });

  it("counts a failure once that later polls show again", async () => {
    const registry = new Registry();
    const metrics = createWatchdogMetrics(registry, []);
    const failure = failed("timeout");
    const shows = (payment: Seen<never>) =>
      metrics.recordPoll(withChain(() => ({ payment }))(healthyFrame(START_MS)).observation, 0);
    shows(failure);
    shows(failure.state === "error" ? { ...failure, isRepeated: true } : failure);
    expect(await registry.metrics()).toContain(
      'oracle_watchdog_scrapes_total{source="chain-payment",outcome="failure"} 1',
    );
  });

  it("follows the naming rules", async () => {
    const registry = new Registry();
    createWatchdogMetrics(registry, ["webhook"]);
    registerReloadMetrics(registry, "oracle_watchdog", () => RELOADS);
    for (const { name, help, type } of await registry.getMetricsAsJSON()) {
      expect(name).toMatch(/^oracle_watchdog_[a-z_]+$/);
      expect(name.endsWith("_total")).toBe(String(type) === "counter");
      expect(help).toMatch(/^[A-Z1].*\.$/);
    }
  });

  it("sets the counters of all label values to zero", async () => {
    const registry = new Registry();
    createWatchdogMetrics(registry, ["webhook"]);
    registerReloadMetrics(registry, "oracle_watchdog", () => RELOADS);
    const text = await registry.metrics();
    for (const line of [
      'oracle_watchdog_scrapes_total{source="sidecar-metrics",outcome="failure"} 0',
      'oracle_watchdog_notification_attempts_total{channel="webhook",outcome="expired"} 0',
      "oracle_watchdog_node_restarts_total 0",
    ])
      expect(text).toContain(line);
  });
});
