import { describe, expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import type { ConditionResult } from "../../../src/watchdog/conditions/condition.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { EMPTY_HISTORY, UNSEEN } from "../../../src/watchdog/conditions/poll-history.ts";
import { failed, healthyFrame, START_MS, withNode } from "../../support/watchdog/frames.ts";

const blind = withNode(() => ({ prices: failed() }));

/** Ten calls: so many took at most 512 ms, so many at most 1024 ms, and the others longer. */
interface Calls {
  readonly upTo512: bigint;
  readonly upTo1024: bigint;
  readonly ageMs?: number;
}

/** The result on a sidecar whose prices the watchdog cannot read. */
function evaluated(
  { upTo512, upTo1024, ageMs = 0 }: Calls,
  slowAfter = "500ms",
): ConditionResult | undefined {
  const { rules, majorPairs } = alertsSchema.parse({ sidecar_slow: { slow_after: slowAfter } });
  const frame = blind(healthyFrame(START_MS));
  const within = new Map([
    [256, 0n],
    [512, upTo512],
    [1024, upTo1024],
  ]);
  const recent = { atMs: START_MS - ageMs, calls: 10n, within };
  const history = {
    ...EMPTY_HISTORY,
    nodes: new Map([["node", { ...UNSEEN, latency: { calls: 10n, within, recent } }]]),
  };
  return evaluateConditions(rules, { ...frame, history, majorPairs }).get("sidecar-slow");
}

const reason = (slow: number, bound: number) =>
  `${slow} of 10 recent calls of the node took longer than ${bound} ms`;

describe("the node's own times of its calls", () => {
  it("are evaluated by the least bound that is not shorter than the threshold", () => {
    expect(evaluated({ upTo512: 5n, upTo1024: 10n })).toEqual({ kind: "active", reason: reason(5, 512) });
    expect(evaluated({ upTo512: 6n, upTo1024: 6n })).toEqual({ kind: "clear", reason: reason(4, 512) });
    expect(evaluated({ upTo512: 5n, upTo1024: 10n }, "512ms")).toEqual({
      kind: "active",
      reason: reason(5, 512),
    });
    expect(evaluated({ upTo512: 0n, upTo1024: 6n }, "513ms")).toEqual({
      kind: "clear",
      reason: reason(4, 1024),
    });
  });

  it("say nothing of a threshold above their bounds", () => {
    expect(evaluated({ upTo512: 0n, upTo1024: 0n }, "1025ms")).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("the node's histogram has no bound this long"),
    });
  });

  it("are evaluated for 30 seconds", () => {
    expect(evaluated({ upTo512: 0n, upTo1024: 0n, ageMs: 30_000 })).toMatchObject({ kind: "active" });
    expect(evaluated({ upTo512: 0n, upTo1024: 0n, ageMs: 30_001 })).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("the node has no recent call times"),
    });
  });
});
