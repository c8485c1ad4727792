import { describe, expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import { NO_BLOCKS, type Rollup } from "../../../src/watchdog/ledger/ledger-view.ts";
import { dayPlot, lastDayOf } from "../../../src/watchdog/page/validator-plots.ts";
import { SPECIFIED_LEAST } from "../../../src/watchdog/policy/reward-tier.ts";
import { ledgerViewOf, rollup } from "../../support/watchdog/ledger-view.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 5, 5);
const FIRST_MS = Date.UTC(2026, 10, 20, 12, 15);

const dayOf = (hours: readonly Rollup[], minutes: readonly Rollup[]) =>
  lastDayOf(ledgerViewOf({ hours, minutes }), SPECIFIED_LEAST, NOW_MS);

/** Hours of good blocks from the first one of the plot to a time. */
const hoursUntil = (untilMs: number): readonly Rollup[] => {
  const hours: Rollup[] = [];
  for (let at = Date.UTC(2026, 10, 20, 12); at < untilMs; at += HOUR_MS)
    hours.push(rollup(at, { good: 1800n }));
  return hours;
};

describe("the last 24 hours", () => {
  it("have the state of each quarter of an hour, up to the present one", () => {
    const minuteOf = (before: number, counts: Parameters<typeof rollup>[1]): Rollup =>
      rollup(Math.floor(NOW_MS / MINUTE_MS - before) * MINUTE_MS, counts);
    const { slots, fromMs } = dayOf(
      [],
      [
        minuteOf(60, { good: 30n, unknown: 31n }),
        minuteOf(45, { good: 28n, bad: 2n }),
        minuteOf(44, { good: 1n }),
        minuteOf(30, { good: 29n, bad: 1n }),
        minuteOf(6, { good: 30n }),
        minuteOf(5, { good: 30n }),
        minuteOf(0, { good: 30n }),
      ],
    );
    expect(fromMs).toBe(FIRST_MS);
    expect(slots).toHaveLength(96);
    expect(slots.slice(-6)).toEqual(["none", "unknown", "bad", "weak", "good", "good"]);
    expect(new Set(slots.slice(0, -6))).toEqual(new Set(["none"]));
  });

  it("have the state of the hour where minutes are not stored any more, and a gap stays one", () => {
    const minutes = [rollup(Date.UTC(2026, 10, 21, 1, 30), { good: 30n }), rollup(NOW_MS, { bad: 30n })];
    const hours = [...hoursUntil(NOW_MS)];
    hours[2] = rollup(Date.UTC(2026, 10, 20, 14), { bad: 1800n });
    const { slots } = dayOf(hours, minutes);
    expect(slots.slice(0, 12).join(" ")).toBe("good good good good good good good bad bad bad bad good");
    // The first stored minute is in the quarter at 01:30.
    expect(slots.slice(52, 56)).toEqual(["good", "good", "none", "none"]);
    expect(slots.at(-1)).toBe("bad");
  });

  it("have no block before counting began, within its hour", () => {
    const counted = rollup(Date.UTC(2026, 10, 21, 11, 35), { good: 25n });
    const { slots } = dayOf([rollup(Date.UTC(2026, 10, 21, 11), { good: 25n })], [counted]);
    expect(slots.slice(-5)).toEqual(["none", "none", "good", "none", "none"]);
  });

  it("show estimates and the time before counting began as what they are", () => {
    const counts = { good: 30n, bad: 0n, unknown: 0n };
    const estimated = { startMs: NOW_MS - 20 * MINUTE_MS, counts, estimated: counts };
    const { slots } = dayOf([], [estimated, rollup(NOW_MS, { good: 5n })]);
    expect(slots.slice(-3)).toEqual(["none", "estimated", "good"]);
    const text = dayPlot(dayOf([], [rollup(NOW_MS, { good: 5n })])).text;
    expect(text).toContain("not counted yet</text>");
    expect(text).toContain("95 quarters without a block");
    expect(dayPlot(dayOf([], [])).text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("have no label that the edge cuts, whatever the time", () => {
    for (let quarter = 0; quarter < 96; quarter++) {
      const fromMs = FIRST_MS + quarter * 15 * MINUTE_MS;
      const plot = dayPlot({ fromMs, slots: [], counts: NO_BLOCKS }).text;
      const labels = [...plot.matchAll(/<text x="([\d.]+)"[^>]*?( text-anchor="end")?>\d\d:00</g)];
      expect(labels).toHaveLength(4);
      // A digit has six of the 360 units, and half as much is for the colon.
      for (const [, x, end] of labels)
        expect(Number(x) + (end === undefined ? 33 : 0)).toBeLessThanOrEqual(360);
    }
  });

  it("are said in words, with every sixth hour on the axis", () => {
    const hours = hoursUntil(Date.UTC(2026, 10, 21, 1));
    const { text } = dayPlot(dayOf([...hours, rollup(Date.UTC(2026, 10, 21, 11), { bad: 7n })], []));
    expect(text).toContain(
      'aria-label="Last 24 hours, by quarter of an hour: 21\u202f600 good, 7 bad and 0 unknown blocks; 4 quarters below any pay, 41 quarters without a block"',
    );
    expect([...text.matchAll(/>(\d\d:00)</g)].map(([, hour]) => hour)).toEqual([
      "18:00",
      "00:00",
      "06:00",
      "12:00",
    ]);
    expect(dayPlot({ fromMs: FIRST_MS, slots: [], counts: NO_BLOCKS }).text).toContain("0 good");
  });
});
