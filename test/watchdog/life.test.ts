import { describe, expect, it } from "vitest";
import { planLife } from "../support/watchdog/month/life.ts";

const MINUTE = 60_000;
const MONTH = { endMs: 31 * 24 * 60 * MINUTE, intervalMs: 10 * MINUTE };

/** Where the processes are killed, when each plays `lateMs` more than its mark. */
function killsOf(kills: number, random: () => number, lateMs: number): readonly number[] {
  const parts: number[] = [];
  let fromMs = 0;
  while (parts.length < kills) {
    const { markMs, untilMs } = planLife({ ...MONTH, fromMs, kills: kills - parts.length }, random());
    expect([markMs >= fromMs, untilMs >= markMs, untilMs <= MONTH.endMs]).toEqual([true, true, true]);
    fromMs = Math.min(markMs + lateMs, untilMs);
    parts.push(fromMs / MONTH.endMs);
  }
  return parts;
}

/** A linear congruential generator (Numerical Recipes). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("the kills of a replay", () => {
  it.each([0, MONTH.intervalMs])(
    "all fit into the month, and are spread over it, when each is %d ms late",
    (lateMs) => {
      for (const seed of [1, 2, 3]) {
        const parts = killsOf(1000, createRandom(seed), lateMs);
        for (let tenth = 0; tenth < 10; tenth++) {
          const count = parts.filter((part) => Math.min(9, Math.floor(part * 10)) === tenth).length;
          expect([seed, tenth, count > 50 && count < 200]).toEqual([seed, tenth, true]);
        }
      }
    },
  );

  it("are at most half of the rest away, whatever the random number is", () => {
    const { markMs } = planLife({ ...MONTH, fromMs: 0, kills: 1 }, 1 - Number.EPSILON);
    expect(markMs).toBe(MONTH.endMs / 2);
    expect(planLife({ ...MONTH, fromMs: 0, kills: 10 }, 0)).toEqual({ markMs: 0, untilMs: MONTH.intervalMs });
    expect(planLife({ ...MONTH, fromMs: MONTH.endMs, kills: 3 }, 0.5)).toEqual({
      markMs: MONTH.endMs,
      untilMs: MONTH.endMs,
    });
  });
});
