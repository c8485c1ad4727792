import { describe, expect, it } from "vitest";
import { bad, good } from "../../../src/base/result.ts";
import {
  advanceAlert,
  type AlertState,
  INACTIVE,
  judgePrices,
  type PricesVerdict,
} from "../../../src/watchdog/conditions.ts";
import type { BlockCounts } from "../../../src/watchdog/ledger/block-counts.ts";

const FOR = 300_000;
const missing: PricesVerdict = { kind: "missing", reason: "r" };
const present: PricesVerdict = { kind: "present" };
const unseen: PricesVerdict = { kind: "unseen", reason: "r" };

function reading(pairs: readonly string[]) {
  return good({ pairs, tickedAtMs: 1, version: "", url: "http://h/" });
}
const fault = bad({ code: "refused", text: "nobody" } as const);
const counts = (goodBlocks: bigint, badBlocks: bigint): BlockCounts => ({
  good: goodBlocks,
  bad: badBlocks,
  unknown: 0n,
});

describe("judgePrices", () => {
  it("takes one pair as prices, and none as missing", () => {
    expect(judgePrices(reading(["BTC/USD"]), undefined).kind).toBe("present");
    expect(judgePrices(reading([]), counts(5n, 0n)).kind).toBe("missing");
  });

  it.each([
    ["the node's calls succeed", counts(5n, 0n), "unseen"],
    ["the node's calls fail", counts(0n, 5n), "missing"],
    ["the node's calls fail in part", counts(3n, 2n), "missing"],
    ["the node makes no calls", counts(0n, 0n), "missing"],
    ["the node cannot be read", undefined, "missing"],
  ])("without an answer, while %s: %s", (_what, counted, kind) => {
    expect(judgePrices(fault, counted).kind).toBe(kind);
  });
});

/** Feeds verdicts at their times; gives the changes with their times. */
function play(steps: readonly (readonly [number, PricesVerdict])[], from: AlertState = INACTIVE) {
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
function every10s(
  fromS: number,
  toS: number,
  verdict: PricesVerdict,
): readonly (readonly [number, PricesVerdict])[] {
  return Array.from(
    { length: (toS - fromS) / 10 + 1 },
    (_, index) => [(fromS + index * 10) * 1000, verdict] as const,
  );
}

describe("advanceAlert", () => {
  it("fires after more than five minutes, not at five, and once", () => {
    expect(play(every10s(0, 300, missing)).changes).toEqual([]);
    expect(play(every10s(0, 600, missing)).changes).toEqual(["firing@310"]);
  });

  it("begins anew when prices were seen in between", () => {
    expect(
      play([...every10s(0, 290, missing), [295_000, present], ...every10s(300, 600, missing)]).changes,
    ).toEqual([]);
  });

  it("resolves once, at the first price, and can fire again", () => {
    const { changes } = play([
      ...every10s(0, 310, missing),
      ...every10s(320, 340, present),
      ...every10s(350, 700, missing),
    ]);
    expect(changes).toEqual(["firing@310", "resolved@320", "firing@660"]);
  });

  it("neither ends nor begins while nobody can see", () => {
    expect(play(every10s(0, 900, unseen)).state).toEqual(INACTIVE);
    expect(play([...every10s(0, 310, missing), ...every10s(320, 900, unseen)]).state.phase).toBe("firing");
    expect(
      play([...every10s(0, 200, missing), ...every10s(210, 300, unseen), [310_000, missing]]).changes,
    ).toEqual(["firing@310"]);
  });

  it("begins the time anew after a gap in looking, and when the clock steps back", () => {
    expect(
      play([
        [0, missing],
        [301_000, missing],
        [302_000, missing],
      ]).changes,
    ).toEqual([]);
    expect(
      play([
        [0, missing],
        [299_000, missing],
        [301_000, missing],
      ]).changes,
    ).toEqual(["firing@301"]);
    expect(
      play([
        [1_000_000, missing],
        [500_000, missing],
        [700_000, missing],
      ]).changes,
    ).toEqual([]);
  });

  it("goes on firing over a gap in looking", () => {
    const firing: AlertState = { phase: "firing", sinceMs: 0, seenMs: 400_000, reason: "r" };
    expect(play([[9_000_000, missing]], firing)).toMatchObject({
      state: { phase: "firing", sinceMs: 0 },
      changes: [],
    });
  });
});
