import { expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import type { SidecarPrices } from "../../../src/watchdog/policy/price-comparison.ts";
import { BTC_USD, healthyFrame, START_MS, withPrices } from "../../support/watchdog/frames.ts";

const { rules } = alertsSchema.parse({});
const PAIRS = ["A/USD", "B/USD", "C/USD", "D/USD", "E/USD", "F/USD", "G/USD"];

/** The reason that prices of A, B, … differ when they are 3, 4, … percent above those of other sidecars. */
function reasonFor(pairs: readonly string[], { nodes = 1, others = 1 } = {}): string | undefined {
  const prices = pairs.map((pair, index) => [pair, (BTC_USD * BigInt(103 + index)) / 100n] as const);
  const { observation, ...frame } = withPrices(() => ({ prices: new Map(prices) }))(healthyFrame(START_MS));
  const peers: readonly SidecarPrices[] = Array.from({ length: others }, (_, index) => ({
    validator: `other-${index}`,
    node: "node",
    atMs: START_MS,
    prices: new Map(pairs.map((pair) => [pair, BTC_USD])),
    decimals: new Map(),
  }));
  const [node = expect.unreachable()] = observation.nodes;
  const all = Array.from({ length: nodes }, (_, index) => ({ ...node, name: `n${index + 1}` }));
  const input = { ...frame, observation: { ...observation, nodes: all }, peers };
  const results = evaluateConditions(rules, { ...input, history: EMPTY_HISTORY, majorPairs: pairs });
  return results.get("prices-differ-from-sidecars")?.reason;
}

it("the reason names the pairs that differ most, and says how many more there are", () => {
  const text = reasonFor(PAIRS) ?? "";
  expect(text.split("; ").map((part) => part.split(":")[0])).toEqual([
    "G/USD",
    "F/USD",
    "E/USD",
    "D/USD",
    "C/USD",
    "and 2 more",
  ]);
  expect(text).toMatch(/^G\/USD: \S+ here, \S+ at the other sidecar, 9\.00 % apart; /);
});

it("the reason names the node if the validator has several", () => {
  expect(reasonFor(["A/USD"], { nodes: 2, others: 3 })).toMatch(
    /^A\/USD of n1: .* as the median of 5 sidecars, 3\.00 % apart; A\/USD of n2: /,
  );
  expect(reasonFor(["A/USD"])).toMatch(/^A\/USD: /);
});
