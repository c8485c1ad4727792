import { ascending } from "../../src/platform/base/order.ts";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import type { AlertState } from "../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";
import { createWatchdogMetrics } from "../../src/watchdog/polling/metrics.ts";
import { statusView } from "../../src/watchdog/polling/status-json.ts";
import { planEvaluation } from "../../src/watchdog/polling/evaluation.ts";
import { SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import { EMPTY_STATE, type WatchdogState } from "../../src/watchdog/state/state-store.ts";
import {
  type StatusInput,
  toStatus,
  type WatchdogStatus,
} from "../../src/watchdog/polling/watchdog-status.ts";

import { escapeHtml } from "../../src/platform/web/html.ts";
import { nodePage, NOT_CONFIGURED, observationOf, pricesPage, up } from "../support/watchdog/observations.ts";
import { pageText } from "../support/watchdog/page-text.ts";
import { fieldNames } from "../support/field-names.ts";
import { healthyFrame } from "../support/watchdog/frames.ts";
import type { Seen } from "../../src/watchdog/sources/observation.ts";
import type { Payment } from "../../src/watchdog/sources/payment-result.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;

const SOURCES = {
  prices: up({ ...pricesPage("BTC/USD", "ETH/USD"), tickedAtMs: NOW }),
  oracleMetrics: {
    state: "error",
    failure: { code: "refused", text: "refused <b>" },
    durationMs: 1,
  } as const,
  sidecar: NOT_CONFIGURED,
};
const VALIDATOR = {
  target: { name: "default", nodes: [], egress: [] },
  policy: { policy: SPECIFIED_POLICY, fromChain: false },
};
const OPTIONS = {
  alerts: {
    rules: [],
    channels: [],
    maintenance: [],
    reminders: { critical: [], warning: [], info: [] },
    runbooks: "",
    majorPairs: [],
    graceMs: 0,
    intervalMs: 5000,
  },
  intervalMs: 5000,
  policy: VALIDATOR.policy,
};

/** The second poll: 97 good, 3 bad and 5 unknown blocks after a restart of the node. */
const LAST = (() => {
  const poll = (atMs: number, page: ReturnType<typeof nodePage>) =>
    observationOf(atMs, [{ ...SOURCES, metrics: { state: "up", value: page, durationMs: 4 } }]);
  const first = poll(NOW - HOUR, nodePage(0n, 0n, { height: 900n, processStartMs: NOW - HOUR }));
  const { state } = planEvaluation(EMPTY_STATE, first, { ...OPTIONS, isFirst: true });
  const second = poll(NOW, nodePage(97n, 3n, { height: 1005n, processStartMs: NOW - HOUR / 2 }));
  return planEvaluation(state, second, { ...OPTIONS, isFirst: false });
})();
const STATE: WatchdogState = LAST.state;

const RULES = alertsSchema.parse({}).rules;

function statusOf(changes: Partial<StatusInput> = {}): WatchdogStatus {
  return toStatus({
    validator: VALIDATOR,
    state: STATE,
    rules: RULES,
    channels: ["webhook"],
    startedAtMs: NOW,
    nowMs: NOW,
    lastSuccessMs: new Map([["node/node", NOW]]),
    last: LAST,
    ...changes,
  });
}

/** The three places at which a status is shown. */
async function shown(status: WatchdogStatus) {
  const registry = new Registry();
  createWatchdogMetrics(registry, []).showStatus(status);
  return { json: statusView.json(status), page: pageText([status]), metrics: await registry.metrics() };
}

describe("the status as JSON", () => {
  it("has snake_case names only", () => {
    const names = fieldNames(statusView.json(statusOf()));
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
    expect(page).toContain(
      '<dd class="unknown">97.0000 %<small>too early to say; 3 bad of 100 blocks, 5 unknown',
    );
    expect(page).toContain(`<dd class="unknown">too early to say<small>`);
    expect(metrics).toContain(
      'oracle_watchdog_month_success_ratio{validator="default",chain_id="test-1"} 0.97',
    );
    expect(metrics).toContain(
      'oracle_watchdog_month_tier{validator="default",chain_id="test-1",tier="proportional"} 1',
    );
    expect(metrics).toContain(
      'oracle_watchdog_month_blocks{validator="default",chain_id="test-1",result="unknown"} 5',
    );
  });

  it("has what the policy says, the same in the API and in the metrics", async () => {
    const { json, metrics } = await shown(statusOf());
    const { assessment } = statusOf();
    expect(assessment?.headroom.length).toBe(2);
    for (const { boundary, misses, outageMs, requiredRate, state, burnRates } of assessment?.headroom ?? []) {
      const place = `{validator="default",chain_id="test-1",boundary="${boundary}"`;
      for (const line of [
        `oracle_watchdog_headroom_blocks${place}} ${misses}`,
        `oracle_watchdog_headroom_seconds${place}} ${(outageMs ?? 0) / 1000}`,
        `oracle_watchdog_required_success_ratio${place}} ${requiredRate}`,
        `oracle_watchdog_boundary_state${place},state="${state}"} 1`,
        `oracle_watchdog_boundary_ratio${place}} ${boundary === "full" ? 0.98 : 0.95}`,
        `oracle_watchdog_burn_rate${place},window="1h"} ${burnRates["1h"]}`,
      ])
        expect(metrics).toContain(`${line}\n`);
    }
    const place = '{validator="default",chain_id="test-1"';
    expect(json["assessment"]).toMatchObject({
      policy: { full_reward_cents: 300_000 },
      too_early: true,
    });
    const money = `${place},currency="${assessment?.policy.currency ?? ""}"`;
    for (const line of [
      `oracle_watchdog_full_reward${money}} 3000`,
      `oracle_watchdog_month_reward${money}} ${Number(assessment?.rewardCents) / 100}`,
      `oracle_watchdog_month_remaining_blocks${place}} ${assessment?.remainingBlocks}`,
      `oracle_watchdog_rotation_state${place},state="none"} 1`,
      `oracle_watchdog_last_poll_timestamp_seconds{validator="default"} ${NOW / 1000}`,
    ])
      expect(metrics).toContain(`${line}\n`);
    expect(metrics).toMatch(/oracle_watchdog_month_success_ratio_bound\{.*bound="high"\} 0\.9\d+/);
  });

  it("has a forecast once the month has enough blocks", async () => {
    const young = statusOf();
    const { assessment } = young;
    if (assessment === undefined) return expect.unreachable("no assessment");
    expect((await shown(young)).metrics).not.toMatch(/^oracle_watchdog_forecast/m);
    const older = { ...young, assessment: { ...assessment, counts: { ...assessment.counts, good: 1_797n } } };
    const { metrics } = await shown(older);
    const money = `{validator="default",chain_id="test-1",currency="${assessment.policy.currency ?? ""}"`;
    expect(metrics).toContain(
      `oracle_watchdog_forecast_reward${money},estimate="middle"} ${Number(assessment.forecast?.rewardCents.middle) / 100}\n`,
    );
    expect(metrics).toMatch(/oracle_watchdog_forecast_success_ratio\{.*estimate="low"\} 0\.\d+/);
  });

  it("has the pairs with a price", async () => {
    const { json, page, metrics } = await shown(statusOf());
    expect(json["prices"]).toEqual({ state: "present", pairs: ["BTC/USD", "ETH/USD"] });
    expect(page).toContain("2 pairs: BTC/USD, ETH/USD");
    expect(metrics).toContain('oracle_watchdog_priced_pairs{validator="default"} 2');
  });

  it("has every source, with its error escaped", async () => {
    const { json, page, metrics } = await shown(statusOf());
    expect(json["sources"]).toEqual([
      {
        name: "node",
        node: "node",
        up: true,
        error: null,
        last_success_at: "2026-11-21T12:00:00.000Z",
        duration_ms: 4,
      },
      { name: "prices", node: "node", up: true, error: null, last_success_at: null, duration_ms: 1 },
      {
        name: "oracle-metrics",
        node: "node",
        up: false,
        error: "refused <b>",
        last_success_at: null,
        duration_ms: 1,
      },
    ]);
    expect(page).toContain("refused &lt;b&gt;");
    expect(metrics).toContain(
      'oracle_watchdog_source_up{validator="default",node="node",source="oracle-metrics"} 0',
    );
    expect(metrics).toContain(
      `oracle_watchdog_source_last_success_timestamp_seconds{validator="default",node="node",source="node"} ${NOW / 1000}`,
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
      expect(page).toContain(`<strong>${escapeHtml(condition.title)}</strong>: a reason`);
      expect(metrics).toContain(
        `oracle_watchdog_alert_firing{validator="default",chain_id="test-1",alert="${name}",severity="${severity}"} 1`,
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
    expect(page).toContain("Cannot see: the first poll has not finished yet");
    expect(page).toContain("None has been evaluated yet");
    expect(metrics).toContain(
      'oracle_watchdog_alert_firing{validator="default",chain_id="",alert="all-prices-missing",severity="critical"} 0',
    );
    expect(metrics).not.toContain("oracle_watchdog_month_success_ratio{");
  });

  it("has only the series of the last status", async () => {
    const registry = new Registry();
    const metrics = createWatchdogMetrics(registry, []);
    const last = statusOf({ state: EMPTY_STATE, last: undefined, lastSuccessMs: new Map() });
    for (const status of [statusOf(), last]) metrics.showStatus(status);
    const lines = (page: string): readonly string[] => page.split("\n").toSorted(ascending);
    expect(lines(await registry.metrics())).toEqual(lines((await shown(last)).metrics));
  });

  it("has the value of the last status in a series that all validators set", async () => {
    const registry = new Registry();
    const metrics = createWatchdogMetrics(registry, []);
    const validator = { ...VALIDATOR, target: { ...VALIDATOR.target, name: "other" } };
    const stored = /^oracle_watchdog_state_stored (\d)$/m;
    const seen: (string | undefined)[] = [];
    for (const status of [
      statusOf({ validator }),
      statusOf({ storeProblem: "the disk is full" }),
      statusOf({ validator }),
    ]) {
      metrics.showStatus(status);
      seen.push(stored.exec(await registry.metrics())?.[1]);
    }
    expect(seen).toEqual(["1", "0", "1"]);
  });
});

it("a payment that a poll found stays in the state, and the next search of its month replaces it", () => {
  const poll = (state: WatchdogState, payment: Seen<Payment>): WatchdogState => {
    const observation = healthyFrame(NOW).observation;
    const chain = { ...observation.chain, payment };
    return planEvaluation(state, { ...observation, chain }, { ...OPTIONS, isFirst: false }).state;
  };
  const payment = (month: string, outcome: Payment["outcome"]): Payment => ({
    month,
    outcome,
    searchedMs: NOW,
    height: 1n,
    timeMs: NOW,
  });
  const unsearched = poll(EMPTY_STATE, NOT_CONFIGURED);
  expect(unsearched.payments).toBeUndefined();
  const missing = poll(unsearched, up(payment("2026-10", "missing")));
  expect(missing.payments?.get("default")).toEqual([payment("2026-10", "missing")]);
  const both = poll(poll(missing, up(payment("2026-09", "failed"))), NOT_CONFIGURED);
  expect(poll(both, up(payment("2026-10", "none-due"))).payments?.get("default")).toEqual([
    payment("2026-09", "failed"),
    payment("2026-10", "none-due"),
  ]);
});
