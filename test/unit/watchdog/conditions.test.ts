import { describe, expect, it } from "vitest";
import { advanceAlert, type AlertState, INACTIVE } from "../../../src/watchdog/conditions/alert-state.ts";
import type { Verdict } from "../../../src/watchdog/conditions/condition.ts";
import {
  isNodeServed,
  NO_ORACLE_CALLS,
  recordOracleCalls,
} from "../../../src/watchdog/conditions/node-oracle-calls.ts";
import { judgePrices } from "../../../src/watchdog/conditions/prices-state.ts";
import type { LedgerStep } from "../../../src/watchdog/ledger/advance.ts";
import { pricesPage, up } from "../../support/watchdog/observations.ts";

const FOR = 300_000;
const active: Verdict = { kind: "active", reason: "r" };
const clear: Verdict = { kind: "clear", reason: "r" };
const unknown: Verdict = { kind: "unknown", reason: "r" };

function reading(pairs: readonly string[]) {
  return up(pricesPage(...pairs));
}
const error = { state: "error", failure: { code: "refused", text: "nobody" }, durationMs: 1 } as const;

describe("judgePrices", () => {
  it("returns present for one pair, and missing for none", () => {
    expect(judgePrices(reading(["BTC/USD"]), false).kind).toBe("present");
    expect(judgePrices(reading([]), true).kind).toBe("missing");
  });

  it("returns missing for a failed scrape, unless the node is served", () => {
    expect(judgePrices(error, false)).toEqual({
      kind: "missing",
      reason: "the sidecar's prices cannot be read: nobody",
    });
    expect(judgePrices(error, true).kind).toBe("unknown");
  });
});

describe("the node's oracle calls", () => {
  const WINDOW = 30_000;
  /** Polls at intervals of one second, with the good and bad blocks of each; undefined: the node could not be read. */
  function served(...polls: readonly (readonly [bigint, bigint] | undefined)[]): boolean {
    let calls = NO_ORACLE_CALLS;
    for (const [index, poll] of polls.entries()) {
      const nowMs = (index + 1) * 1000;
      calls = recordOracleCalls(calls, poll && stepOf(poll, nowMs - 1000), nowMs, WINDOW);
    }
    return isNodeServed(calls, polls.length * 1000, WINDOW);
  }
  const stepOf = ([goodBlocks, badBlocks]: readonly [bigint, bigint], fromMs: number): LedgerStep => ({
    counts: { good: goodBlocks, bad: badBlocks, unknown: 0n },
    fromMs,
    restarted: false,
    isFirst: false,
    baseline: { chainId: "c", success: goodBlocks, failure: badBlocks, atMs: fromMs + 1000 },
  });

  it.each([
    ["calls succeed", true, [[1n, 0n]]],
    ["calls fail", false, [[0n, 1n]]],
    ["some of one poll fail", false, [[3n, 2n]]],
    [
      "they fail after success",
      false,
      [
        [1n, 0n],
        [0n, 1n],
      ],
    ],
    [
      "they succeed after failure",
      true,
      [
        [0n, 1n],
        [1n, 0n],
      ],
    ],
    [
      "a poll has no block",
      true,
      [
        [1n, 0n],
        [0n, 0n],
      ],
    ],
    ["a scrape fails", true, [[1n, 0n], undefined]],
    ["nothing was ever counted", false, [[0n, 0n], undefined]],
    ["success was long ago", false, [[1n, 0n], ...Array.from({ length: 31 }, () => undefined)]],
  ] as const)("when %s: %s", (_case, expected, polls) => {
    expect(served(...polls)).toBe(expected);
  });

  it("ignore a step over a long time", () => {
    const calls = recordOracleCalls(NO_ORACLE_CALLS, stepOf([100n, 0n], 0), 40_000, WINDOW);
    expect(calls).toEqual(NO_ORACLE_CALLS);
  });
});

/** Advances an alert by the verdicts. Returns the last state, and the changes with their times in seconds. */
function play(steps: readonly (readonly [number, Verdict])[], from: AlertState = INACTIVE) {
  let state = from;
  const changes: string[] = [];
  for (const [nowMs, verdict] of steps) {
    const step = advanceAlert(state, verdict, nowMs, FOR);
    state = step.state;
    if (step.change !== undefined) changes.push(`${step.change}@${nowMs / 1000}`);
  }
  return { state, changes };
}

/** One verdict every 10 s, both ends included. */
function every10s(fromS: number, toS: number, verdict: Verdict): readonly (readonly [number, Verdict])[] {
  return Array.from(
    { length: (toS - fromS) / 10 + 1 },
    (_, index) => [(fromS + index * 10) * 1000, verdict] as const,
  );
}

describe("advanceAlert", () => {
  it("fires after more than five minutes, not at five, and once", () => {
    expect(play(every10s(0, 300, active)).changes).toEqual([]);
    expect(play(every10s(0, 600, active)).changes).toEqual(["firing@310"]);
  });

  it("begins the time again after a clear verdict", () => {
    expect(
      play([...every10s(0, 290, active), [295_000, clear], ...every10s(300, 600, active)]).changes,
    ).toEqual([]);
  });

  it("resolves once, at the first clear verdict, and can fire again", () => {
    const { changes } = play([
      ...every10s(0, 310, active),
      ...every10s(320, 340, clear),
      ...every10s(350, 700, active),
    ]);
    expect(changes).toEqual(["firing@310", "resolved@320", "firing@660"]);
  });

  it("neither fires nor resolves on unknown verdicts", () => {
    expect(play(every10s(0, 900, unknown)).state).toEqual(INACTIVE);
    expect(play([...every10s(0, 310, active), ...every10s(320, 900, unknown)]).state.phase).toBe("firing");
    expect(
      play([...every10s(0, 200, active), ...every10s(210, 300, unknown), [310_000, active]]).changes,
    ).toEqual(["firing@310"]);
  });

  it("drops a pending alert after unknown verdicts for longer than its time", () => {
    expect(play([[0, active], ...every10s(10, 300, unknown)]).state.phase).toBe("pending");
    expect(play([[0, active], ...every10s(10, 310, unknown)]).state).toEqual(INACTIVE);
  });

  it("begins the time again after a gap in polling, and after a step of the clock into the past", () => {
    expect(
      play([
        [0, active],
        [301_000, active],
        [302_000, active],
      ]).changes,
    ).toEqual([]);
    expect(
      play([
        [0, active],
        [299_000, active],
        [301_000, active],
      ]).changes,
    ).toEqual(["firing@301"]);
    expect(
      play([
        [1_000_000, active],
        [500_000, active],
        [700_000, active],
      ]).changes,
    ).toEqual([]);
  });

  it("continues to fire over a gap in polling", () => {
    const firing: AlertState = { phase: "firing", sinceMs: 0, lastActiveMs: 400_000, reason: "r" };
    expect(play([[9_000_000, active]], firing)).toMatchObject({
      state: { phase: "firing", sinceMs: 0 },
      changes: [],
    });
  });
});
