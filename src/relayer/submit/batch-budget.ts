import type { BatchLimits } from "./plan.ts";

/** Limits of a connection's transactions, lowered while transactions of the configured size fail. */
export interface BatchBudget {
  readonly limits: () => BatchLimits;
  /** Halves the limits. Call it when a transaction failed and its size may be the reason. */
  readonly shrink: () => void;
  /** Raises the limits by 1/16 of the configured ones, up to those. Call it for each included transaction. */
  readonly grow: () => void;
}

const FULL_SHARE = 1_024n;
const GROWTH = FULL_SHARE / 16n;

/**
 * Creates a budget that starts at `max`. It never goes below one result for each transaction.
 *
 * A chain does not say how much room a block has left: other senders use the same blocks, and the fee market caps the
 * gas of a block. So the budget searches for it: fast down, since each failed transaction costs a fee, and slowly up
 * (additive increase, multiplicative decrease).
 */
export function createBatchBudget(max: BatchLimits): BatchBudget {
  let share = FULL_SHARE;
  return {
    limits: () => ({
      bytes: Math.max(1, Number((BigInt(max.bytes) * share) / FULL_SHARE)),
      gas: (max.gas * share) / FULL_SHARE,
      results: Math.max(1, Number((BigInt(max.results) * share) / FULL_SHARE)),
    }),
    shrink: () => {
      // At 1/1024 a transaction holds one result. A smaller share would change nothing and take longer to grow back.
      share = share > 1n ? share / 2n : 1n;
    },
    grow: () => {
      share = share + GROWTH < FULL_SHARE ? share + GROWTH : FULL_SHARE;
    },
  };
}
