import type { BlockCounts } from "../ledger/block-counts.ts";
import { formatPercent, type SuccessRate } from "../policy/reward-tier.ts";

/** Formats a rate in percent, rounded down; "–" when no block is counted. */
export function formatRate(rate: SuccessRate | undefined): string {
  return rate === undefined ? "–" : `${formatPercent(rate)} %`;
}

/** Counts for JSON. */
export function countsJson({ good, bad, unknown }: BlockCounts) {
  return { good: String(good), bad: String(bad), unknown: String(unknown) };
}
