import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/platform/base/time.ts";
import type { PastAlert } from "../../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { createWatchdogPage } from "../../../src/watchdog/page/create-page.ts";
import { createPlots, validatorPlots } from "../../../src/watchdog/page/validator-plots.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { pastAlert } from "../../support/pages/status-page-scenes.ts";
import {
  alertState,
  type BuiltValidator,
  buildValidator,
  HEALTHY,
  SCENE_MS,
  TROUBLED,
} from "../../support/pages/watchdog-scenes.ts";
import { rigConfig } from "../../support/watchdog/rig.ts";

/** Plots of a validator that the test exchanges. */
function plotsOver(first: BuiltValidator) {
  const clock = createManualClock(SCENE_MS);
  const world = { built: first, history: [] as readonly PastAlert[], reads: 0, fails: false };
  const deps = {
    clock,
    ledger: () => world.built.ledger,
    storedLedger: () => {
      world.reads += 1;
      if (world.fails) throw new Error("disk I/O error");
      return world.built.ledger;
    },
    alerting: () => ({ silences: [], history: world.history, outbox: [] }),
    channels: () => [],
  };
  const plots = createPlots(deps);
  const expected = (): string =>
    validatorPlots(world.built.status, world.built.ledger, { nowMs: clock.nowMs(), history: world.history })
      .text;
  return { clock, world, plots, deps, expected, render: () => plots.render(world.built.status).text };
}

describe("the plots", () => {
  it("read days that are over once, and show what plots without a memory show", () => {
    const { world, plots, expected, render } = plotsOver(buildValidator(TROUBLED));
    plots.prepare(world.built.status);
    plots.prepare(world.built.status);
    expect(render()).toBe(expected());
    expect(world.reads).toBe(1);
  });

  it("show what changed in the present day, and read again what changed in a day before it", () => {
    const { world, expected, render } = plotsOver(buildValidator(HEALTHY));
    const first = render();
    world.built = buildValidator({ hour: (index) => (index === 491 ? 1 : (HEALTHY.hour?.(index) ?? 0)) });
    const second = render();
    expect([second === first, second === expected(), world.reads]).toEqual([false, true, 1]);
    world.built = buildValidator({ hour: (index) => (index === 300 ? 0.5 : (HEALTHY.hour?.(index) ?? 0)) });
    expect(render()).toBe(expected());
    expect(world.reads).toBe(2);
  });

  it("have the cause that an alert gives to a day before, and begin a new day", async () => {
    const { clock, world, expected, render } = plotsOver(buildValidator(TROUBLED));
    render();
    world.history = [pastAlert("sidecar-down", Date.UTC(2026, 10, 9), Date.UTC(2026, 10, 9, 14))];
    expect(render()).toMatch(/<span>sidecar-down<\/span>.*?<span>5\u202f490<\/span>/s);
    expect(world.reads).toBe(2);
    await clock.advance(DAY_MS);
    expect(render()).toBe(expected());
    expect(world.reads).toBe(3);
  });

  it("show what is in memory while the disk fails, and try again", () => {
    const { world, expected, render } = plotsOver(buildValidator(TROUBLED));
    world.fails = true;
    expect(render()).toBe(expected());
    render();
    world.fails = false;
    expect(render()).toBe(expected());
    render();
    expect(world.reads).toBe(3);
  });
});

describe("the page", () => {
  it("is rendered at polls only while somebody requests it, and never older than its poll", async () => {
    const { clock, world, deps } = plotsOver(buildValidator(HEALTHY));
    let presentReads = 0;
    const page = createWatchdogPage(rigConfig({ alerts: alertsSchema.parse({}) }), {
      ...deps,
      version: "0",
      statuses: () => [world.built.status],
      ledger: () => ({
        ...world.built.ledger,
        hours: (...range) => {
          presentReads += 1;
          return world.built.ledger.hours(...range);
        },
      }),
    });
    const get = async (): Promise<string> => {
      const route = page.routes.find(({ path }) => path === "/");
      const rest = { headers: {}, query: new URLSearchParams(), body: new Uint8Array(), params: {} };
      const reply = await route?.handle({
        method: "GET",
        path: "/",
        signal: new AbortController().signal,
        ...rest,
      });
      return String(reply?.body);
    };
    page.render(world.built.status);
    expect([presentReads, world.reads]).toEqual([0, 1]);
    await get();
    const once = presentReads;
    expect(once).toBeGreaterThan(0);
    await clock.advance(5_000);
    world.built = buildValidator({
      ...HEALTHY,
      alerts: [alertState("clock-skew", "firing", { reason: "by 9 s" })],
      status: { polledAtMs: SCENE_MS + 5_000 },
    });
    page.render(world.built.status);
    expect(presentReads).toBe(2 * once);
    expect(await get()).toContain("by 9 s");
    expect(presentReads).toBe(2 * once);
    await clock.advance(600_000);
    world.built = buildValidator({
      ...HEALTHY,
      alerts: [alertState("clock-skew", "firing", { reason: "by 11 s" })],
      status: { polledAtMs: SCENE_MS + 605_000 },
    });
    page.render(world.built.status);
    expect(presentReads).toBe(2 * once);
    expect(await get()).toContain("by 11 s");
  });

  it("is rendered at each poll when a first request would take too long", () => {
    const { world, deps } = plotsOver(buildValidator(HEALTHY));
    const base = rigConfig();
    const presentReads = (validators: number): number => {
      let reads = 0;
      const ledger = () => ({
        ...world.built.ledger,
        minutes: () => {
          reads += 1;
          return [];
        },
      });
      const config = {
        ...base,
        validators: Array.from({ length: validators }, () => base.validators).flat(),
      };
      const statuses = () => [world.built.status];
      createWatchdogPage(config, { ...deps, ledger, version: "0", statuses }).render(world.built.status);
      return reads;
    };
    expect([presentReads(50), presentReads(51)].map((reads) => reads > 0)).toEqual([false, true]);
  });
});
