import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseConfig } from "../../../src/ops/config.ts";
import { configJsonSchema, configTable } from "../../support/config-table.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { type WatchdogConfig, watchdogConfigSchema } from "../../../src/watchdog/config.ts";

const example = new URL("../../../config/oracle-watchdog.example.yaml", import.meta.url);

function parse(text: string): WatchdogConfig {
  return parseConfig({ file: "w.yaml", text }, watchdogConfigSchema);
}

beforeEach(() => {
  vi.stubEnv("ORACLE_WATCHDOG_WEBHOOK_URL", "https://hooks.example/T0/secret");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("watchdog configuration", () => {
  it("has a default for every key", () => {
    const { alerts, ...rest } = parse("");
    expect(rest).toEqual({
      listen: { host: "127.0.0.1", port: 9998 },
      intervalMs: 5000,
      sources: {
        node: "http://127.0.0.1:26660/metrics",
        prices: "http://127.0.0.1:8080/",
        oracleMetrics: "http://127.0.0.1:8001/metrics",
        sidecarMetrics: "http://127.0.0.1:8002/metrics",
        deadlineMs: 4000,
        maxPageBytes: 33_554_432,
      },
    });
    expect(alerts.map(({ condition }) => condition)).toEqual(CONDITIONS);
    const forMs = alerts.find(({ condition }) => condition.id === "all-prices-missing")?.forMs;
    expect(forMs).toBe(300_000);
  });

  it("has an example with the defaults, and with the keys that have none", () => {
    const { chainId, stateDir, hosts, webhook, ...rest } = parse(readFileSync(example, "utf8"));
    expect(rest).toEqual(parse(""));
    expect([chainId, stateDir, hosts, webhook?.url.reveal(), webhook?.deadlineMs]).toEqual([
      "neutron-1",
      "/var/lib/oracle-watchdog",
      ["watchdog.example"],
      "https://hooks.example/T0/secret",
      10_000,
    ]);
  });

  it("disables a source", () => {
    const { sources } = parse("sources: {oracle_metrics: null, sidecar_metrics: null}");
    expect([sources.oracleMetrics, sources.sidecarMetrics]).toEqual([undefined, undefined]);
  });

  it("reports all errors, and never the webhook's URL", () => {
    vi.stubEnv("ORACLE_WATCHDOG_WEBHOOK_URL", "hooks.example/T0/secret");
    const text = [
      "interval: 5",
      "sources:",
      "  node: localhost:26660",
      "alerts:",
      "  all_prices_missing:",
      '    for: "1ms"',
      "notify:",
      "  webhook:",
      "    url: {env: ORACLE_WATCHDOG_WEBHOOK_URL}",
    ].join("\n");
    expect(() => parse(text)).toThrow(
      [
        'w.yaml:1:11: interval: is a number (expected a duration such as "30s")',
        "w.yaml:3:9: sources.node: is not a usable URL (expected http:// or https://, without user name, password or fragment)",
        'w.yaml:6:10: alerts.all_prices_missing.for: is not a usable duration (expected a duration such as "30s", at least 1000ms)',
        "w.yaml:9:5: notify.webhook.url: does not hold a usable URL (expected http:// or https://)",
      ].join("\n"),
    );
  });

  it("is documented by its schema, and the example shows every key", () => {
    expect(configJsonSchema(watchdogConfigSchema, "oracle-watchdog")).toMatchObject({
      additionalProperties: false,
    });
    const rows = configTable(watchdogConfigSchema).split("\n");
    const keys = rows.flatMap((row) => /^\| `([\w.]+)` /.exec(row)?.[1]?.split(".") ?? []);
    expect(keys.length).toBeGreaterThan(10);
    const text = readFileSync(example, "utf8");
    expect(keys.filter((key) => !text.includes(`${key}:`))).toEqual([]);
    expect(rows).toContain(
      '| `alerts.all_prices_missing.for` | string | `"5m"` | how long all prices must be missing before the alert fires |',
    );
  });
});
