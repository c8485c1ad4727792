import { describe, expect, it } from "vitest";
import { type AlertState, advanceAlert } from "../../../src/watchdog/alerts/alert-state.ts";
import {
  active,
  cannotSee,
  clear,
  type ConditionResult,
} from "../../../src/watchdog/conditions/condition.ts";

const TIMING = { forMs: 300_000, resolveForMs: 30_000, gapMs: 60_000 };
const BAD = active("bad");
const GOOD = clear("good");
const UNSEEN = cannotSee("not seen");
const NEW = { validator: "default", alert: "a" };

/** Advances an alert by the results. Returns the last state, and each change of the phase with its time in seconds. */
function play(steps: readonly (readonly [number, ConditionResult])[], timing = TIMING, from?: AlertState) {
  let state = from;
  const changes: string[] = [];
  for (const [nowMs, result] of steps) {
    const next = advanceAlert(state, result, { ...timing, nowMs }, NEW);
    if (next?.phase !== state?.phase) changes.push(`${next?.phase ?? "inactive"}@${nowMs / 1000}`);
    state = next;
  }
  return { state, changes };
}

/** One result every 10 s, both ends included. */
function every10s(
  fromS: number,
  toS: number,
  result: ConditionResult,
): readonly (readonly [number, ConditionResult])[] {
  return Array.from(
    { length: (toS - fromS) / 10 + 1 },
    (_, index) => [(fromS + index * 10) * 1000, result] as const,
  );
}

describe("advanceAlert", () => {
  it("fires after more than its time, not at it, and at once without one", () => {
    expect(play(every10s(0, 300, BAD)).changes).toEqual(["pending@0"]);
    expect(play(every10s(0, 600, BAD)).changes).toEqual(["pending@0", "firing@310"]);
    expect(play([[0, BAD]], { ...TIMING, forMs: 0 }).changes).toEqual(["firing@0"]);
  });

  it("begins the time again after a clear result", () => {
    const steps = [...every10s(0, 290, BAD), [295_000, GOOD] as const, ...every10s(300, 600, BAD)];
    expect(play(steps).changes).toEqual(["pending@0", "inactive@295", "pending@300"]);
  });

  it("is resolved when it was clear for long enough, and not by a moment", () => {
    const firing = every10s(0, 310, BAD);
    const steps = [
      ...firing,
      ...every10s(320, 340, GOOD),
      ...every10s(350, 360, BAD),
      ...every10s(370, 400, GOOD),
    ];
    expect(play(steps).changes).toEqual(["pending@0", "firing@310", "resolved@400"]);
    expect(play([...firing, [320_000, GOOD]], { ...TIMING, resolveForMs: 0 }).changes.at(-1)).toBe(
      "resolved@320",
    );
  });

  it("does not count unseen time as clear", () => {
    const steps = [
      ...every10s(0, 310, BAD),
      ...every10s(320, 330, GOOD),
      [340_000, UNSEEN] as const,
      ...every10s(350, 370, GOOD),
    ];
    expect(play(steps).state?.phase).toBe("firing");
    expect(play([...steps, [380_000, GOOD]]).state?.phase).toBe("resolved");
  });

  it("can fire again after its end, as a new alert", () => {
    const { state } = play([
      ...every10s(0, 310, BAD),
      ...every10s(320, 350, GOOD),
      ...every10s(360, 670, BAD),
    ]);
    expect(state).toEqual({
      ...NEW,
      phase: "firing",
      sinceMs: 360_000,
      lastActiveMs: 670_000,
      reason: "bad",
    });
  });

  it("neither fires nor is resolved on unknown results", () => {
    expect(play(every10s(0, 900, UNSEEN)).state).toBeUndefined();
    expect(play([...every10s(0, 310, BAD), ...every10s(320, 9000, UNSEEN)]).state?.phase).toBe("firing");
    const between = [...every10s(0, 200, BAD), ...every10s(210, 300, UNSEEN), [310_000, BAD] as const];
    expect(play(between).changes).toEqual(["pending@0", "firing@310"]);
    expect(play([[0, BAD], ...every10s(10, 310, UNSEEN)]).state).toBeUndefined();
  });

  it("says what the last evaluation found, while it fires and while it is pending", () => {
    const firing = every10s(0, 310, BAD);
    const reasonAfter = (...steps: readonly (readonly [number, ConditionResult])[]) =>
      play([...firing, ...steps]).state?.reason;
    expect(reasonAfter([320_000, active("bad, 12 blocks")])).toBe("bad, 12 blocks");
    expect(reasonAfter([320_000, GOOD], [330_000, clear("better")])).toBe(
      "clear since 1970-01-01 00:05 UTC, better",
    );
    expect(reasonAfter([320_000, GOOD], [330_000, UNSEEN])).toBe("unknown now, not seen");
    expect(reasonAfter([320_000, UNSEEN], [330_000, cannotSee("still not seen")])).toBe(
      "unknown now, still not seen",
    );
    expect(reasonAfter([320_000, UNSEEN], [330_000, BAD])).toBe("bad");
    const pending = play([
      [0, BAD],
      [10_000, UNSEEN],
    ]).state;
    expect([pending?.phase, pending?.reason]).toEqual(["pending", "unknown now, not seen"]);
  });

  it("is the same state while the same cannot be seen", () => {
    const { state } = play([...every10s(0, 310, BAD), [320_000, UNSEEN]]);
    expect(play([[330_000, UNSEEN]], TIMING, state).state).toBe(state);
  });

  it("begins the time again after a gap in polling, and after a step of the clock into the past", () => {
    expect(
      play([
        [0, BAD],
        [301_000, BAD],
        [302_000, BAD],
      ]).state?.phase,
    ).toBe("pending");
    expect(
      play([
        [0, BAD],
        [299_000, BAD],
        [301_000, BAD],
      ]).state?.phase,
    ).toBe("firing");
    expect(
      play([
        [1_000_000, BAD],
        [500_000, BAD],
        [700_000, BAD],
      ]).state?.phase,
    ).toBe("pending");
  });

  it("allows gaps of a minute for a shorter time, and of slow polls", () => {
    const short = { ...TIMING, forMs: 10_000 };
    expect(
      play(
        [
          [0, BAD],
          [60_000, BAD],
        ],
        short,
      ).state?.phase,
    ).toBe("firing");
    expect(
      play(
        [
          [0, BAD],
          [61_000, BAD],
        ],
        short,
      ).state?.phase,
    ).toBe("pending");
    expect(
      play(
        [
          [0, BAD],
          [1_200_000, BAD],
        ],
        { ...short, gapMs: 3_600_000 },
      ).state?.phase,
    ).toBe("firing");
  });

  it("continues to fire over a gap, and keeps a resolved alert for 15 minutes", () => {
    const { state: firing } = play(every10s(0, 310, BAD));
    expect(play([[9_000_000, BAD]], TIMING, firing).state).toMatchObject({ phase: "firing", sinceMs: 0 });
    const { state: resolved } = play(
      [
        [400_000, GOOD],
        [430_000, GOOD],
      ],
      TIMING,
      firing,
    );
    expect(resolved).toMatchObject({ phase: "resolved", resolvedAtMs: 430_000, reason: "good" });
    expect(play([[1_329_000, GOOD]], TIMING, resolved).state?.phase).toBe("resolved");
    expect(play([[1_330_000, UNSEEN]], TIMING, resolved).state).toBeUndefined();
  });
});
