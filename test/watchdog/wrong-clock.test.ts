import { expect, it } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { createReceiver, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

const DAY = 86_400_000;

it.each([-30 * DAY, 40 * DAY])(
  "a machine whose clock is set by %d ms is an alert after ten minutes, is on the page, and changes no count",
  async (stepMs) => {
    const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
    const world = createWorld(clock);
    let wrongMs = 0;
    const machine = { ...clock, nowMs: () => clock.nowMs() + wrongMs };
    const read: typeof world.read = async (...args) => ({
      ...(await world.read(...args)),
      clockMs: clock.nowMs(),
    });
    const rig = await startRig(rigConfig(), machine, { ...world, read }, createReceiver());
    const phase = (): string | undefined =>
      rig.watchdog.status().alerts.find(({ rule }) => rule.condition.name === "clock-not-believed")?.state
        ?.phase;
    const clockError = async (): Promise<unknown> => {
      const status: unknown = await (await fetch(`${rig.url}/api/status`)).json();
      return status;
    };
    await clock.advance(60_000);
    expect([phase(), await (await fetch(rig.url)).text()]).toEqual([
      undefined,
      expect.not.stringContaining("clock not believed"),
    ]);
    wrongMs = stepMs;
    await clock.advance(590_000);
    expect(phase()).toBe("pending");
    await clock.advance(30_000);
    const text = `it is ${Math.abs(stepMs) / DAY} d ${stepMs < 0 ? "behind" : "ahead of"} the clock of every source`;
    expect([phase(), await clockError()]).toEqual(["firing", expect.objectContaining({ clock_error: text })]);
    expect(await (await fetch(rig.url)).text()).toContain(`The clock of this machine: ${text}.`);
    wrongMs = 0;
    await clock.advance(120_000);
    expect([phase(), await clockError()]).toEqual([
      "resolved",
      expect.objectContaining({ clock_error: null }),
    ]);
    const { months } = rig.watchdog.status();
    expect(months.map(({ month, counts, hash }) => [month, counts, hash])).toEqual([
      ["2026-11", { good: world.actualAtScrape().good, bad: 0n, unknown: 0n }, undefined],
    ]);
    await rig.stop();
  },
);
