import { describe, expect, it } from "vitest";
import { createBatchBudget } from "../../src/relayer/submit/budgets.ts";

const max = { gas: 15_000_000n, bytes: 400_000, results: 300 };

describe("a batch budget", () => {
  it("starts at the configured limits and halves them", () => {
    const budget = createBatchBudget(max);
    expect(budget.limits()).toEqual(max);
    budget.shrink();
    expect(budget.limits()).toEqual({ gas: 7_500_000n, bytes: 200_000, results: 150 });
  });

  it("shrinks to one result, and no further", () => {
    const budget = createBatchBudget(max);
    for (let times = 0; times < 30; times++) budget.shrink();
    const { gas, bytes, results } = budget.limits();
    expect(results).toBe(1);
    expect(gas > 0n && bytes > 0).toBe(true);
  });

  it("grows slowly, up to the configured limits", () => {
    const budget = createBatchBudget(max);
    budget.shrink();
    budget.grow();
    expect(budget.limits().results).toBe(168);
    for (let times = 0; times < 30; times++) budget.grow();
    expect(budget.limits()).toEqual(max);
  });
});
