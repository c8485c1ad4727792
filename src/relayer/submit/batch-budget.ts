import type { BatchLimits } from "./plan.ts";

/** Limits of a connection's transactions, as they turn out to be possible at this time. */
export interface BatchBudget {
  readonly limits: () => BatchLimits;
  /** A transaction was thrown out of a block, or was too large: the next ones are half as big. */
  readonly shrink: () => void;
  /** A transaction is in a block: the next ones may be a little bigger, up to what is configured. */
  readonly grow: () => void;
}

const WHOLE = 1_024n;
const STEP = WHOLE / 16n;

/** Creates a budget that begins with all of `most`. Goes down to one result a transaction. */
export function createBatchBudget(most: BatchLimits): BatchBudget {
  let share = WHOLE;
  return {
    limits: () => ({
      bytes: Math.max(1, Number((BigInt(most.bytes) * share) / WHOLE)),
      gas: (most.gas * share) / WHOLE,
      results: Math.max(1, Number((BigInt(most.results) * share) / WHOLE)),
    }),
    shrink: () => {
      share = share > 1n ? share / 2n : 1n;
    },
    grow: () => {
      share = share + STEP < WHOLE ? share + STEP : WHOLE;
    },
  };
}
