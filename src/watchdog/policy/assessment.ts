import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { Month } from "../../platform/base/month.ts";
import type { BlockCounts } from "../ledger/ledger-view.ts";
import type { RevenueParams } from "../sources/observation.ts";
import { ENOUGH_BLOCKS, isAtLeast, SPECIFIED_LEAST } from "./reward-tier.ts";
import type { Boundary, LeastRates, SuccessRate, Tier } from "./reward-tier.ts";

/** Names of the formulas for the reward between the two boundaries. */
export const CURVES = ["linear", "revenue-quadratic"] as const;
export type Curve = (typeof CURVES)[number];

export interface Policy {
  readonly curve: Curve;
  /** Minimum success rates of oracle calls for full and for any reward. */
  readonly least: LeastRates;
  /** Minimum share of signed blocks, which the "revenue-quadratic" curve also requires. */
  readonly leastSigned: LeastRates;
  /** Reward for a full month, in hundredths of the currency unit. */
  readonly fullRewardCents: bigint;
  /** Source of the values; "chain" means the revenue module's parameters. */
  readonly source: "specification" | "configuration" | "chain";
  /** The currency's name, such as "USD"; absent if unknown. */
  readonly currency?: string;
  /** Time without a bad block, in ms, after which an incident ends. */
  readonly quietMs: number;
}

/**
 * Whether the month can still end on either side of a boundary. A "clinched" boundary holds even in a total outage until the end of
 * the month, and a "lost" boundary cannot be reached even if no more blocks are missed. An "open" boundary can still be held or lost.
 */
type BoundaryState = "open" | "clinched" | "lost";

/** How many more blocks the month can miss before its rate falls below one boundary. */
export interface Headroom {
  readonly boundary: Boundary;
  readonly state: BoundaryState;
  /** Number of further blocks that may be bad while the month still ends at or above the boundary; negative if lost. */
  readonly misses: bigint;
  /** Duration of a total outage that would use up `misses`; 0 if lost, undefined until the block time is known. */
  readonly outageMs: number | undefined;
  /** Time until the boundary is lost if the lasting loss continues; undefined if the month ends first or nothing is lost. */
  readonly lostInMs: number | undefined;
  /** Success rate that the remaining blocks need for the month to reach the boundary; above 1 if lost, 0 or less if clinched. */
  readonly requiredRate: number;
  /** For each window, the share of bad blocks divided by the share that the boundary allows; absent if a window has no blocks. */
  readonly burnRates: Readonly<Partial<Record<BurnWindow, number>>>;
}

/** The windows for which burn rates are computed. */
export const BURN_WINDOWS = ["1h", "6h", "3d"] as const;
export type BurnWindow = (typeof BURN_WINDOWS)[number];

/** Display names of the past periods whose share of bad blocks is projected onto the rest of the month. */
export const REGIME_NAMES = {
  now: "the last 6 h",
  days: "the last 3 days",
  month: "the month so far",
} as const;
export type RegimeName = keyof typeof REGIME_NAMES;

/** How the month ends if the remaining blocks have the same share of bad blocks as a past period. */
export interface Regime {
  readonly name: RegimeName;
  /** The share of blocks that were bad in that period. */
  readonly badShare: number;
  /** The resulting rate and tier at month end. */
  readonly end: SuccessRate;
  readonly tier: Tier;
}

/** An expected value (`middle`) with a lower and an upper bound. */
export type Band<T> = Readonly<Record<"low" | "middle" | "high", T>>;

/** Expected month-end rate. 80 % of the resampled outcomes lie between `low` and `high`. */
export interface Forecast extends Band<SuccessRate> {
  /** The tier and the reward for each of the three rates. Rewards are in hundredths of the currency unit. */
  readonly tiers: Band<Tier>;
  readonly rewardCents: Band<bigint>;
  /** The periods from which the band is resampled. */
  readonly basis: "recent days" | "recent hours" | "month so far";
  /** One projection for each past period that has measured blocks. */
  readonly regimes: readonly Regime[];
}

/** The risk that the validator is rotated out after 2 consecutive months, or 3 of 6 months, below the lower boundary. */
interface RotationRisk {
  /** Number of months immediately before the current month that were below the boundary. */
  readonly inARow: number;
  /** Number of months below the boundary among the last five closed months. */
  readonly inWindow: number;
  /** "due" if one of the two rules is met, "next" if the current month would meet one, otherwise "none". */
  readonly state: "none" | "next" | "due";
  /** The closed months that were below the boundary, oldest first. */
  readonly months: readonly Month[];
}

/** A policy's assessment of one validator's current month. */
export interface Assessment {
  readonly month: Month;
  readonly policy: Policy;
  readonly counts: BlockCounts;
  /** The part of `counts` that was estimated rather than measured. */
  readonly estimated: BlockCounts;
  /** The month's success rate so far. The rate and all fields derived from it are undefined until a block has been counted. */
  readonly rate: SuccessRate | undefined;
  /** The rate if all unknown blocks were bad (`low`), and if they were all good (`high`). */
  readonly bounds: { readonly low: SuccessRate; readonly high: SuccessRate } | undefined;
  readonly tier: Tier | undefined;
  /** Reward if the month ended now, in hundredths of the currency unit. */
  readonly rewardCents: bigint | undefined;
  /** The chain's mean block time, in ms; undefined until it is known. */
  readonly blockTimeMs: number | undefined;
  /** Number of blocks that the chain will make before the month ends; undefined until the block time is known. */
  readonly remainingBlocks: bigint | undefined;
  /** One entry per boundary, "full" first; empty until the rate and the block time are known. */
  readonly headroom: readonly Headroom[];
  readonly forecast: Forecast | undefined;
  readonly rotation: RotationRisk;
}

/** The cost of an event, such as an outage, if it happened now. */
export interface WhatIf {
  /** Number of bad blocks that the event would add. */
  readonly misses: bigint;
  /** How the month ends without the event and with the event. */
  readonly without: Outcome;
  readonly with: Outcome;
  /** The reward that the event would cost, in hundredths of the currency unit. */
  readonly costCents: bigint;
  /** The boundaries below which the month would fall because of the event. */
  readonly crosses: readonly Boundary[];
}

export interface Outcome {
  readonly rate: SuccessRate;
  readonly tier: Tier;
  readonly rewardCents: bigint;
}

/**
 * The specification's policy: its tiers, linear pay between the boundaries, and the documented 99.5 % and 95 % minimum of signed
 * blocks.
 */
export const SPECIFIED_POLICY: Policy = {
  curve: "linear",
  least: SPECIFIED_LEAST,
  leastSigned: { full: (DEC18_ONE * 995n) / 1000n, none: (DEC18_ONE * 95n) / 100n },
  // A full month pays 3,000 (chain-extension-modules.md, "Limits").
  fullRewardCents: 300_000n,
  source: "specification",
  quietMs: 600_000,
};

/** Returns the current month's policy, or the specified policy until there is an assessment. */
export function policyOf(assessment: Pick<Assessment, "policy"> | undefined): Policy {
  return assessment?.policy ?? SPECIFIED_POLICY;
}

/**
 * Returns the policy that a chain with these parameters applies. `quietMs`, which is no chain parameter, comes from the configured
 * policy.
 */
export function chainPolicy(params: RevenueParams, { quietMs }: Policy): Policy {
  return {
    quietMs,
    curve: "revenue-quadratic",
    least: { full: DEC18_ONE - params.votesAllowedToMiss, none: params.votesRequired },
    leastSigned: { full: DEC18_ONE - params.blocksAllowedToMiss, none: params.blocksRequired },
    fullRewardCents: params.baseCompensation * 100n,
    source: "chain",
    ...(CURRENCY.test(params.quoteAsset) ? { currency: params.quoteAsset } : {}),
  };
}

export const CURRENCY = /^[A-Za-z][A-Za-z0-9./-]{0,15}$/;

/** The configured policy, and whether the chain's own parameters override it while they can be read. */
export interface PolicyChoice {
  readonly policy: Policy;
  readonly fromChain: boolean;
}

/** Returns true if the month has too few blocks for a meaningful rate; a single miss in ten blocks, for example, gives 90 %. */
export function isEarly({ counts: { good, bad } }: Pick<Assessment, "counts">): boolean {
  return good + bad < ENOUGH_BLOCKS;
}

/** Returns the current rate's tier as a table cell: "too early" if there are few blocks, "–" if there are none. */
export function tierCell(assessment: Pick<Assessment, "tier" | "counts">): string {
  if (assessment.tier === undefined) return "–";
  return isEarly(assessment) ? "too early" : assessment.tier;
}

/** Returns the forecast, or undefined if it is based only on a month that {@link isEarly} considers too young. */
export function foundedForecast(assessment: Assessment | undefined): Forecast | undefined {
  if (assessment?.forecast?.basis === "month so far" && isEarly(assessment)) return undefined;
  return assessment?.forecast;
}

/**
 * Returns the tier in which the month will end if the current loss continues or, without a forecast, the current rate's tier;
 * undefined if it is too early to tell.
 */
export function expectedTier(assessment: Assessment): Tier | undefined {
  return foundedForecast(assessment)?.tiers.middle ?? (isEarly(assessment) ? undefined : assessment.tier);
}

/** Returns the state of a boundary; undefined until the rate and the block time are known. */
export function boundaryState(
  assessment: Pick<Assessment, "headroom"> | undefined,
  boundary: Boundary,
): BoundaryState | undefined {
  return assessment?.headroom.find((one) => one.boundary === boundary)?.state;
}

/** A share of the full reward, as an exact fraction. */
interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

/** The share of the full reward that each curve pays above the lower boundary. */
const CURVE_SHARES: Readonly<
  Record<Curve, (policy: Policy, rate: SuccessRate, signed: SuccessRate) => Share>
> = {
  linear: ({ least }, rate) => {
    if (isAtLeast(rate, least.full)) return { part: 1n, whole: 1n };
    // Compute (rate - none) / (full - none), with both sides scaled by 10^18 * total so that nothing is rounded here.
    return {
      part: rate.good * DEC18_ONE - least.none * rate.total,
      whole: (least.full - least.none) * rate.total,
    };
  },
  "revenue-quadratic": (policy, rate, signed) => ({
    part: performanceRating(policy, rate, signed),
    whole: DEC18_ONE,
  }),
};

/**
 * Returns the reward for a month with this rate, in hundredths of the currency unit, rounded down. The full tier pays everything,
 * the lowest tier nothing, and the tier between them follows the policy's curve. If the share of signed blocks is unknown, all
 * blocks are treated as signed.
 */
export function rewardCents(
  policy: Policy,
  rate: SuccessRate,
  signed: SuccessRate = { good: 1n, total: 1n },
): bigint {
  if (!isAtLeast(rate, policy.least.none)) return 0n;
  const { part, whole } = CURVE_SHARES[policy.curve](policy, rate, signed);
  return (part * policy.fullRewardCents) / whole;
}

/**
 * Returns the revenue module's rating, from 0 to 1: half of the sum of (1 - q²) for blocks and for votes (x/revenue v9.1.3
 * keeper/performance_rating.go). Every step is rounded as in the module.
 */
export function performanceRating(
  { least, leastSigned }: Pick<Policy, "least" | "leastSigned">,
  votes: SuccessRate,
  blocks: SuccessRate,
): Dec18 {
  const [ofVotes, ofBlocks] = [bandUsed(votes, least), bandUsed(blocks, leastSigned)];
  if (ofVotes === undefined || ofBlocks === undefined) return 0n;
  const sum = DEC18_ONE - mulDec18(ofBlocks, ofBlocks) + (DEC18_ONE - mulDec18(ofVotes, ofVotes));
  return mulDec18(DEC18_ONE / 2n, sum);
}

/** Returns how far a rate is below the upper boundary: 0 at or above it, 1 at the lower boundary, undefined below both. */
function bandUsed({ good, total }: SuccessRate, least: LeastRates): Dec18 | undefined {
  // As on the chain, truncate the missed share and round half to even when dividing.
  const missed = ((total - good) * DEC18_ONE) / total;
  if (missed > DEC18_ONE - least.none) return undefined;
  const allowed = DEC18_ONE - least.full;
  return missed <= allowed ? 0n : quoDec18(missed - allowed, least.full - least.none);
}
