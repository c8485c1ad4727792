import type { BlockCounts } from "../ledger/block-counts.ts";

/** What a month's success rate earns (spec 000, "Oracle requirements"). */
export const TIERS = ["full", "proportional", "none"] as const;

/** One of {@link TIERS}. */
export type Tier = (typeof TIERS)[number];

/** Lower bounds of the two paid tiers, in percent; a rate on a bound belongs to the upper tier. */
const FULL_PERCENT = 98n;
const PROPORTIONAL_PERCENT = 95n;

/** A success rate: good of all known blocks. Unknown blocks are in neither. */
export interface SuccessRate {
  readonly good: bigint;
  /** Above zero. */
  readonly total: bigint;
}

/** Success / (Success + Failure); undefined when nothing has been counted. */
export function successRate(counts: BlockCounts): SuccessRate | undefined {
  const total = counts.good + counts.bad;
  return total === 0n ? undefined : { good: counts.good, total };
}

/** The tier of a rate: 98 % or more, 95 % up to 98 %, below. Exact. */
export function tierOf(rate: SuccessRate): Tier {
  if (isAtLeast(rate, FULL_PERCENT)) return "full";
  return isAtLeast(rate, PROPORTIONAL_PERCENT) ? "proportional" : "none";
}

/** The rate in percent with four digits, cut and not rounded: 97.9999 never shows as 98. */
export function formatPercent({ good, total }: SuccessRate): string {
  const scaled = (good * 1_000_000n) / total;
  return `${scaled / 10_000n}.${(scaled % 10_000n).toString().padStart(4, "0")}`;
}

/** The rate as a number in [0, 1], for metrics. */
export function toRatio({ good, total }: SuccessRate): number {
  return Number(good) / Number(total);
}

function isAtLeast({ good, total }: SuccessRate, percent: bigint): boolean {
  return good * 100n >= percent * total;
}
