import { describe, expect, it } from "vitest";
import { createBatchBudget } from "../../../src/relayer/submit/batch-budget.ts";

const most = { gas: 15_000_000n, bytes: 400_000, results: 300 };

describe("a batch budget", () => {
  it("begins with what is configured and halves", () => {
    const budget = createBatchBudget(most);
    expect(budget.limits()).toEqual(most);
    budget.shrink();
    expect(budget.limits()).toEqual({ gas: 7_500_000n, bytes: 200_000, results: 150 });
  });

  it("goes down to single results, and no further", () => {
    const budget = createBatchBudget(most);
    for (let times = 0; times < 30; times++) budget.shrink();
    const { gas, bytes, results } = budget.limits();
    expect(results).toBe(1);
    expect(gas > 0n && bytes > 0).toBe(true);
  });

  it("comes back slowly, and never exceeds what is configured", () => {
    const budget = createBatchBudget(most);
    budget.shrink();
    budget.grow();
    expect(budget.limits().results).toBe(168);
    for (let times = 0; times < 30; times++) budget.grow();
    expect(budget.limits()).toEqual(most);
  });
});
