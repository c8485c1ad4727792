import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { allowanceShare, costText, costView, shareText } from "../../../src/watchdog/policy/cost-text.ts";
import { closedMonth, type CostedMonth, costOf, monthCost } from "../../../src/watchdog/policy/cost.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { ledgerViewOf, monthRecord, rollup } from "../../support/watchdog/ledger-view.ts";

const NOW = Date.UTC(2026, 10, 16);
const HOUR = 3_600_000;

/** A month of blocks of twenty seconds, half of which is over. */
function month(good: bigint, bad: bigint): CostedMonth {
  const hours = Array.from({ length: 72 }, (_, index) => rollup(NOW - (72 - index) * HOUR, { good: 180n }));
  const ledger = ledgerViewOf({ months: [monthRecord("2026-11", good, bad)], hours });
  return assess({
    ledger,
    nowMs: NOW,
    policy: { ...SPECIFIED_POLICY, currency: "USD" },
    blockTimeMs: 20_000,
  });
}

describe("cost", () => {
  it("is the share of the misses with which the month ends with full pay, and the pay that the forecast loses", () => {
    // 64,800 counted and as many to come: 2 % of 129,600.
    expect(costText(costOf(month(64_691n, 109n), 109n))).toBe(
      "109 blocks, 4 % of what full pay allows this month (2,592); the month's pay unchanged",
    );
    // 3,888 of 129,600 are 3 %: a third of the pay above the lower boundary. Without 1,296 of them it is full.
    expect(costText(costOf(month(60_912n, 3888n), 1296n))).toBe(
      "1,296 blocks, 50 % of what full pay allows this month (2,592); the month's pay lower by 1,000.00 USD",
    );
    expect(costText(costOf(month(64_799n, 1n), 1n))).toMatch(/^1 block, less than 1 % of/);
  });

  it("is true from the first block, and says nothing of pay while the month is young", () => {
    const young = { ...month(1700n, 99n) };
    expect(costText(costOf(young, 99n))).toMatch(
      /^99 blocks, \d+ % of what full pay allows this month \([\d,]+\); too early for pay$/,
    );
    expect(costView.json(costOf(young, 99n))["pay_cents"]).toBeNull();
    expect(costView.json(costOf(month(1700n, 100n), 100n))["pay_cents"]).toBe("0");
    expect(costText(costOf({ ...young, remainingBlocks: undefined }, 99n))).toBe(
      "99 blocks; too early for pay",
    );
  });

  it("of a closed month is by its counts, whatever their number", () => {
    const closed = closedMonth(SPECIFIED_POLICY, { good: 970n, bad: 30n, unknown: 0n });
    // 97 % pays 2,000; 97.5 % 2,500; more than 98 % no more than 3,000.
    expect([5n, 10n, 30n, 99n].map((blocks) => costOf(closed, blocks).payCents)).toEqual([
      50_000n,
      100_000n,
      100_000n,
      100_000n,
    ]);
    expect(monthCost(closed)).toMatchObject({ blocks: 30n, allowed: 20n });
    expect(shareText(costOf(closedMonth(SPECIFIED_POLICY, { good: 1n, bad: 1n, unknown: 0n }), 1n))).toBe(
      "–",
    );
  });

  it("of the parts of a month adds up to that of the month, however it is divided", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 500n), { minLength: 1, maxLength: 12 }), (parts) => {
        const bad = parts.reduce((sum, part) => sum + part, 0n);
        const whole = month(64_800n - bad, bad);
        const costs = parts.map((part) => costOf(whole, part));
        expect(costs.reduce((sum, { blocks }) => sum + blocks, 0n)).toBe(monthCost(whole).blocks);
        expect(new Set(costs.map(({ allowed }) => allowed))).toEqual(new Set([monthCost(whole).allowed]));
        const shares = costs.reduce((sum, cost) => sum + (allowanceShare(cost) ?? 0), 0);
        expect(shares).toBeCloseTo(allowanceShare(monthCost(whole)) ?? 0, 9);
        // Pay is lost beyond the allowance only: no part costs more than the month.
        for (const { payCents = 0n } of costs)
          expect(payCents <= (monthCost(whole).payCents ?? 0n)).toBe(true);
      }),
    );
  });
});
