import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createWakeSignal } from "../../src/platform/base/waits.ts";
import { type AlertState, currentAlerts } from "../../src/watchdog/alerts/alert-state.ts";
import { createNotifier } from "../../src/watchdog/notify/notifier.ts";
import { notifySchema } from "../../src/watchdog/notify/notify-config.ts";
import { type AlertmanagerServer, startAlertmanager } from "../support/stack/alertmanager-server.ts";
import { alertEvent } from "../support/watchdog/alert-event.ts";
import { startHook } from "../support/stack/webhook-receiver.ts";

const message = z.object({
  status: z.string(),
  alerts: z.array(
    z.object({ labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) }),
  ),
});
const listed = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    status: z.object({ state: z.string() }),
    endsAt: z.string(),
  }),
);

/** Messages that Alertmanager sent to its receiver. */
const messages: z.output<typeof message>[] = [];
const stop: (() => Promise<unknown>)[] = [];
let alertmanager: AlertmanagerServer;

beforeAll(async () => {
  const receiver = await startHook((body) => messages.push(message.parse(body)));
  stop.push(receiver.close);
  alertmanager = await startAlertmanager(receiver.url);
  stop.push(alertmanager.close);
});
afterAll(async () => {
  for (const one of stop.toReversed()) await one();
});

/** The alerts that Alertmanager shows. */
const shown = async () => listed.parse(await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json());

/** A watchdog's notifier whose alerts the test sets. */
function startNotifier() {
  const changed = createWakeSignal();
  const end = new AbortController();
  const state: { alerts: readonly AlertState[] } = { alerts: [] };
  const outcomes: string[] = [];
  const config = notifySchema.parse({
    channels: [{ kind: "alertmanager", name: "am", urls: [alertmanager.url], resend: "1s" }],
  });
  const never: () => Promise<never> = () => new Promise(() => {});
  const notifier = createNotifier(config, {
    clock: systemClock,
    logger: silentLogger,
    random: Math.random,
    outbox: { next: never, others: () => [], remove: () => {}, bury: () => {} },
    alerts: () => currentAlerts(state.alerts),
    changed: changed.next,
    work: () => ({ problem: undefined }),
    metrics: { recordDelivery: (_channel, outcome) => outcomes.push(outcome), recordPing: () => {} },
  });
  const run = Promise.all(notifier.services.map((service) => service.run(end.signal)));
  const kill = async (): Promise<void> => {
    end.abort(new Error("killed"));
    await run;
  };
  stop.push(kill);
  return {
    notifier,
    outcomes,
    kill,
    set: (...alerts: readonly AlertState[]) => {
      state.alerts = alerts;
      changed.wake();
    },
  };
}

function firing(sinceMs: number): AlertState {
  const event = alertEvent({ sinceMs });
  return {
    validator: event.validator,
    alert: event.alert,
    phase: "firing",
    sinceMs,
    lastActiveMs: sinceMs,
    reason: event.reason,
    notified: { reminders: 0, event },
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 80_000;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error("the condition did not become true");
    await sleep(100);
  }
}

describe("a real Alertmanager", () => {
  it("accepts a test of the channel", async () => {
    const { notifier, kill } = startNotifier();
    const results = await notifier.test(new AbortController().signal);
    expect(results).toEqual([{ channel: "am", kind: "alertmanager", error: null }]);
    await kill();
  });

  it("notifies once of an alert that two watchdogs push again and again, and once of its end", async () => {
    const sinceMs = Date.now() - 60_000;
    const first = startNotifier();
    const second = startNotifier();
    first.set(firing(sinceMs));
    second.set(firing(sinceMs));
    const ours = () =>
      messages.filter(({ alerts }) => alerts[0]?.labels["alertname"] === "OracleSidecarDown");
    await until(() => ours().length > 0);
    await until(() => first.outcomes.length >= 4 && second.outcomes.length >= 4);
    expect(await shown()).toMatchObject([
      {
        labels: {
          alertname: "OracleSidecarDown",
          severity: "critical",
          chain_id: "test-1",
          validator: "default",
        },
        status: { state: "active" },
      },
    ]);
    expect(ours().map(({ status }) => status)).toEqual(["firing"]);
    const resolved: AlertState = {
      ...firing(sinceMs),
      phase: "resolved",
      resolvedAtMs: Date.now(),
      reason: "it answers",
    };
    first.set(resolved);
    second.set(resolved);
    await until(() => ours().length > 1);
    expect(ours().map(({ status }) => status)).toEqual(["firing", "resolved"]);
    expect(ours()[1]?.alerts[0]?.annotations).toMatchObject({
      description: expect.stringContaining("it answers"),
      resolved_summary: "Now: it answers.",
      cost: expect.stringContaining("61 blocks"),
    });
    await Promise.all([first.kill(), second.kill()]);
  });

  it("ends an alert whose watchdog is gone", async () => {
    const before = messages.length;
    const { set, kill, outcomes } = startNotifier();
    set(firing(Date.now() - 60_000));
    await until(() => messages.length > before);
    await until(() => outcomes.length > 0);
    await kill();
    await until(async () => (await shown()).length === 0);
    await until(() => messages.length > before + 1);
    expect(messages.slice(before).map(({ status }) => status)).toEqual(["firing", "resolved"]);
  });
});
