import { describe, expect, it } from "vitest";
import { bad, good } from "../../../src/base/result.ts";
import {
  advanceAlert,
  type AlertState,
  INACTIVE,
  judgePrices,
  type PricesVerdict,
} from "../../../src/watchdog/conditions/alert-state.ts";
import type { LedgerStep } from "../../../src/watchdog/ledger/advance.ts";
import {
  addEvidence,
  isNodeServed,
  NO_EVIDENCE,
} from "../../../src/watchdog/conditions/node-oracle-calls.ts";

const FOR = 300_000;
const missing: PricesVerdict = { kind: "missing", reason: "r" };
const present: PricesVerdict = { kind: "present" };
const unseen: PricesVerdict = { kind: "unseen", reason: "r" };

function reading(pairs: readonly string[]) {
  return good({ pairs, tickedAtMs: 1, version: "", url: "http://h/" });
}
const error = bad({ code: "refused", text: "nobody" } as const);

describe("judgePrices", () => {
  it("takes one pair as prices, and none as missing", () => {
    expect(judgePrices(reading(["BTC/USD"]), false).kind).toBe("present");
    expect(judgePrices(reading([]), true).kind).toBe("missing");
  });

  it("takes no answer as missing, unless the node is served", () => {
    expect(judgePrices(error, false)).toEqual({
      kind: "missing",
      reason: "the sidecar's prices cannot be read: nobody",
    });
    expect(judgePrices(error, true).kind).toBe("unseen");
  });
});

describe("evidence of the node", () => {
  const WINDOW = 30_000;
  /** Looks a second apart with these good and bad blocks each; undefined: the node could not be read. */
  function served(...looks: readonly (readonly [bigint, bigint] | undefined)[]): boolean {
    let evidence = NO_EVIDENCE;
    for (const [index, look] of looks.entries()) {
      const nowMs = (index + 1) * 1000;
      evidence = addEvidence(evidence, look && stepOf(look, nowMs - 1000), nowMs, WINDOW);
    }
    return isNodeServed(evidence, looks.length * 1000, WINDOW);
  }
  const stepOf = ([goodBlocks, badBlocks]: readonly [bigint, bigint], fromMs: number): LedgerStep => ({
    counts: { good: goodBlocks, bad: badBlocks, unknown: 0n },
    fromMs,
    restarted: false,
    mark: { chainId: "c", success: goodBlocks, failure: badBlocks, atMs: fromMs + 1000 },
  });

  it.each([
    ["calls succeed", true, [[1n, 0n]]],
    ["calls fail", false, [[0n, 1n]]],
    ["some of one look fail", false, [[3n, 2n]]],
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
      "a look has no block",
      true,
      [
        [1n, 0n],
        [0n, 0n],
      ],
    ],
    ["a look fails", true, [[1n, 0n], undefined]],
    ["nothing was ever counted", false, [[0n, 0n], undefined]],
    ["success was long ago", false, [[1n, 0n], ...Array.from({ length: 31 }, () => undefined)]],
  ] as const)("when %s: %s", (_what, expected, looks) => {
    expect(served(...looks)).toBe(expected);
  });

  it("is not taken from a step over a long time", () => {
    const evidence = addEvidence(NO_EVIDENCE, stepOf([100n, 0n], 0), 40_000, WINDOW);
    expect(evidence).toEqual(NO_EVIDENCE);
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

  it("forgets what was pending when nobody could see for as long", () => {
    expect(play([[0, missing], ...every10s(10, 300, unseen)]).state.phase).toBe("pending");
    expect(play([[0, missing], ...every10s(10, 310, unseen)]).state).toEqual(INACTIVE);
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
