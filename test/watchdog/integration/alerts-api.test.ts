import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { openSqliteState } from "../../../src/watchdog/state/sqlite-state.ts";
import { createWatchdogReports } from "../../../src/watchdog/report/report-source.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { fieldNames } from "../../support/field-names.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createReceiver, type Receiver, type Rig, rigConfig, startRig } from "../../support/watchdog/rig.ts";
import { createWorld, type World } from "../../support/watchdog/world.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const TOKEN = "test-token";

let clock: ManualClock;
let world: World;
let receiver: Receiver;
let folder: string;
let rig: Rig;

beforeEach(async () => {
  clock = createManualClock(NOON);
  world = createWorld(clock);
  receiver = createReceiver();
  folder = mkdtempSync(join(tmpdir(), "relaywatch-alerts-"));
  rig = await start();
});
afterEach(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true });
});

const start = (): Promise<Rig> =>
  startRig(rigConfig({ stateDir: folder, token: new Secret(TOKEN) }), clock, world, receiver);

async function call(method: string, path: string, body?: unknown, token: string | undefined = TOKEN) {
  const response = await fetch(rig.url + path, {
    method,
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const json: unknown = await response.json();
  return { status: response.status, json };
}

/** A silence of all alerts that ends in an hour. */
const SILENCE = { author: "me", reason: "planned restart", ends_at: "2026-11-21T13:00:00Z" };

describe("GET /api/alerts", () => {
  it("has every condition with its texts, thresholds and state, in snake_case", async () => {
    world.set("no-prices", true);
    await clock.advance(4 * MINUTE);
    const { status, json } = await call("GET", "/api/alerts", undefined, "");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      alerts: CONDITIONS.map(({ name, title, impact }) => ({ name, title, impact, validator: "default" })),
      silences: [],
      maintenance: [],
    });
    const names = fieldNames(json);
    expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual([]);
    expect(json).toMatchObject({
      alerts: expect.arrayContaining([
        expect.objectContaining({
          name: "all-prices-missing",
          alertname: "OracleAllPricesMissing",
          state: "pending",
          since: "2026-11-21T12:00:05.000Z",
          fires_at: "2026-11-21T12:05:05.000Z",
          reason: "the sidecar responds without any price",
          runbook: "all-prices-missing.md",
          for_seconds: 300,
        }),
        expect.objectContaining({ name: "sidecar-slow", state: "inactive", thresholds: { slow_after: 500 } }),
      ]),
    });
  });
});

describe("a notification that the receiver rejects", () => {
  it("is a dead letter, with its channel and error", async () => {
    receiver.status = 422;
    world.set("sidecar-down", true);
    await clock.advance(10 * MINUTE);
    const { json } = await call("GET", "/api/alerts", undefined, "");
    const letterOf = (alert: string) => ({
      channel: "webhook",
      id: expect.stringContaining(alert),
      alert,
      validator: "default",
      kind: "firing",
      at: expect.stringMatching(/^2026-11-21T12:0\d:/),
      reason: expect.any(String),
      failed_at: expect.stringMatching(/^2026-11-21T12:0\d:/),
      error: "the webhook answered HTTP 422",
    });
    expect(json).toHaveProperty(
      "dead_letters",
      expect.arrayContaining(["sidecar-down", "notifications-lost"].map(letterOf)),
    );
  });

  it("raises an alert, is on the page and a metric, and is sent again or dropped on request", async () => {
    const lost = () =>
      rig.watchdog.status().alerts.find(({ rule }) => rule.condition.name === "notifications-lost")?.state;
    const metric = async () =>
      /oracle_watchdog_dead_letters\{channel="webhook"\} (\d+)/.exec(
        await (await fetch(`${rig.url}/metrics`)).text(),
      )?.[1];
    // The receiver does not exist any more: one attempt is enough.
    receiver.status = 410;
    world.set("sidecar-down", true);
    await clock.advance(3 * MINUTE);
    expect(lost()).toMatchObject({
      phase: "firing",
      reason: expect.stringContaining("webhook: the webhook answered HTTP 410"),
    });
    const attempts = receiver.alerts.filter(({ alert }) => alert === "sidecar-down").length;
    expect(attempts).toBe(1);
    // The alert about them does not count its own.
    const others = lost()?.reason;
    await clock.advance(3 * MINUTE);
    expect(lost()?.reason).toBe(others);
    expect(Number(await metric())).toBeGreaterThan(1);
    expect(await (await fetch(rig.url)).text()).toContain("the webhook answered HTTP 410");
    // They are stored.
    await rig.stop();
    rig = await start();
    receiver.status = 204;
    expect(await call("POST", "/api/alerts/dead-letters/resend", {}, "")).toMatchObject({ status: 401 });
    expect(await call("POST", "/api/alerts/dead-letters/resend", { ids: "x" })).toMatchObject({
      status: 400,
    });
    expect((await call("POST", "/api/alerts/dead-letters/resend", { channels: ["other"] })).json).toEqual({
      resent: 0,
    });
    const before = receiver.alerts.length;
    expect((await call("POST", "/api/alerts/dead-letters/resend", {})).json).toEqual({
      resent: Number(await metric()) || expect.any(Number),
    });
    await clock.advance(MINUTE);
    expect(receiver.alerts.slice(before).map(({ alert }) => alert)).toContain("sidecar-down");
    expect([await metric(), lost()?.phase]).toEqual(["0", "resolved"]);
  });

  it("is dropped on request", async () => {
    receiver.status = 410;
    world.set("sidecar-down", true);
    await clock.advance(3 * MINUTE);
    receiver.status = 204;
    const { json } = await call("POST", "/api/alerts/dead-letters/discard", {});
    expect(json).toEqual({ discarded: expect.any(Number) });
    await clock.advance(MINUTE);
    expect(rig.watchdog.status().deadLetters.get("webhook")).toBe(0);
  });
});

describe("an acknowledgement", () => {
  const ACK = { alerts: ["sidecar-down"], author: "kim", note: "new disk" };
  const shownOf = async (name: string): Promise<unknown> => {
    const { json } = await call("GET", "/api/alerts", undefined, "");
    return z
      .object({ alerts: z.array(z.looseObject({ name: z.string() })) })
      .parse(json)
      .alerts.find((alert) => alert.name === name);
  };

  it("is stored with its note before it is confirmed, holds over a restart, and can be withdrawn", async () => {
    world.set("sidecar-down", true);
    await clock.advance(3 * MINUTE);
    expect(await call("POST", "/api/alerts/ack", { ...ACK, alerts: ["clock-skew"] })).toMatchObject({
      status: 400,
      json: {
        error: "not-acknowledged",
        message: expect.stringMatching(/^no alert "clock-skew" is firing; firing: /),
      },
    });
    const acknowledged = { author: "kim", note: "new disk", at: "2026-11-21T12:03:00.000Z" };
    expect(await call("POST", "/api/alerts/ack", ACK)).toEqual({
      status: 200,
      json: { alerts: [{ validator: "default", name: "sidecar-down", acknowledged }] },
    });
    // What the file has now is what a killed process leaves.
    const copy = mkdtempSync(join(tmpdir(), "relaywatch-copy-"));
    for (const name of readdirSync(folder))
      if (name.startsWith("oracle-watchdog.sqlite")) copyFileSync(join(folder, name), join(copy, name));
    const store = openSqliteState(copy);
    expect(store.load().alerting.alerts.filter(({ acknowledged: by }) => by !== undefined)).toMatchObject([
      { alert: "sidecar-down", acknowledged: { author: "kim", note: "new disk" } },
    ]);
    store.close();
    rmSync(copy, { recursive: true });
    await rig.stop();
    rig = await start();
    await clock.advance(MINUTE);
    expect(await shownOf("sidecar-down")).toMatchObject({ state: "firing", acknowledged });
    expect(await (await fetch(rig.url)).text()).toContain("by kim: new disk.");
    const metrics = await rig.registry.metrics();
    expect(metrics).toMatch(/^oracle_watchdog_alert_acknowledged\{.*alert="sidecar-down".*\} 1$/m);
    expect(await call("POST", "/api/alerts/unack", { alerts: ["sidecar-down"] })).toMatchObject({
      status: 200,
    });
    expect(await shownOf("sidecar-down")).toMatchObject({ acknowledged: null });
  });

  it("keeps an alert from being escalated to the channel of the step", async () => {
    await rig.stop();
    const config = rigConfig({ stateDir: folder, token: new Secret(TOKEN) });
    const [hook = expect.unreachable()] = config.notify.channels;
    const phone = { ...hook, name: "phone" };
    const escalation = {
      minSeverity: "critical",
      steps: [{ afterMs: 10 * MINUTE, channels: [phone] }],
    } as const;
    const escalating = { ...config, notify: { ...config.notify, channels: [hook, phone], escalation } };
    rig = await startRig(escalating, clock, world, receiver);
    world.set("sidecar-down", true);
    await clock.advance(5 * MINUTE);
    expect(await shownOf("sidecar-down")).toMatchObject({
      acknowledged: null,
      escalated_at: null,
      escalates_at: expect.stringMatching(/^2026-11-21T12:10:/),
    });
    expect(await (await fetch(rig.url)).text()).toMatch(/Escalates at .* unless it is acknowledged\./);
    await clock.advance(10 * MINUTE);
    const kinds = receiver.alerts.filter(({ alert }) => alert === "sidecar-down").map(({ kind }) => kind);
    expect(kinds).toEqual(["firing", "escalated"]);
    expect(receiver.texts.join("\n")).toContain("[NOT ACKNOWLEDGED, critical] test-1 default: Sidecar down");
    expect(await rig.registry.metrics()).toMatch(
      /^oracle_watchdog_alert_escalation_steps\{.*alert="sidecar-down".*\} 1$/m,
    );
  });
});

describe("silences", () => {
  it("are created, listed, kept over a restart, and deleted", async () => {
    const created = await call("POST", "/api/silences", { ...SILENCE, alerts: ["sidecar-down"] });
    expect(created).toMatchObject({
      status: 201,
      json: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        alerts: ["sidecar-down"],
        validators: [],
        author: "me",
        reason: "planned restart",
        starts_at: "2026-11-21T12:00:00.000Z",
        ends_at: "2026-11-21T13:00:00.000Z",
      },
    });
    await rig.stop();
    rig = await start();
    const { json } = await call("GET", "/api/silences", undefined, "");
    expect(json).toEqual({ silences: [created.json] });
    const [, id = ""] = /"id":"([^"]+)"/.exec(JSON.stringify(created.json)) ?? [];
    expect(await call("DELETE", `/api/silences/${id}`)).toEqual({ status: 200, json: { deleted: id } });
    expect(await call("DELETE", `/api/silences/${id}`)).toMatchObject({ status: 404 });
    expect((await call("GET", "/api/silences")).json).toEqual({ silences: [] });
  });

  it("keep alerts from notifying, and show why, until they expire; blocks are counted", async () => {
    await call("POST", "/api/silences", { ...SILENCE, ends_at: "2026-11-21T12:30:00Z" });
    world.set("sidecar-down", true);
    await clock.advance(20 * MINUTE);
    expect(receiver.alerts).toEqual([]);
    expect((await call("GET", "/api/alerts")).json).toMatchObject({
      alerts: expect.arrayContaining([
        expect.objectContaining({
          name: "sidecar-down",
          state: "firing",
          quiet: "silenced by me: planned restart",
          notified_at: null,
        }),
      ]),
    });
    expect(rig.watchdog.status().current.counts.bad).toBe(1200n);
    const reports = createWatchdogReports(() => rig.watchdog, folder, clock.nowMs);
    const reported = () =>
      reports
        .validators()
        .flatMap(({ alerts }) => alerts)
        .find(({ alert }) => alert === "sidecar-down");
    const quiet = "silenced by me: planned restart";
    expect(reported()).toMatchObject({ quietWhenFired: quiet, quietNow: quiet });
    await clock.advance(11 * MINUTE);
    expect(receiver.alerts).toMatchObject([
      { alert: "sidecar-down", kind: "firing", cost: { blocks: "1800" } },
    ]);
    expect(reported()).toMatchObject({ quietWhenFired: quiet, resolvedAtMs: undefined });
    expect(reported()).not.toHaveProperty("quietNow");
    reports.close();
    expect((await call("GET", "/api/silences")).json).toEqual({ silences: [] });
  });

  it.each([
    ["no JSON", "nonsense", /the body: .*send \{"alerts"/],
    ["no author", { ...SILENCE, author: undefined }, /author/],
    ["an empty reason", { ...SILENCE, reason: " " }, /reason/],
    ["a reason of two lines", { ...SILENCE, reason: "a\nb" }, /reason: is not one line/],
    [
      "an unknown alert",
      { ...SILENCE, alerts: ["sidecar-up"] },
      /unknown alert "sidecar-up"; did you mean sidecar-down/,
    ],
    ["an unknown validator", { ...SILENCE, validators: ["b"] }, /unknown validator "b"; known: default/],
    ["an unknown key", { ...SILENCE, for: "1h" }, /for/],
    ["an end in the past", { ...SILENCE, ends_at: "2026-11-21T11:00:00Z" }, /ends_at must be after/],
    ["no end", { ...SILENCE, ends_at: undefined }, /ends_at/],
    ["an end in two months", { ...SILENCE, ends_at: "2027-01-21T12:00:00Z" }, /at most 31 days/],
  ])("are refused with %s", async (_case, body, message) => {
    const { status, json } = await call("POST", "/api/silences", body);
    expect([status, json]).toEqual([400, { error: "bad-silence", message: expect.stringMatching(message) }]);
  });

  it("are limited to 200", async () => {
    for (let count = 0; count < 200; count++) await call("POST", "/api/silences", SILENCE);
    expect(await call("POST", "/api/silences", SILENCE)).toMatchObject({
      status: 409,
      json: { error: "too-many-silences" },
    });
  });
});

describe("routes that change something", () => {
  it.each([
    ["POST", "/api/silences"],
    ["DELETE", "/api/silences/x"],
    ["POST", "/api/alerts/test"],
    ["POST", "/api/alerts/ack"],
    ["POST", "/api/alerts/unack"],
  ])("need the token: %s %s", async (method, path) => {
    expect((await call(method, path, SILENCE, "")).status).toBe(401);
    expect((await call(method, path, SILENCE, "wrong")).status).toBe(401);
    expect(receiver.alerts).toEqual([]);
  });

  it("are closed without http.token and state_dir", async () => {
    await rig.stop();
    rig = await startRig(rigConfig(), clock, world, receiver);
    expect(await call("POST", "/api/silences", SILENCE)).toMatchObject({
      status: 403,
      json: { error: "no-token-configured" },
    });
  });
});

describe("POST /api/alerts/test", () => {
  it("sends a notification and its end to every channel, and says which one fails", async () => {
    expect(await call("POST", "/api/alerts/test")).toEqual({
      status: 200,
      json: { channels: [{ channel: "webhook", kind: "webhook", error: null }] },
    });
    expect(receiver.alerts.map(({ alert, kind, reason }) => [alert, kind, reason])).toEqual([
      ["test", "firing", "this is a test: somebody is testing the oracle watchdog's channels"],
      ["test", "resolved", "the test is over"],
    ]);
    receiver.status = 503;
    expect(await call("POST", "/api/alerts/test")).toEqual({
      status: 502,
      json: { channels: [{ channel: "webhook", kind: "webhook", error: "the webhook answered HTTP 503" }] },
    });
    expect(rig.log.join("\n")).not.toContain("secret-path");
  });
});
