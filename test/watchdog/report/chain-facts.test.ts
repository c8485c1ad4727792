import { describe, expect, it } from "vitest";
import { chainFacts, chainItems, encodeChainFacts } from "../../../src/watchdog/report/chain-facts.ts";
import type { ChainFacts } from "../../../src/watchdog/report/validator-data.ts";
import { START_MS } from "../../support/watchdog/frames.ts";

const BTC = 9_712_345_000n;

const FACTS: ChainFacts = {
  payments: [
    {
      month: "2026-10",
      outcome: "paid",
      searchedMs: START_MS,
      height: 7n,
      timeMs: Date.UTC(2026, 10, 1),
      amount: { amount: 10n ** 30n, denom: "untrn" },
      expected: 10n ** 30n,
    },
  ],
  upgrade: {
    plan: { name: "v10", height: 1000n, info: "https://releases.example" },
    remainingBlocks: 600n,
    atMs: { low: START_MS + 540_000, middle: START_MS + 600_000, high: START_MS + 720_000 },
    seenMs: START_MS,
    doneMs: undefined,
  },
  compared: {
    comparisons: [
      {
        node: "node",
        pair: "BTC/USD",
        reference: "chain",
        own: 10n ** 70n,
        other: 10n ** 70n + 1n,
        decimals: 5,
        distance: 1n,
        ageMs: 1000,
        sidecars: 0,
      },
      {
        node: "node",
        pair: "ETH/USD",
        reference: "chain",
        own: BTC + BTC / 100n,
        other: BTC,
        decimals: undefined,
        distance: BTC / 100n,
        ageMs: 1000,
        sidecars: 0,
      },
    ],
    notCompared: [{ node: "node", pair: "TIA/USD", reference: "chain", reason: "the chain has no price" }],
  },
};

describe("facts of the chain in reports", () => {
  it("come from the watchdog as they were", () => {
    const wire: unknown = JSON.parse(JSON.stringify(encodeChainFacts(FACTS)));
    expect(chainFacts.parse(wire)).toEqual(FACTS);
    const { upgrade: _, ...rest } = FACTS;
    expect(chainFacts.parse(JSON.parse(JSON.stringify(encodeChainFacts(rest))))).toEqual(rest);
  });

  it("are sentences: the countdown, the pair that is furthest away, and what cannot be compared", () => {
    expect(chainItems("alpha", FACTS, START_MS)).toEqual([
      // The order: what comes, what came, what is.
      "alpha: chain upgrade: v10 at height 1,000: 600 blocks left, in about 10 min (2026-11-15 12:09:00 to 12:12:00 UTC).",
      "alpha: payment: The chain paid 1,000,000,000,000,000,000,000,000,000,000 untrn for 2026-10: see block 7's own events, 2026-11-01 00:00:00 UTC. That is the expected amount.",
      "alpha: prices are at most 1.00 % from the chain's: ETH/USD 9809468450 and 9712345000; not compared: TIA/USD: the chain has no price.",
    ]);
    const blind = { compared: { ...FACTS.compared, comparisons: [] } };
    expect(chainItems("alpha", blind, START_MS)).toEqual([
      "alpha: prices cannot be compared with the chain's: TIA/USD: the chain has no price.",
    ]);
    expect(chainItems("alpha", undefined, START_MS)).toEqual([]);
  });
});
