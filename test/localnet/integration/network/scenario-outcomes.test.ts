import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { OracleFaultName } from "../../../../src/localnet/node/oracle/oracle-client.ts";
import type { FaultName } from "../../../../src/localnet/sidecar/faults.ts";
import { rewardCents, SPECIFIED_POLICY } from "../../../../src/watchdog/policy/assessment.ts";
import { formatPercent, successRate, tierOf } from "../../../../src/watchdog/policy/reward-tier.ts";
import { createSimulatedValidator } from "../../../support/localnet/simulated-validator.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { playMonth } from "../../../support/watchdog/month/replay.ts";
import { readResult, type ReplayResult } from "../../../support/watchdog/month/result.ts";
import { planSteady, type SteadyOptions } from "../../../support/watchdog/month/steady.ts";
import { createReceiver, rigConfig, startRig } from "../../../support/watchdog/rig.ts";

const START = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
/** One tick a second is enough for alerts, and four times faster. */
const TICK_MS = 1000;

let stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.toReversed()) await stop();
  stops = [];
});

/** A watchdog over a healthy validator, some minutes old. */
async function start() {
  const clock = createManualClock(START);
  const end = new AbortController();
  const validator = createSimulatedValidator(clock, end.signal, TICK_MS);
  await clock.advance(MINUTE);
  const rig = await startRig(rigConfig({ intervalMs: 10_000 }), clock, validator, createReceiver());
  stops.push(() => end.abort(new Error("test over")), rig.stop);
  await clock.advance(2 * MINUTE);
  const status = () => rig.watchdog.status();
  const firing = (isMuted?: false): readonly string[] =>
    status()
      .alerts.filter(({ state }) => state?.phase === "firing")
      .filter(({ state }) => isMuted === undefined || state?.quietReason === undefined)
      .map(({ rule }) => rule.condition.name);
  /** Alerts that fire and that nothing mutes. */
  const notified = (): readonly string[] => firing(false);
  return { clock, validator, status, firing, notified };
}

/** Alerts after a time with a fault. */
async function alertsWith(fault: FaultName | OracleFaultName, minutes: number): Promise<readonly string[]> {
  const { clock, validator, notified } = await start();
  expect(notified()).toEqual([]);
  validator.setFault(fault, true);
  await clock.advance(minutes * MINUTE);
  return notified();
}

/** Plays whole months to the watchdog, polled every six hours. */
async function playSteady(options: SteadyOptions): Promise<ReplayResult> {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-steady-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const plan = planSteady(options);
  await playMonth({ plan, folder, intervalMs: 6 * 60 * MINUTE }, plan.startMs);
  return readResult(folder)[0] ?? expect.unreachable("no validator");
}

/** Rate, tier and pay of a month in cents, by the curve of the revenue module. */
function payOf({ months }: ReplayResult, month: string) {
  const rate = successRate(months.find((one) => one.month === month)?.counts ?? expect.unreachable(month));
  if (rate === undefined) return expect.unreachable("no block");
  const policy = { ...SPECIFIED_POLICY, curve: "revenue-quadratic" } as const;
  return [formatPercent(rate), tierOf(rate), rewardCents(policy, rate)];
}

/** The sidecar is down or too slow for the node: calls fail, and the rate falls below every tier. */
async function rateFalls(fault: FaultName, alert: string): Promise<void> {
  const { clock, validator, notified, status } = await start();
  validator.setFault(fault, true);
  await clock.advance(6 * MINUTE);
  expect(notified()).toContain(alert);
  expect(status().current.counts.bad).toBeGreaterThanOrEqual(170n);
  expect(status().current.tier).toBe("none");
  validator.setFault(fault, false);
  await clock.advance(9 * MINUTE);
  expect(notified()).not.toContain(alert);
}

/** One row of the table of scenarios: what the documents say, and the test of it. */
interface Scenario {
  readonly ends: string;
  readonly play: () => Promise<void>;
}

/** Every row of the documents' table of scenarios, in its order. */
const SCENARIOS = {
  healthy: {
    ends: "full pay, no alert",
    play: async () => {
      const { clock, notified, status } = await start();
      await clock.advance(3 * MINUTE);
      expect(notified()).toEqual([]);
      expect(status().current).toMatchObject({ tier: "full", counts: { bad: 0n } });
    },
  },
  "a few pairs missing": {
    ends: "no alert",
    play: async () => expect(await alertsWith("pair-missing", 6.5)).toEqual([]),
  },
  "one WebSocket flaps": {
    ends: "no alert",
    play: async () => expect(await alertsWith("websocket-flap", 6.5)).toEqual([]),
  },
  "all WebSockets down": {
    ends: "all prices missing five minutes after the last price; the providers' alert, after half an hour, is muted by it",
    play: async () => {
      const { clock, validator, firing, notified, status } = await start();
      validator.setFault("websocket-providers-down", true);
      await clock.advance(6.5 * MINUTE);
      expect(notified()).not.toContain("all-prices-missing");
      await clock.advance(1.5 * MINUTE);
      expect(notified()).toContain("all-prices-missing");
      await clock.advance(20 * MINUTE);
      expect(firing()).not.toContain("websocket-providers-failing");
      await clock.advance(6 * MINUTE);
      expect(firing()).toContain("websocket-providers-failing");
      expect(notified()).toEqual(["all-prices-missing"]);
      expect(status().current).toMatchObject({ tier: "full", counts: { bad: 0n } });
    },
  },
  "sidecar down": {
    ends: "the rate falls; its return resolves the alert",
    play: () => rateFalls("sidecar-killed", "sidecar-down"),
  },
  "sidecar slow": {
    ends: "the rate falls; its recovery resolves the alert",
    play: () => rateFalls("slow", "sidecar-too-slow"),
  },
  "price loop hung": {
    ends: "stale price timestamp, while the node counts successes",
    play: async () => {
      const { clock, validator, notified, status } = await start();
      validator.setFault("timestamp-stale", true);
      await clock.advance(1.5 * MINUTE);
      expect(notified()).toEqual(["stale-price-timestamp"]);
      expect(status().current).toMatchObject({ tier: "full", counts: { bad: 0n } });
    },
  },
  "start of the sidecar": {
    ends: "no alert in half a minute",
    play: async () => expect(await alertsWith("startup", 0.5)).toEqual([]),
  },
  "node restart": {
    ends: "no tier changes",
    play: async () => {
      const { clock, validator, notified, status } = await start();
      validator.restartNode();
      await clock.advance(5 * MINUTE);
      expect(notified()).toEqual([]);
      expect(status().current).toMatchObject({ tier: "full", counts: { bad: 0n } });
      expect(status().current.counts.good).toBeGreaterThan(7n * 60n);
    },
  },
  "a month at 96.5 %": {
    ends: "proportional, and the revenue module pays 0.875 of the reward",
    play: async () => {
      const result = await playSteady({ missesOf1000: 35, endMs: Date.UTC(2026, 10, 1, 12) });
      expect(payOf(result, "2026-10")).toEqual(["96.5000", "proportional", 262_500n]);
      const alerts = result.alerts.map(({ alert }) => alert);
      expect(alerts).toContain("full-reward-lost");
      expect(alerts.filter((name) => name.startsWith("any-reward") || name === "rotation-risk")).toEqual([]);
    },
  },
  "two months at 94.9 %": {
    ends: "no pay, and the rotation risk before the second one ends",
    play: async () => {
      const result = await playSteady({ missesOf1000: 51, endMs: Date.UTC(2026, 11, 2) });
      expect(payOf(result, "2026-10")).toEqual(["94.9005", "none", 0n]);
      expect(payOf(result, "2026-11")).toEqual(["94.9000", "none", 0n]);
      const [risk = expect.unreachable("no rotation risk"), ...others] = result.alerts.filter(
        ({ alert }) => alert === "rotation-risk",
      );
      expect(others).toEqual([]);
      expect(risk.reason).toBe(
        "the validator was below the lower boundary in 2026-10, and this month will be too",
      );
      expect(risk.firedAtMs).toBeLessThan(Date.UTC(2026, 10, 2));
      expect(risk.resolvedAtMs).toBeUndefined();
      expect(result.received.filter(({ alert }) => alert === "rotation-risk")[0]?.kind).toBe("firing");
    },
  },
  "version 1 only, version 2 only": {
    ends: "the other path is found",
    play: async () => {
      for (const fault of ["v1-only", "v2-only"] as const) {
        const { clock, validator, notified, status } = await start();
        validator.setFault(fault, true);
        await clock.advance(6.5 * MINUTE);
        expect([fault, notified(), status().prices]).toEqual([fault, [], "present"]);
      }
    },
  },
} satisfies Readonly<Record<string, Scenario>>;

describe("the scenarios of the documents", () => {
  it.each(Object.entries<Scenario>(SCENARIOS).map(([row, scenario]) => ({ row, ...scenario })))(
    "$row: $ends",
    ({ play }) => play(),
  );
});

describe("further failures", () => {
  it.each([
    "provider-rate-limited",
    "provider-blocked",
    "provider-no-response",
    "provider-invalid-response",
    "provider-decode-error",
  ] as const)("%s raises no alert", async (fault) => {
    expect(await alertsWith(fault, 6.5)).toEqual([]);
  });

  it.each([
    ["sidecar-down", 6, "sidecar-down"],
    ["http-500", 6, "sidecar-down"],
    ["all-prices-missing", 6, "all-prices-missing"],
    ["market-map-empty", 6, "all-prices-missing"],
    ["major-pairs-missing", 6, "major-pairs-missing"],
  ] as const)("%s raises its alert", async (fault, minutes, alert) => {
    expect(await alertsWith(fault, minutes)).toContain(alert);
  });
});
