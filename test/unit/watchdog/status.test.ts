import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { bad, good } from "../../../src/base/result.ts";
import { statusPage } from "../../../src/watchdog/api/status-page.ts";
import type { AlertState } from "../../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { createWatchdogMetrics } from "../../../src/watchdog/metrics.ts";
import type { Poll } from "../../../src/watchdog/sources/poller.ts";
import { EMPTY_STATE, type WatchdogState } from "../../../src/watchdog/state/state-store.ts";
import { statusJson, type StatusInput, toStatus, type WatchdogStatus } from "../../../src/watchdog/status.ts";

import { escapeHtml } from "../../../src/ops/html.ts";
import { fieldNames } from "../../support/field-names.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const NODE = { chainId: "test-1", success: 97n, failure: 3n, height: 100n };
const PRICES = { pairs: ["BTC/USD", "ETH/USD"], tickedAtMs: NOW, version: "", url: "http://h/" };

const POLL: Poll = {
  atMs: NOW,
  node: { outcome: good(NODE), durationMs: 4 },
  prices: { outcome: good(PRICES), durationMs: 2 },
  oracleMetrics: { outcome: bad({ code: "refused", text: "refused <b>" }), durationMs: 1 },
};

const STATE: WatchdogState = {
  ...EMPTY_STATE,
  ledger: {
    baseline: { ...NODE, atMs: NOW },
    months: new Map([["2026-11", { good: 97n, bad: 3n, unknown: 5n }]]),
  },
};

const RULES = alertsSchema.parse({}).rules;

function statusOf(changes: Partial<StatusInput> = {}): WatchdogStatus {
  return toStatus({
    state: STATE,
    rules: RULES,
    channels: ["webhook"],
    startedAtMs: NOW,
    nowMs: NOW,
    lastSuccessMs: new Map([["node", NOW]]),
    last: { poll: POLL },
    ...changes,
  });
}

/** The three places at which a status is shown. */
async function shown(status: WatchdogStatus) {
  const registry = new Registry();
  createWatchdogMetrics(registry, []).showStatus(status);
  return { json: statusJson(status), page: statusPage(status), metrics: await registry.metrics() };
}

describe("the status as JSON", () => {
  it("has snake_case names only", () => {
    const names = fieldNames(statusJson(statusOf()));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual([]);
  });
});

describe("the status in the API, on the page and in the metrics", () => {
  it("has rate, tier and blocks of the month", async () => {
    const { json, page, metrics } = await shown(statusOf());
    expect(json).toMatchObject({
      month: "2026-11",
      success_rate_percent: "97.0000",
      tier: "proportional",
      blocks: { good: 97, bad: 3, unknown: 5 },
    });
    expect(page).toContain("<strong>97.0000 %</strong>, reward tier: <strong>proportional</strong>");
    expect(metrics).toContain('oracle_watchdog_month_success_ratio{chain_id="test-1"} 0.97');
    expect(metrics).toContain('oracle_watchdog_month_tier{chain_id="test-1",tier="proportional"} 1');
    expect(metrics).toContain('oracle_watchdog_month_blocks{chain_id="test-1",result="unknown"} 5');
  });

  it("has the pairs with a price", async () => {
    const { json, page, metrics } = await shown(statusOf());
    expect(json["prices"]).toEqual({ state: "present", pairs: ["BTC/USD", "ETH/USD"] });
    expect(page).toContain("2 BTC/USD, ETH/USD");
    expect(metrics).toContain("oracle_watchdog_priced_pairs 2");
  });

  it("has every source, with its error escaped", async () => {
    const { json, page, metrics } = await shown(statusOf());
    expect(json["sources"]).toEqual([
      { name: "node", up: true, error: null, last_success_at: "2026-11-21T12:00:00.000Z", duration_ms: 4 },
      { name: "prices", up: true, error: null, last_success_at: null, duration_ms: 2 },
      { name: "oracle-metrics", up: false, error: "refused <b>", last_success_at: null, duration_ms: 1 },
    ]);
    expect(page).toContain("refused &lt;b&gt;");
    expect(metrics).toContain('oracle_watchdog_source_up{source="oracle-metrics"} 0');
    expect(metrics).toContain(
      `oracle_watchdog_source_last_success_timestamp_seconds{source="node"} ${NOW / 1000}`,
    );
  });

  it("has every alert", async () => {
    for (const { condition, severity } of RULES) {
      const { name } = condition;
      const firing: AlertState = {
        validator: "default",
        alert: name,
        phase: "firing",
        sinceMs: NOW,
        lastActiveMs: NOW,
        reason: "a reason",
        badBlocksBefore: 0n,
      };
      const state = { ...STATE, alerting: { ...STATE.alerting, alerts: [firing] } };
      const { json, page, metrics } = await shown(statusOf({ state }));
      expect(json["alerts"]).toContainEqual({
        name,
        validator: "default",
        severity,
        state: "firing",
        since: "2026-11-21T12:00:00.000Z",
        reason: "a reason",
        quiet: null,
      });
      expect(page).toContain(`${escapeHtml(condition.title)} since <time`);
      expect(metrics).toContain(
        `oracle_watchdog_alert_firing{validator="default",alert="${name}",severity="${severity}"} 1`,
      );
    }
  });

  it("is complete before the first poll", async () => {
    const { json, page, metrics } = await shown(
      statusOf({ state: EMPTY_STATE, last: undefined, lastSuccessMs: new Map() }),
    );
    expect(json).toMatchObject({
      chain_id: null,
      polled_at: null,
      success_rate_percent: null,
      tier: null,
      prices: { state: "unknown", pairs: [] },
      alerts: RULES.map(({ condition }) => ({ name: condition.name, state: "inactive", since: null })),
      pending_notifications: 0,
      sources: [],
    });
    expect(page).toContain("No block of 2026-11 has been counted yet.");
    expect(page).toContain("<p>No alert.</p>");
    expect(metrics).toContain(
      'oracle_watchdog_alert_firing{validator="default",alert="all-prices-missing",severity="critical"} 0',
    );
    expect(metrics).not.toContain("oracle_watchdog_month_success_ratio{");
  });
});
