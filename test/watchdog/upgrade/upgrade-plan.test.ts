import { describe, expect, it } from "vitest";
import { JsonField } from "../../../src/platform/base/json.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { advanceHistory, EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import {
  advanceUpgrade,
  blockTimeOf,
  countdownView,
  countdownText,
  countdownTo,
} from "../../../src/watchdog/policy/upgrade-countdown.ts";
import { toUpgradeReading } from "../../../src/watchdog/sources/upgrade-reading.ts";
import {
  all,
  type Change,
  failed,
  healthyFrame,
  START_MS,
  up,
  withChain,
  withNode,
  withPage,
} from "../../support/watchdog/frames.ts";

const PLAN = { name: "v10", height: 1000n, info: "https://releases.example" };
const HOUR_MS = 3_600_000;

function view(plan: unknown) {
  const error = (path: string, expected: string): Error => new Error(`${path} is not ${expected}`);
  return toUpgradeReading(new JsonField({ plan }, "", error));
}

describe("the response of the upgrade module", () => {
  // As a node of cosmos-sdk 0.50 prints it.
  const recorded = {
    name: "v10",
    time: "0001-01-01T00:00:00Z",
    height: "1000",
    info: "https://releases.example",
    upgraded_client_state: null,
  };

  it("has a plan, or none", () => {
    expect(view(recorded)).toEqual({ plan: PLAN });
    expect(view(null)).toEqual({ plan: undefined });
  });

  it("is bounded, and has no control characters", () => {
    const evil = `a\u001b[31m\u202e\n${"x".repeat(100_000)}`;
    const { plan } = view({ ...recorded, name: evil, info: evil });
    expect(plan?.name).toBe(`a [31m ${"x".repeat(93)}…`);
    expect(plan?.info).toHaveLength(301);
    expect(view({ ...recorded, name: "" }).plan?.name).toBe("without a name");
  });

  it("is refused with the name of the member that is wrong", () => {
    expect(() => view({ ...recorded, height: "0" })).toThrow("plan.height is not a height");
    expect(() => view({ ...recorded, height: "soon" })).toThrow("plan.height is not a 64-bit integer");
    expect(() => view({ ...recorded, name: 7 })).toThrow("plan.name is not a string");
    expect(() => view("v10")).toThrow("plan is not an object");
  });
});

describe("the plan that was last seen", () => {
  const seen = { ...PLAN, seenMs: 1 };
  const none = { plan: undefined };

  it("is forgotten when it was cancelled, and done when its height was reached", () => {
    expect(advanceUpgrade(undefined, { plan: PLAN }, 5n, 1)).toEqual(seen);
    expect(advanceUpgrade(seen, none, 900n, 2)).toBeUndefined();
    expect(advanceUpgrade(seen, none, 999n, 2)).toEqual({ ...seen, doneMs: 2 });
    expect(advanceUpgrade(seen, none, 1000n, 2)).toEqual({ ...seen, doneMs: 2 });
    // Another one replaces it.
    const next = { ...PLAN, name: "v11", height: 5000n };
    expect(advanceUpgrade({ ...seen, doneMs: 2 }, { plan: next }, 1001n, 3)).toEqual({
      ...next,
      seenMs: 3,
    });
  });

  it("stays while the chain cannot be asked, and ends a day after it was done", () => {
    expect(advanceUpgrade(seen, undefined, 1000n, 2)).toBe(seen);
    const done = { ...seen, doneMs: 2 };
    expect(advanceUpgrade(done, none, 1500n, 24 * HOUR_MS)).toBe(done);
    expect(advanceUpgrade(done, none, 1500n, 24 * HOUR_MS + 3)).toBeUndefined();
  });
});

describe("the countdown", () => {
  const hourly = (...hours: readonly number[]) =>
    hours.reduce<{ height: bigint; timeMs: number }[]>(
      (points, blocks) => {
        const last = points.at(-1) ?? { height: 0n, timeMs: 0 };
        return [...points, { height: last.height + BigInt(blocks), timeMs: last.timeMs + HOUR_MS }];
      },
      [{ height: 0n, timeMs: 0 }],
    );

  it("is as wide as the hours of the last day differ, without halts, and never without width", () => {
    expect(blockTimeOf(hourly(3600, 3000, 4000), 1020)).toEqual({
      meanMs: 1020,
      fastMs: 900,
      slowMs: 1200,
    });
    // An hour with a halt of 50 minutes.
    expect(blockTimeOf(hourly(3600, 600, 3600, 3600), 1000)).toEqual({
      meanMs: 1000,
      fastMs: 995,
      slowMs: 1004.9999999999999,
    });
    // Two hours say little.
    expect(blockTimeOf(hourly(3600, 3600), 1000)).toMatchObject({ fastMs: 900, slowMs: 1100 });
    expect(blockTimeOf([], undefined)).toBeUndefined();
  });

  const blockTime = { meanMs: 1000, fastMs: 900, slowMs: 1200 };
  const history = {
    upgrade: { ...PLAN, seenMs: START_MS },
    chain: { height: 400n, advancedAtMs: START_MS - 5000 },
  };

  it("has blocks, and the expected time with its width", () => {
    const countdown = countdownTo(history, START_MS, blockTime);
    expect(countdown && countdownText(countdown, START_MS)).toBe(
      "v10 at height 1,000: 600 blocks left, in about 10 min (2026-11-15 12:09:00 to 12:12:00 UTC)",
    );
    expect(countdown && countdownView.json(countdown)).toEqual({
      name: "v10",
      height: "1000",
      info: "https://releases.example",
      remaining_blocks: "600",
      expected_at: "2026-11-15T12:10:00.000Z",
      earliest_at: "2026-11-15T12:09:00.000Z",
      latest_at: "2026-11-15T12:12:00.000Z",
      seen_at: "2026-11-15T12:00:00.000Z",
      done_at: null,
    });
  });

  it("counts from the time of the newest block while the head cannot be read", () => {
    expect(countdownTo(history, undefined, blockTime)?.atMs?.middle).toBe(START_MS - 5000 + 600_000);
  });

  it("does not guess a time without a height or a block time", () => {
    const unknown = countdownTo({ ...history, chain: {} }, START_MS, blockTime);
    expect(unknown).toMatchObject({ remainingBlocks: undefined, atMs: undefined });
    expect(unknown && countdownText(unknown, START_MS)).toContain("the chain's height is not known");
    expect(countdownTo(history, START_MS, undefined)?.atMs).toBeUndefined();
    expect(countdownTo({ chain: { height: 1n } }, START_MS, blockTime)).toBeUndefined();
  });
});

describe("a halt at the height of a planned upgrade", () => {
  const { rules, majorPairs } = alertsSchema.parse({});

  /** The reason of an alert after two minutes with this change, on a chain that planned an upgrade at this height. */
  function reasonOf(name: string, height: bigint, change: Change): string | undefined {
    const plan = withChain(() => ({ upgrade: up({ plan: { ...PLAN, height } }) }));
    let history = EMPTY_HISTORY;
    let frame = healthyFrame(START_MS);
    for (let atMs = START_MS; atMs <= START_MS + 200_000; atMs += 10_000) {
      frame = all(plan, atMs > START_MS + 20_000 ? change : (same) => same)(healthyFrame(atMs));
      history = advanceHistory(history, frame.observation, 60_000);
    }
    const result = evaluateConditions(rules, { ...frame, history, majorPairs }).get(name);
    return result?.kind === "active" ? result.reason : undefined;
  }

  /** The last block of the node: 20 s after the start. */
  const stopped = 3620n;
  const nodeStops = withPage(() => ({ height: stopped, success: stopped }));
  const chainStops = withChain(() => ({
    head: up({ chainId: "test-1", height: stopped, blockTimeMs: START_MS + 20_000 }),
  }));

  it("is explained as the upgrade: of the chain, and of a node that did not come back", () => {
    const halted = reasonOf("chain-halted", stopped + 1n, all(nodeStops, chainStops));
    expect(halted).toMatch(
      /^the chain has had no block for 180 s, at height 3620; this is the height of the planned upgrade v10 \(3621\): the chain waits for validators with the new version$/,
    );
    expect(reasonOf("node-halted", stopped + 1n, nodeStops)).toMatch(
      /at height 3620; this is the height of the planned upgrade v10 \(3621\): the node has not come back after it and needs the new version$/,
    );
    // The node has stored the block of the upgrade, and not executed it.
    expect(reasonOf("node-halted", stopped, nodeStops)).toMatch(/planned upgrade v10 \(3620\)/);
    const gone = all(withNode(() => ({ metrics: failed() })));
    expect(reasonOf("cannot-see-node", stopped + 1n, gone)).toMatch(/refused by a test; this is the height/);
  });

  it("has no such reason at another height", () => {
    expect(reasonOf("chain-halted", stopped + 2n, all(nodeStops, chainStops))).toBe(
      "the chain has had no block for 180 s, at height 3620",
    );
    expect(reasonOf("node-halted", stopped - 1n, nodeStops)).not.toMatch(/upgrade/);
  });
});
