import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { Month } from "../../platform/base/month.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { RevenueParams } from "../sources/observation.ts";
import { ENOUGH_BLOCKS, isAtLeast, SPECIFIED_LEAST } from "./reward-tier.ts";
import type { Boundary, LeastRates, SuccessRate, Tier } from "./reward-tier.ts";

/** Names of the reward curves between the two boundaries. */
export const CURVES = ["linear", "revenue-quadratic"] as const;
export type Curve = (typeof CURVES)[number];

export interface Policy {
  readonly curve: Curve;
  /** Minimum success rate of oracle calls. */
  readonly least: LeastRates;
  /** Minimum share of signed blocks, also required by the "revenue-quadratic" curve. */
  readonly leastSigned: LeastRates;
  /** Reward for a full month, in hundredths of the currency unit. */
  readonly fullRewardCents: bigint;
  /** Source of the values: the specification, the configuration, or the chain's parameters. */
  readonly source: "specification" | "configuration" | "chain";
  /** Name of the currency: "USD". Absent if it has none. */
  readonly currency?: string;
  /** An incident ends after this long without a bad block, in ms. */
  readonly quietMs: number;
}

/**
 * State of one boundary this month. "clinched": even if a total outage lasts until the end of the month, the rate stays above the
 * boundary. "lost": even without any further misses, the month ends below the boundary. "open": neither.
 */
type BoundaryState = "open" | "clinched" | "lost";

/** The distance to one boundary. */
export interface Headroom {
  readonly boundary: Boundary;
  readonly state: BoundaryState;
  /** Number of further bad blocks with which the month still ends at or above the boundary; negative if lost. */
  readonly misses: bigint;
  /** `misses` expressed as the duration of a total outage; 0 if lost. Undefined until the block time is known. */
  readonly outageMs: number | undefined;
  /** Time until the boundary is lost at the lasting loss rate. Undefined if the month ends first or nothing is being lost. */
  readonly lostInMs: number | undefined;
  /** Success rate that the remaining blocks must reach; above 1 if lost, 0 or less if clinched. */
  readonly requiredRate: number;
  /** How many of the remaining blocks must be good; negative if clinched, more than all of them if lost. */
  readonly requiredGood: bigint;
  /** For each window, the share of bad blocks divided by the share that the boundary allows. Absent if a window has no blocks. */
  readonly burnRates: Readonly<Partial<Record<BurnWindow, number>>>;
}

/** Windows over which burn rates are computed. */
export const BURN_WINDOWS = ["1h", "6h", "3d"] as const;
export type BurnWindow = (typeof BURN_WINDOWS)[number];

/** Past periods that the rest of the month may resemble, with their names in texts. */
export const REGIME_NAMES = {
  now: "the last 6 h",
  days: "the last 3 days",
  month: "the month so far",
} as const;
export type RegimeName = keyof typeof REGIME_NAMES;

/** How the month ends if the remaining blocks are like the blocks of a past period. */
export interface Regime {
  readonly name: RegimeName;
  /** Share of bad blocks in that period. */
  readonly badShare: number;
  /** Rate and tier at the end of the month. */
  readonly end: SuccessRate;
  readonly tier: Tier;
}

/** An expected value and its bounds. */
export type Band<T> = Readonly<Record<"low" | "middle" | "high", T>>;

/** Expected month-end rate. `low` and `high` bound 80 % of outcomes suggested by recent days; they differ while blocks remain. */
export interface Forecast extends Band<SuccessRate> {
  /** Tiers and rewards for each rate. Rewards are in hundredths of the currency unit. */
  readonly tiers: Band<Tier>;
  readonly rewardCents: Band<bigint>;
  /** The periods from which the band is resampled. */
  readonly basis: "recent days" | "recent hours" | "month so far";
  /** Regimes whose period has measured blocks. */
  readonly regimes: readonly Regime[];
}

/** Risk of rotation: below the lower boundary for 2 months in a row, or in 3 of 6. */
interface RotationRisk {
  /** Number of closed months below the boundary immediately before the current month. */
  readonly inARow: number;
  /** Number of months below the boundary among the last five closed months. */
  readonly inWindow: number;
  /** "due": a rule is met. "next": the current month would meet one. "none": neither. */
  readonly state: "none" | "next" | "due";
  /** Closed months that count as below the boundary, oldest first. */
  readonly months: readonly Month[];
}

/** Everything that the policy determines about one validator's current month. */
export interface Assessment {
  readonly month: Month;
  readonly policy: Policy;
  readonly counts: BlockCounts;
  /** The part of `counts` that is estimated. */
  readonly estimated: BlockCounts;
  /** Undefined until a block has been counted, as are the fields that depend on it. */
  readonly rate: SuccessRate | undefined;
  /** The rates if every unknown block were bad, and if every unknown block were good. */
  readonly bounds: { readonly low: SuccessRate; readonly high: SuccessRate } | undefined;
  readonly tier: Tier | undefined;
  /** Reward if the month ended now, in hundredths of the currency unit. */
  readonly rewardCents: bigint | undefined;
  /** Mean time between blocks, in ms. Undefined until known. */
  readonly blockTimeMs: number | undefined;
  /** Number of blocks that the chain will make before the month ends. Undefined until the block time is known. */
  readonly remainingBlocks: bigint | undefined;
  /** One entry per boundary, "full" first. Empty until the rate and the block time are known. */
  readonly headroom: readonly Headroom[];
  readonly forecast: Forecast | undefined;
  readonly rotation: RotationRisk;
}

/** The cost of an event if it happened now. */
export interface WhatIf {
  /** Bad blocks that the event would add. */
  readonly misses: bigint;
  /** Rate, tier and reward at the end of the month, without and with the event. */
  readonly without: Outcome;
  readonly with: Outcome;
  /** Reward that would be lost, in hundredths of the currency unit. */
  readonly costCents: bigint;
  /** Boundaries that would be crossed. */
  readonly crosses: readonly Boundary[];
}

export interface Outcome {
  readonly rate: SuccessRate;
  readonly tier: Tier;
  readonly rewardCents: bigint;
}

/** The specification's tiers, linear between the boundaries. For signed blocks, the documented values of 99.5 % and 95 %. */
export const SPECIFIED_POLICY: Policy = {
  curve: "linear",
  least: SPECIFIED_LEAST,
  leastSigned: { full: (DEC18_ONE * 995n) / 1000n, none: (DEC18_ONE * 95n) / 100n },
  // 3000 per month (chain-extension-modules.md, "Limits").
  fullRewardCents: 300_000n,
  source: "specification",
  quietMs: 600_000,
};

/** Returns the current month's policy, or the specified policy until there is an assessment. */
export function policyOf(assessment: Pick<Assessment, "policy"> | undefined): Policy {
  return assessment?.policy ?? SPECIFIED_POLICY;
}

/** Returns the policy by which a chain with these parameters pays. Everything else is taken from the configured policy. */
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

/** Returns true if a month has too few counted blocks for a meaningful rate: one miss in ten blocks gives 90 %. */
export function isEarly({ counts: { good, bad } }: Pick<Assessment, "counts">): boolean {
  return good + bad < ENOUGH_BLOCKS;
}

/** Returns the forecast unless it is based only on a month that {@link isEarly}. */
export function foundedForecast(assessment: Assessment | undefined): Forecast | undefined {
  if (assessment?.forecast?.basis === "month so far" && isEarly(assessment)) return undefined;
  return assessment?.forecast;
}

/** An exact share of the full reward. */
interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

/** The share of the reward that each curve pays above the lower boundary. */
const CURVE_SHARES: Readonly<
  Record<Curve, (policy: Policy, rate: SuccessRate, signed: SuccessRate) => Share>
> = {
  linear: ({ least }, rate) => {
    if (isAtLeast(rate, least.full)) return { part: 1n, whole: 1n };
    // (rate - none) / (full - none), both scaled by 10^18 * total, so that nothing is rounded here.
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
 * Returns the reward for a month with this rate, in hundredths of the currency unit, rounded down: everything in the full tier,
 * nothing in the lowest tier, and in between according to the policy's curve. `signed` is the share of signed blocks; if it is
 * unknown, all blocks are treated as signed.
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

/** Returns the fraction of the band between the boundaries that misses use: 0 from the upper boundary up; undefined below the lower one. */
function bandUsed({ good, total }: SuccessRate, least: LeastRates): Dec18 | undefined {
  // The chain's own steps: the missed share is truncated, the quotient is rounded half to even.
  const missed = ((total - good) * DEC18_ONE) / total;
  if (missed > DEC18_ONE - least.none) return undefined;
  const allowed = DEC18_ONE - least.full;
  return missed <= allowed ? 0n : quoDec18(missed - allowed, least.full - least.none);
}
