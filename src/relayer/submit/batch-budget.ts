import { createAdaptiveShare } from "./adaptive-share.ts";
import type { BatchLimits } from "./plan.ts";

/** Limits of a connection's transactions, lowered while transactions of the configured size fail. */
export interface BatchBudget {
  readonly limits: () => BatchLimits;
  /** Halves the limits. Call it when a transaction failed and its size may be the reason. */
  readonly shrink: () => void;
  /** Raises the limits by 1/16 of the configured ones, up to those. Call it for each included transaction. */
  readonly grow: () => void;
}

/** Creates a budget that starts at `max`. It never goes below one result for each transaction. */
export function createBatchBudget(max: BatchLimits): BatchBudget {
  // At 1/1024 a transaction holds one result. A smaller share would change nothing and take longer to grow back.
  const share = createAdaptiveShare({ kept: [1n, 2n], growth: 16n, floor: 1n });
  const atLeastOne = (limit: number): number => Math.max(1, Number(share.of(BigInt(limit))));
  return {
    ...share,
    limits: () => ({
      bytes: atLeastOne(max.bytes),
      gas: share.of(max.gas),
      results: atLeastOne(max.results),
    }),
  };
}
