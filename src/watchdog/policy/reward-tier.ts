import type { BlockCounts } from "../ledger/block-counts.ts";

/** Reward tiers of a month, best first (chain-extension-modules.md, "Limits"). */
export const TIERS = ["full", "proportional", "none"] as const;

/** One of {@link TIERS}. */
export type Tier = (typeof TIERS)[number];

/** Lower bounds of the two paid tiers, in percent, inclusive. */
const FULL_PERCENT = 98n;
const PROPORTIONAL_PERCENT = 95n;

/** A success rate as a fraction: `good` of `total` blocks. Unknown blocks are in neither number. */
export interface SuccessRate {
  readonly good: bigint;
  /** Greater than zero. */
  readonly total: bigint;
}

/** Returns good / (good + bad). Undefined when both are zero. */
export function successRate(counts: BlockCounts): SuccessRate | undefined {
  const total = counts.good + counts.bad;
  return total === 0n ? undefined : { good: counts.good, total };
}

/** Returns the tier: 98 % or more, 95 % or more, less. The comparison is exact. */
export function tierOf(rate: SuccessRate): Tier {
  if (isAtLeast(rate, FULL_PERCENT)) return "full";
  return isAtLeast(rate, PROPORTIONAL_PERCENT) ? "proportional" : "none";
}

/** Formats the rate in percent with four decimals. Rounds down, so a rate below 98 % never shows as 98.0000. */
export function formatPercent({ good, total }: SuccessRate): string {
  const scaled = (good * 1_000_000n) / total;
  return `${scaled / 10_000n}.${(scaled % 10_000n).toString().padStart(4, "0")}`;
}

/** Returns the rate as a number from 0 to 1, for metrics. */
export function toRatio({ good, total }: SuccessRate): number {
  return Number(good) / Number(total);
}

function isAtLeast({ good, total }: SuccessRate, percent: bigint): boolean {
  return good * 100n >= percent * total;
}
