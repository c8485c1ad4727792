import { describe, expect, it } from "vitest";
import { createBlockBudget } from "../../src/relayer/submit/budgets.ts";

const limits = { utilization: 30_000_000n, gas: undefined, bytes: 22_020_096n };
const create = () => {
  const budget = createBlockBudget(
    { blockSharePermille: 900n, gasAdjustmentPermille: 1_300n },
    () => undefined,
  );
  budget.setLimits(limits);
  return budget;
};

describe("a block budget", () => {
  it("is the share of what the chain allows", () => {
    const budget = create();
    expect(budget.gas()).toBe(27_000_000n);
    budget.setLimits({ ...limits, utilization: 10_000_000n });
    expect([budget.gas(), budget.bytes()]).toEqual([9_000_000n, 19_818_086]);
  });

  it("is the share of the deployed market's target while nothing was read", () => {
    const options = { blockSharePermille: 900n, gasAdjustmentPermille: 1_300n };
    expect(createBlockBudget(options, () => undefined).gas()).toBe(13_500_000n);
  });

  it("counts the gas limits of transactions against max_gas, when that is scarcer", () => {
    const budget = create();
    budget.setLimits({ ...limits, gas: 13_000_000n });
    expect(budget.gas()).toBe(9_000_000n);
    budget.setLimits({ utilization: undefined, gas: 1_300_000n, bytes: undefined });
    expect(budget.gas()).toBe(900_000n);
    budget.setLimits({ utilization: undefined, gas: undefined, bytes: undefined });
    expect(budget.gas()).toBe(27_000_000n);
  });

  it("shrinks fast, and grows back slowly, never above the share", () => {
    const budget = create();
    budget.shrink();
    expect(budget.gas()).toBe(20_250_000n);
    budget.grow();
    expect(budget.gas()).toBe(21_093_750n);
    for (let times = 0; times < 100; times++) budget.shrink();
    expect(budget.gas()).toBeGreaterThan(100_000n);
    for (let times = 0; times < 100; times++) budget.grow();
    expect(budget.status()).toEqual({
      gas: 27_000_000n,
      bytes: budget.bytes(),
      chainGas: 30_000_000n,
      sharePermille: 900,
    });
  });
});
