import { expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import { type Change, healthyFrame, START_MS, withHeadroom } from "../../support/watchdog/frames.ts";

const { rules, majorPairs } = alertsSchema.parse({});

function resultOf(name: string, change: Change): string | undefined {
  const frame = change(healthyFrame(START_MS));
  return evaluateConditions(rules, { ...frame, history: EMPTY_HISTORY, majorPairs }).get(name)?.kind;
}

it.each([
  [1, 1, "active"],
  [0.99, 2, "unknown"],
  [2, 0.9, "unknown"],
  [0.89, 2, "clear"],
  [2, 0.89, "clear"],
] as const)("a slow burn of %d in three days and %d in six hours: %s", (days, hours, kind) => {
  const burnRates = { "1h": 0, "6h": hours, "3d": days };
  expect(resultOf("full-reward-slow-burn", withHeadroom("full", { burnRates }))).toBe(kind);
});

it.each([
  [-261n, "active"],
  [-260n, "unknown"],
  [0n, "clear"],
] as const)("with 1,300,000 blocks to come, %d misses left until the upper boundary: %s", (misses, kind) => {
  const state = misses < 0n ? "lost" : "open";
  expect(resultOf("full-reward-lost", withHeadroom("full", { state, misses }))).toBe(kind);
});
