import type { HeightRange } from "./tx-filter.ts";

/** A range of a search, split at the lowest height that the endpoints have. */
export interface SplitRange {
  /** Blocks that every endpoint has pruned; undefined when there are none. */
  readonly pruned: HeightRange | undefined;
  /** The other blocks; undefined when there are none. */
  readonly left: HeightRange | undefined;
}

/** Splits a range at `earliest`, the lowest height that an endpoint has. */
export function splitPruned(range: HeightRange, earliest: bigint): SplitRange {
  const { from, to } = range;
  if (earliest <= from) return { pruned: undefined, left: range };
  if (earliest > to) return { pruned: range, left: undefined };
  return { pruned: { from, to: earliest - 1n }, left: { from: earliest, to } };
}
