import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPercent, successRate, tierOf } from "../../src/watchdog/policy/reward-tier.ts";

const rate = (good: bigint, bad: bigint, unknown = 0n) => successRate({ good, bad, unknown });

function tier(good: bigint, bad: bigint): string | undefined {
  const found = rate(good, bad);
  return found === undefined ? undefined : tierOf(found);
}

describe("tierOf", () => {
  it.each([
    [98n, 2n, "full"],
    [979_999n, 20_001n, "proportional"],
    [980_000n, 20_000n, "full"],
    [95n, 5n, "proportional"],
    [949_999n, 50_001n, "none"],
    [1n, 0n, "full"],
    [0n, 1n, "none"],
    [98n * 10n ** 30n, 2n * 10n ** 30n, "full"],
    [98n * 10n ** 30n - 1n, 2n * 10n ** 30n + 1n, "proportional"],
    [95n * 10n ** 30n - 1n, 5n * 10n ** 30n + 1n, "none"],
  ])("%d good, %d bad: %s", (good, bad, expected) => {
    expect(tier(good, bad)).toBe(expected);
  });

  it("is undefined when only unknown blocks are counted", () => {
    expect(rate(0n, 0n, 500n)).toBeUndefined();
  });

  it("ignores unknown blocks", () => {
    expect(rate(98n, 2n, 1_000_000n)).toEqual({ good: 98n, total: 100n });
  });

  it.each([
    ["full", 98n],
    ["proportional", 95n],
  ] as const)("is %s from exactly %i percent on, for any number of bad blocks", (name, percent) => {
    const order = ["none", "proportional", "full"];
    const isAtLeast = (good: bigint, bad: bigint): boolean =>
      order.indexOf(tier(good, bad) ?? "none") >= order.indexOf(name);
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(1n, 10n ** 15n), (bad, more) => {
        // good / (good + bad) >= p / 100 means good >= bad * p / (100 - p), rounded up.
        const least = (bad * percent + (99n - percent)) / (100n - percent);
        expect([isAtLeast(least - 1n, bad), isAtLeast(least, bad), isAtLeast(least + more, bad)]).toEqual([
          false,
          true,
          true,
        ]);
      }),
    );
  });
});

describe("formatPercent", () => {
  it.each([
    [98n, 100n, "98.0000"],
    [9_799_999n, 10_000_000n, "97.9999"],
    [2n, 3n, "66.6666"],
    [0n, 7n, "0.0000"],
    [7n, 7n, "100.0000"],
    [1n, 10_000_000n, "0.0000"],
  ])("%d of %d: %s", (good, total, text) => {
    expect(formatPercent({ good, total })).toBe(text);
  });
});
