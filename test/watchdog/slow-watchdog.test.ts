import { expect, it } from "vitest";
import type { WaitSignal } from "../../src/platform/base/abort.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createReceiver, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

it("a watchdog whose polls begin late is one alert, and what it cannot see meanwhile notifies nobody", async () => {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
  const world = createWorld(clock);
  const receiver = createReceiver();
  let lateMs = 0;
  // Its timers end late, as they do while the processor is busy.
  const busy = {
    ...clock,
    monotonicMs: () => clock.monotonicMs() + lateMs,
    sleep: async (delayMs: number, signal: WaitSignal) => {
      await clock.sleep(delayMs, signal);
      if (delayMs === 5000) lateMs += 7000;
    },
  };
  const [validator = expect.unreachable()] = rigConfig().validators;
  const validators = ["a", "b"].map((name) => ({ ...validator, target: { ...validator.target, name } }));
  const rig = await startRig(rigConfig({ validators }), busy, world, receiver);
  await clock.advance(30_000);
  world.set("blind-node", true);
  await clock.advance(600_000);
  expect(receiver.alerts.map(({ alert, kind }) => [alert, kind])).toEqual([["watchdog-slow", "firing"]]);
  const [first] = rig.watchdog.statuses();
  const seen = first?.alerts.find(({ rule }) => rule.condition.name === "cannot-see-votes")?.state;
  expect([seen?.phase, seen?.quietReason]).toEqual(["firing", "muted by watchdog-slow"]);
  expect(await rig.registry.metrics()).toMatch(
    /^oracle_watchdog_poll_late_seconds\{validator="a"\} (?:7|14)$/m,
  );
  await rig.stop();
});
