import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { SCATTERED } from "../../src/watchdog/alerts/miss-causes.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import { alertName } from "../../src/watchdog/conditions/condition.ts";
import { nextMonthMs } from "../../src/platform/base/month.ts";
import { HOUR_MS, isoTime } from "../../src/platform/base/time.ts";
import { getJson, until } from "../support/e2e/cli-process.ts";
import { readAlerts } from "../support/stack/shown-alerts.ts";
import {
  costSentence,
  readToldCosts,
  shareSentence,
  type ToldCosts,
  type WireIncident,
} from "../support/stack/told-costs.ts";
import {
  type HookEvent,
  OWN_CHANNELS,
  RECONNECT_MS,
  SEEN_MS,
  startAfternoon,
  type Switched,
  type WatchedAfternoon,
} from "../support/stack/watched-afternoon.ts";

/** A fault, and the one alert that notifies of it. */
interface Played {
  readonly fault: string;
  readonly alert: string;
  /** An alert that fires too, and that this one mutes. */
  readonly muted?: string;
  /** The node counts the blocks that it loses. */
  readonly loses?: true;
}

/** One after the other: failures with and without lost blocks, of the sidecar, its prices, the node and the chain. */
const FAULTS: readonly Played[] = [
  { fault: "sidecar-killed", alert: "sidecar-down", loses: true },
  { fault: "price-deviation", alert: "prices-differ-from-chain" },
  { fault: "slow", alert: "sidecar-too-slow", loses: true },
  { fault: "upgrade-planned", alert: "upgrade-planned" },
  { fault: "http-500", alert: "sidecar-down", loses: true },
  { fault: "pre-block-error", alert: "node-not-voting" },
  { fault: "all-prices-missing", alert: "all-prices-missing" },
  { fault: "jail-near", alert: "not-signing", muted: "jail-near" },
];

/** All alerts that notify, in their order. */
const PAGES = [...FAULTS.map(({ alert }) => alert), "payment-missing", "payment-differs"];

const SLOW = { timeout: 240_000 };
const STEP_MS = 90_000;

let afternoon: WatchedAfternoon;

beforeAll(async () => {
  afternoon = await startAfternoon();
}, 120_000);
afterAll(async () => {
  await afternoon.close();
}, 240_000);

const alertsOf = z.object({ alerts: z.array(z.object({ name: z.string(), state: z.string() })) });

async function firing(): Promise<readonly string[]> {
  const { alerts } = alertsOf.parse(await getJson(`${afternoon.watchdog}/api/alerts`));
  return alerts.filter(({ state }) => state === "firing").map(({ name }) => name);
}

/** Waits for the event of an alert after the first `known` ones, at all four channels. */
function event(alert: string, kind: string, known: number): Promise<HookEvent> {
  return until(
    `${alert} ${kind} at all channels`,
    () => {
      const { events, notified } = afternoon;
      if (OWN_CHANNELS.some((name) => notified[name].length < events.length)) return undefined;
      return events.slice(known).find((one) => one.alert === alert && one.kind === kind);
    },
    STEP_MS,
  );
}

/** Waits until an alert fires, and nobody is told of it: in the watchdog, and in Alertmanager by its rules. */
async function isMuted(alert: string): Promise<void> {
  await until(`${alert} fires`, async () => ((await firing()).includes(alert) ? true : undefined), STEP_MS);
  await until(
    `${alert} is muted in Alertmanager`,
    async () => {
      const shown = await readAlerts(afternoon.alertmanager);
      const own = shown.find(({ labels }) => labels["alertname"] === alertName(alert));
      return own?.status.state === "suppressed" ? true : undefined;
    },
    STEP_MS,
  );
}

/** All places say the same of the month, and of each incident. */
function expectEqual({ month, incidents, metric, pageRows, texts }: ToldCosts): void {
  const { api: cost } = month;
  const { api: all } = incidents;
  if (cost === undefined || all === undefined) expect.unreachable();
  for (const other of Object.values(month)) expect(other).toEqual(cost);
  for (const [place, others] of Object.entries(incidents))
    expect({ place, all: others }).toEqual({ place, all });
  expect(metric).toBe(cost.share);
  expect(cost.share).toBe(Number(cost.blocks) / Number(cost.allowed));
  const rows = all.map((one) => [one.cause, one.cost.blocks, shareSentence(one.cost)]);
  expect(pageRows).toEqual(rows);
  const sum = all.reduce((blocks, one) => blocks + Number(one.cost.blocks), 0);
  expect(sum).toBe(Number(cost.blocks));
  for (const place of ["why", "status", ...(sum === 0 ? [] : (["handover", "monthClose"] as const))] as const)
    expect(texts[place]).toContain(costSentence(cost));
}

/** The places of a firing alert say the same. */
function expectAlert(alert: string, { alerts, texts }: ToldCosts): void {
  const cost = alerts[alert];
  if (cost === undefined) expect.unreachable(`no cost of ${alert}`);
  expect(texts.page).toContain(`, ${costSentence(cost)}.`);
  expect(texts.why).toContain(`Cost: ${costSentence(cost)}.`);
}

/** The incidents that were not there before. */
function added(before: ToldCosts, told: ToldCosts): readonly WireIncident[] {
  const isOld = ({ from, cause }: WireIncident): boolean =>
    incidentsOf(before).some((one) => one.from === from && one.cause === cause);
  return incidentsOf(told).filter((one) => one.cause !== SCATTERED && !isOld(one));
}

function incidentsOf({ incidents }: ToldCosts): readonly WireIncident[] {
  return incidents["api"] ?? [];
}

/** Missed blocks of the month, and those that are scattered: a busy machine misses some. */
function missedOf(told: ToldCosts): { readonly all: number; readonly scattered: number } {
  const scattered = incidentsOf(told).find(({ cause }) => cause === SCATTERED);
  return { all: Number(told.month["api"]?.blocks), scattered: Number(scattered?.cost.blocks ?? 0) };
}

/** What is told while time stands still, and the calls that failed so far, as the node counts them. */
function toldNow(): Promise<ToldCosts & { readonly failed: number }> {
  return afternoon.still(async () => ({
    ...(await readToldCosts(afternoon.home, afternoon.watchdog)),
    failed: await afternoon.failures(),
  }));
}

/** Messages of Alertmanager about an alert. */
const messagesOf = (alert: string) =>
  afternoon.receiver.counts(({ alertname }) => alertname === alertName(alert));

/** Switches a fault on until people were told of its alert on both ways, then off until they were told of its end. */
async function play(
  alert: string,
  begin: () => Promise<Switched>,
  end: () => Promise<Switched>,
  during = async () => {},
) {
  const known = afternoon.events.length;
  const sent = messagesOf(alert).firing;
  const on = await begin();
  await event(alert, "firing", known);
  await until(
    "the message of Alertmanager",
    () => (messagesOf(alert).firing > sent ? true : undefined),
    STEP_MS,
  );
  await during();
  const off = await end();
  const resolved = await event(alert, "resolved", known);
  expect(afternoon.events.slice(known).map((one) => `${one.alert} ${one.kind}`)).toEqual([
    `${alert} firing`,
    `${alert} resolved`,
  ]);
  return { on, off, resolved };
}

describe("an afternoon of eight faults", () => {
  /** What was told when the last fault was over. */
  let before: Awaited<ReturnType<typeof toldNow>>;

  it("begins without an alert, and with equal costs", SLOW, async () => {
    before = await toldNow();
    expectEqual(before);
    expect(afternoon.events).toEqual([]);
  });

  it.each(FAULTS)(
    "$fault: one page, equal costs, and the incident that was injected",
    SLOW,
    async ({ fault, alert, muted, loses }) => {
      const { on, off, resolved } = await play(
        alert,
        () => afternoon.switched(fault, true),
        () => afternoon.switched(fault, false),
        async () => {
          if (muted !== undefined) await isMuted(muted);
          if (loses !== true) return;
          const told = await toldNow();
          expectEqual(told);
          expectAlert(alert, told);
        },
      );
      const told = await toldNow();
      expectEqual(told);
      const was = missedOf(before);
      const is = missedOf(told);
      expect(is.all - was.all).toBe(told.failed - before.failed);
      const found = added(before, told);
      before = told;
      expect(found.map(({ cause }) => cause)).toEqual(loses === true ? [alert] : []);
      for (const { from, to, cost } of found) {
        expect(Number(cost.blocks)).toBe(is.all - was.all - (is.scattered - was.scattered));
        expectBetween(Date.parse(from), on[0] - SEEN_MS, on[1] + SEEN_MS);
        expectBetween(Date.parse(to), off[0] - SEEN_MS, off[1] + RECONNECT_MS);
        expect(resolved.cost).toMatchObject({ blocks: cost.blocks });
      }
      if (found.length === 0) expect(resolved.cost?.blocks ?? "0").toBe("0");
      if (resolved.cost)
        expect(resolved.cost.share).toBe(Number(resolved.cost.blocks) / Number(resolved.cost.allowed));
    },
  );

  it("says what ended each incident", () => {
    expect(incidentsOf(before).map(({ cause, end }) => [cause, end])).toEqual(
      FAULTS.filter(({ loses }) => loses).map(({ alert }) => [alert, "good blocks"]),
    );
  });
});

describe("two months that end", () => {
  it("payment-missing: from the fault to the alert, and to the payment", SLOW, async () => {
    await play(
      "payment-missing",
      async () => {
        const on = await afternoon.switched("payment-missing", true);
        await afternoon.moveInto(nextMonthMs(on[1]) + 7 * HOUR_MS);
        return on;
      },
      () => afternoon.switched("payment-missing", false),
    );
  });

  it("payment-differs: from the fault to the alert, and to a payment as expected", SLOW, async () => {
    await play(
      "payment-differs",
      async () => {
        const on = await afternoon.switched("payment-differs", true);
        await afternoon.blocks(20);
        await afternoon.moveInto(nextMonthMs(on[1]) + HOUR_MS);
        return afternoon.switched("payment-differs", false);
      },
      async () => {
        await afternoon.blocks(20);
        const [nowMs] = await afternoon.switched("payment-differs", false);
        await afternoon.moveInto(nextMonthMs(nowMs) + HOUR_MS);
        return [nowMs, nowMs];
      },
    );
  });
});

describe("in the evening", () => {
  it("no alert is left, nowhere", SLOW, async () => {
    await until("none in the watchdog", async () => none(await firing()), STEP_MS);
    const ofPrometheus = z.object({ data: z.object({ alerts: z.array(z.unknown()) }) });
    await until(
      "none in Prometheus",
      async () =>
        none(ofPrometheus.parse(await getJson(`${afternoon.prometheus}/api/v1/alerts`)).data.alerts),
      STEP_MS,
    );
    await until("none in Alertmanager", async () => none(await readAlerts(afternoon.alertmanager)), STEP_MS);
  });

  it("Alertmanager sent one message about the begin of each alert, and one about its end", SLOW, async () => {
    const ends = () => afternoon.receiver.counts(() => true).resolved;
    await until("the last end", () => (ends() >= PAGES.length ? true : undefined), STEP_MS);
    const counts = CONDITIONS.map(({ name }) => ({ name, ...messagesOf(name) }));
    const played = (name: string) => PAGES.filter((alert) => alert === name).length;
    expect(counts).toEqual(
      CONDITIONS.map(({ name }) => ({ name, firing: played(name), resolved: played(name) })),
    );
  });

  it("all channels say the same", () => {
    const { webhook, ...others } = afternoon.notified;
    expect(webhook).toHaveLength(2 * PAGES.length);
    for (const [channel, all] of Object.entries(others))
      expect({ channel, all }).toEqual({ channel, all: webhook });
  });
});

/** True when nothing is left; otherwise the wait goes on. */
function none(left: readonly unknown[]): true | undefined {
  return left.length === 0 ? true : undefined;
}

function expectBetween(ms: number, fromMs: number, toMs: number): void {
  const text = `${isoTime(ms)} is between ${isoTime(fromMs)} and ${isoTime(toMs)}`;
  expect(ms >= fromMs && ms <= toMs, text).toBe(true);
}
