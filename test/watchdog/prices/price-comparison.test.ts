import { describe, expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { advanceHistory, EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import {
  compareWithChain,
  compareWithSidecars,
  allResults,
  comparisonView,
  deviationBps,
  exceeds,
  formatPrice,
  type SidecarPrices,
} from "../../../src/watchdog/policy/price-comparison.ts";
import type { Observation } from "../../../src/watchdog/sources/observation.ts";
import {
  all,
  BTC_USD as BTC,
  healthyFrame,
  START_MS,
  up,
  withChain,
  withPrices,
} from "../../support/watchdog/frames.ts";

/** A poll with this price of the sidecar, and the chain's of a block that is so old. */
function poll(own: bigint, chain: bigint, { atMs = START_MS, ageMs = 2000 } = {}): Observation {
  const price = { pair: "BTC/USD", height: 1n, blockTimeMs: atMs - ageMs, price: chain, decimals: 5 };
  const change = all(
    withPrices(() => ({ prices: new Map([["BTC/USD", own]]) })),
    withChain(() => ({ prices: up([price]) })),
  );
  return change(healthyFrame(atMs)).observation;
}

function compared(observation: Observation, before: readonly Observation[] = []) {
  const history = [...before, observation].reduce(
    (seen, one) => advanceHistory(seen, one, 60_000),
    EMPTY_HISTORY,
  );
  return compareWithChain({ observation, history, peers: [], pairs: [], maxAgeMs: 30_000 });
}

function sidecar(validator: string, price: bigint, decimals?: number): SidecarPrices {
  return {
    validator,
    node: "node",
    atMs: START_MS,
    prices: new Map([["BTC/USD", price]]),
    decimals: new Map(decimals === undefined ? [] : [["BTC/USD", decimals]]),
  };
}

function withPeers(own: bigint, peers: readonly SidecarPrices[]) {
  const observation = poll(own, BTC);
  return compareWithSidecars({ observation, history: EMPTY_HISTORY, peers, pairs: [], maxAgeMs: 30_000 });
}

describe("a sidecar's price beside the chain's", () => {
  it("is compared exactly, also where a float could not", () => {
    const huge = 10n ** 40n;
    const [far] = compared(poll(huge + huge / 50n + 1n, huge)).comparisons;
    const [near] = compared(poll(huge + huge / 50n, huge)).comparisons;
    expect(far !== undefined && exceeds(far, 200n)).toBe(true);
    expect(near !== undefined && exceeds(near, 200n)).toBe(false);
    // Both show the same.
    expect(far && deviationBps(far)).toBe(200n);
    expect(near && deviationBps(near)).toBe(200n);
  });

  it("says both values, the deviation and the age, or why it cannot be seen", () => {
    expect(allResults(compared(poll((BTC * 102n) / 100n, BTC))).map(comparisonView.json)).toEqual([
      {
        node: "node",
        pair: "BTC/USD",
        reference: "chain",
        own: "99065.919",
        other: "97123.45",
        deviation_bps: 200,
        age_seconds: 2,
        sidecars: 0,
        reason: null,
      },
    ]);
    const old = compared(poll(BTC, BTC, { ageMs: 45_000 }));
    expect(old.comparisons).toEqual([]);
    expect(old.notCompared).toMatchObject([
      { pair: "BTC/USD", reason: "the chain's price is 45 s old, which is too old to compare" },
    ]);
    expect(compared(poll(BTC, 0n)).notCompared).toMatchObject([{ reason: "the chain has no price" }]);
  });

  it("is compared with what the sidecar had since just before the block", () => {
    const before = poll(BTC, BTC, { atMs: START_MS });
    const jumped = poll(BTC * 2n, BTC, { atMs: START_MS + 10_000, ageMs: 9000 });
    expect(compared(jumped, [before]).comparisons.map(deviationBps)).toEqual([0n]);
    // Without the poll before, and with a later block, the old price of the sidecar says nothing.
    expect(compared(jumped).comparisons.map(deviationBps)).toEqual([10_000n]);
    const later = poll(BTC * 2n, BTC, { atMs: START_MS + 30_000, ageMs: 1000 });
    expect(compared(later, [before]).comparisons.map(deviationBps)).toEqual([10_000n]);
  });
});

describe("several sidecars", () => {
  it("are compared with their median, also those of other validators", () => {
    const own = (BTC * 110n) / 100n;
    const three = withPeers(own, [sidecar("b", BTC), sidecar("c", BTC)]);
    expect(three.comparisons).toMatchObject([{ other: BTC, sidecars: 3 }]);
    // A single wrong one among them changes nothing.
    const four = withPeers(BTC, [sidecar("b", BTC), sidecar("c", BTC), sidecar("d", BTC * 10n)]);
    expect(four.comparisons.map(deviationBps)).toEqual([0n]);
    const two = withPeers(own, [sidecar("b", BTC)]);
    expect(two.comparisons).toMatchObject([{ other: BTC, sidecars: 2 }]);
    expect(two.comparisons.map(deviationBps)).toEqual([1000n]);
  });

  it("are compared in one unit, and a reading that is too old not at all", () => {
    const scaled = withPeers(BTC, [sidecar("b", BTC * 1000n, 8), sidecar("c", BTC, 5)]);
    expect(scaled.comparisons).toMatchObject([{ own: BTC * 1000n, other: BTC * 1000n, distance: 0n }]);
    const old = { ...sidecar("b", BTC * 2n), atMs: START_MS - 31_000 };
    expect(withPeers(BTC, [old]).notCompared).toMatchObject([{ reason: "no other sidecar has a price" }]);
  });
});

describe("the configured deviation", () => {
  const kindOf = (file: unknown, own: bigint): string | undefined => {
    const { rules, majorPairs, pairDeviations } = alertsSchema.parse(file);
    const observation = poll(own, BTC);
    const history = advanceHistory(EMPTY_HISTORY, observation, 60_000);
    const input = { ...healthyFrame(START_MS), observation, history, majorPairs, pairDeviations };
    return evaluateConditions(rules, input).get("prices-differ-from-chain")?.kind;
  };

  it("is that of the pair where it has one", () => {
    const own = (BTC * 1015n) / 1000n;
    expect(kindOf({}, own)).toBe("clear");
    expect(kindOf({ pair_max_deviation: { "BTC/USD": 1.25 } }, own)).toBe("active");
    expect(kindOf({ pair_max_deviation: { "ETH/USD": 1.25 } }, own)).toBe("clear");
    expect(kindOf({ prices_differ_from_chain: { max_deviation: 1.5 } }, own)).toBe("clear");
    expect(kindOf({ prices_differ_from_chain: { max_deviation: 1.49 } }, own)).toBe("active");
  });

  it("refuses what is not a pair or not a percentage", () => {
    expect(() => alertsSchema.parse({ pair_max_deviation: { btcusd: 1 } })).toThrow(/is not a pair/);
    expect(() => alertsSchema.parse({ pair_max_deviation: { "BTC/USD": 101 } })).toThrow();
  });
});

it("formats a price with its decimals", () => {
  expect(formatPrice(9_712_345_000n, 5)).toBe("97123.45");
  expect(formatPrice(7n, 5)).toBe("0.00007");
  expect(formatPrice(100_000n, 5)).toBe("1");
  expect(formatPrice(42n, undefined)).toBe("42");
});
