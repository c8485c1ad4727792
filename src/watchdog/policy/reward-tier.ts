import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";
import { allBlocks, type BlockCounts } from "../ledger/ledger-view.ts";

/** Reward tiers for a month, best first (chain-extension-modules.md, "Limits"). */
export const TIERS = ["full", "proportional", "none"] as const;
export type Tier = (typeof TIERS)[number];

/** The two boundaries between reward tiers. The full reward is paid at or above "full", and nothing is paid below "none". */
export const BOUNDARIES = ["full", "none"] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** The minimum success rate for the tier above each boundary. A rate equal to the boundary belongs to the upper tier. */
export type LeastRates = Readonly<Record<Boundary, Dec18>>;

/** The boundaries in the specification: 98 % and 95 %. */
export const SPECIFIED_LEAST: LeastRates = {
  full: (DEC18_ONE * 98n) / 100n,
  none: (DEC18_ONE * 95n) / 100n,
};

/** Number of blocks after which a month's rate is meaningful: one hour at one block every two seconds. */
export const ENOUGH_BLOCKS = 1_800n;

/** A success rate as the fraction `good` / `total`, neither of which includes unknown blocks. */
export interface SuccessRate {
  readonly good: bigint;
  /** The number of good and bad blocks, which is always greater than zero. */
  readonly total: bigint;
}

/** Returns good / (good + bad); undefined if both counts are zero. */
export function successRate(counts: BlockCounts): SuccessRate | undefined {
  const total = counts.good + counts.bad;
  return total === 0n ? undefined : { good: counts.good, total };
}

/** Returns the reward tier for a success rate, compared exactly without rounding. */
export function tierOf(rate: SuccessRate, least: LeastRates = SPECIFIED_LEAST): Tier {
  if (isAtLeast(rate, least.full)) return "full";
  return isAtLeast(rate, least.none) ? "proportional" : "none";
}

/** Returns true if a rate is at or above a boundary, compared exactly without rounding. */
export function isAtLeast({ good, total }: SuccessRate, least: Dec18): boolean {
  return good * DEC18_ONE >= least * total;
}

/** Returns how many of `total` blocks may be bad without the rate falling below a boundary. */
export function allowedMisses(total: bigint, least: Dec18): bigint {
  // Round down, so that one more miss would fall below the boundary.
  return (total * (DEC18_ONE - least)) / DEC18_ONE;
}

/** Returns the share of bad blocks that a boundary allows. */
export function allowedShare(least: Dec18): number {
  return Number(DEC18_ONE - least) / Number(DEC18_ONE);
}

/** Returns the rate if all unknown blocks were bad, and the rate if all were good; undefined if there are no blocks. */
export function rateBounds(counts: BlockCounts): { low: SuccessRate; high: SuccessRate } | undefined {
  const { good, unknown } = counts;
  const total = allBlocks(counts);
  return total === 0n ? undefined : { low: { good, total }, high: { good: good + unknown, total } };
}

/** Formats the rate as a percentage with four decimals, rounded down, so that a rate below 98 % is never shown as 98.0000. */
export function formatPercent({ good, total }: SuccessRate): string {
  const scaled = (good * 1_000_000n) / total;
  return `${scaled / 10_000n}.${(scaled % 10_000n).toString().padStart(4, "0")}`;
}

/** Returns the rate as a number from 0 to 1, for metrics. */
export function toRatio({ good, total }: SuccessRate): number {
  return Number(good) / Number(total);
}

/**
 * Returns the time until more than `misses` of the remaining blocks are bad, at a constant bad share, or undefined if the
 * month ends first.
 */
export function timeToLossMs(
  { misses, remaining }: { readonly misses: bigint; readonly remaining: bigint },
  share: number,
  blockTimeMs: number,
): number | undefined {
  const blocks = Number(misses) / share;
  return share > 0 && blocks < Number(remaining) ? Math.round(blocks * blockTimeMs) : undefined;
}

/** Formats a rate as a percentage; "–" if no block has been counted. */
export function formatRate(rate: SuccessRate | undefined): string {
  return rate === undefined ? "–" : `${formatPercent(rate)} %`;
}

export function percentOrNull(rate: SuccessRate | undefined): string | null {
  return rate === undefined ? null : formatPercent(rate);
}
