import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/platform/base/time.ts";
import type { PastAlert } from "../../../src/watchdog/alerts/alert-state.ts";
import { incidentTable, monthStrip, stripPart } from "../../../src/watchdog/page/month-plots.ts";
import { createPlots, type ValidatorPlots } from "../../../src/watchdog/page/validator-plots.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { SCATTERED } from "../../../src/watchdog/alerts/miss-causes.ts";
import { pastAlert } from "../../support/pages/status-page-scenes.ts";
import {
  type BuiltValidator,
  buildValidator,
  HEALTHY,
  SCENE_MS,
  TROUBLED,
} from "../../support/pages/watchdog-scenes.ts";

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
    alerting: () => ({ history: world.history }),
  };
  const plots = createPlots(deps);
  const textOf = (drawn: ValidatorPlots | undefined): string =>
    [drawn?.lastDay, drawn?.month, drawn?.forecast, drawn?.incidents].map((part) => part?.text).join("");
  // Plots without a memory.
  const expected = (): string =>
    textOf(createPlots({ ...deps, storedLedger: () => world.built.ledger })(world.built.status));
  return { clock, world, expected, render: () => textOf(plots(world.built.status)) };
}

describe("the plots", () => {
  it("of a whole month leave room on the screen of the first page", () => {
    const days = Array.from({ length: 31 }, (_, index) => ({
      startMs: Date.UTC(2026, 11, index + 1),
      counts: { good: 10n, bad: 0n, unknown: 0n },
      hours: [],
      state: "good" as const,
    }));
    const { text } = monthStrip([stripPart(days, { firstMs: Date.UTC(2026, 11, 1), shown: 31 })], "2026-12");
    // Drawn in a column of 450 pixels, of 900 below the verdict, the values and the head.
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(text)?.map(Number) ?? [];
    expect(((height ?? Infinity) * 450) / (width ?? 0)).toBeLessThan(460);
  });

  it("read days that are over once, and show what plots without a memory show", () => {
    const { world, expected, render } = plotsOver(buildValidator(TROUBLED));
    render();
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

  it("begin the month with the first day that has a block", () => {
    // The watchdog started on the 18th, at noon.
    const { render } = plotsOver(buildValidator({ hour: (index) => (index < 17 * 24 + 12 ? "none" : 0) }));
    const days = (): readonly string[] =>
      [...render().matchAll(/>(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) (\d+)</g)].map(([, day = ""]) => day);
    expect(days()).toEqual(["18", "19", "20", "21"]);
    expect(render()).toContain(`viewBox="0 0 360 ${4 * 22 + 18}"`);
    const highest = Math.min(...[...render().matchAll(/y="(\d+)">Wed 18</g)].map(([, y]) => Number(y)));
    expect(highest).toBe(16 + 22 - 2);
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

it("the table of incidents begins with the newest one, and ends with the scattered blocks", () => {
  const incident = (cause: string, day: number) => ({
    fromMs: Date.UTC(2026, 10, day),
    toMs: Date.UTC(2026, 10, day, 1),
    bad: 60n,
    month: "2026-11" as const,
    cause,
    cost: { blocks: 60n },
  });
  const incidents = [incident("sidecar-down", 3), incident(SCATTERED, 8), incident("sidecar-slow", 5)];
  const { text } = incidentTable(incidents, 0n);
  expect([...text.matchAll(/2026-11-0(\d)T00:00/g)].map(([, day]) => day)).toEqual(["5", "3", "8"]);
});
