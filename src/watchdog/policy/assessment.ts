import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { Month } from "../../platform/base/month.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { RevenueParams } from "../sources/observation.ts";
import {
  type Boundary,
  ENOUGH_BLOCKS,
  isAtLeast,
  type LeastRates,
  SPECIFIED_LEAST,
  type SuccessRate,
  type Tier,
} from "./reward-tier.ts";

/** Names of the reward curves between the two boundaries. */
export const CURVES = ["linear", "revenue-quadratic"] as const;

/** One of {@link CURVES}. */
export type Curve = (typeof CURVES)[number];

/** A reward policy. */
export interface Policy {
  readonly curve: Curve;
  /** Minimum success rate of oracle calls. */
  readonly least: LeastRates;
  /** Minimum share of signed blocks, which the "revenue-quadratic" curve also needs. */
  readonly leastSigned: LeastRates;
  /** Reward for a full month, in hundredths of the currency unit. */
  readonly fullRewardCents: bigint;
  /** Where the values come from: the specification, the configuration, or the chain's parameters. */
  readonly source: "specification" | "configuration" | "chain";
  /** "USD". Absent if the currency has no name. */
  readonly currency?: string;
  /** How long without a bad block ends an incident, ms. */
  readonly quietMs: number;
}

/**
 * State of one boundary this month. "clinched": even after a total outage until the end of the month, the rate stays above the
 * boundary. "lost": even without any further miss, the month ends below it. "open": neither.
 */
export type BoundaryState = "open" | "clinched" | "lost";

/** How far away one boundary is. */
export interface Headroom {
  readonly boundary: Boundary;
  readonly state: BoundaryState;
  /** How many more bad blocks the month may have and still end at or above the boundary; negative if lost. */
  readonly misses: bigint;
  /** The same as the duration of a total outage at this block time; 0 if lost. Undefined until the block time is known. */
  readonly outageMs: number | undefined;
  /**
   * Time until the boundary is lost at the lasting loss rate. Undefined if the month ends before that or nothing is being lost.
   */
  readonly lostInMs: number | undefined;
  /** Minimum success rate for the remaining blocks; above 1 if lost, 0 or less if clinched. */
  readonly requiredRate: number;
  /** How many of the remaining blocks must be good; negative if clinched, more than remain if lost. */
  readonly requiredGood: bigint;
  /** Share of bad blocks in each window, divided by the share that the boundary allows. Absent if the window has no blocks. */
  readonly burnRates: Readonly<Partial<Record<BurnWindow, number>>>;
}

/** Windows for the burn rates. */
export const BURN_WINDOWS = ["1h", "6h", "3d"] as const;

/** One of {@link BURN_WINDOWS}. */
export type BurnWindow = (typeof BURN_WINDOWS)[number];

/** Past periods that the rest of the month may resemble, and their names in texts. */
export const REGIME_NAMES = {
  now: "the last 6 h",
  days: "the last 3 days",
  month: "the month so far",
} as const;

/** One of {@link REGIME_NAMES}. */
export type RegimeName = keyof typeof REGIME_NAMES;

/** How the month ends if its remaining blocks are like the blocks of a past period. */
export interface Regime {
  readonly name: RegimeName;
  /** Share of bad blocks in that period. */
  readonly badShare: number;
  /** Rate and tier at the end of the month. */
  readonly end: SuccessRate;
  readonly tier: Tier;
}

/** Expected month-end rate. `low` and `high` bound 80 % of outcomes suggested by recent days; they differ while blocks remain. */
export interface Forecast {
  readonly low: SuccessRate;
  readonly middle: SuccessRate;
  readonly high: SuccessRate;
  /** Tier and reward for each rate, in hundredths of the currency unit. */
  readonly tiers: Readonly<Record<"low" | "middle" | "high", Tier>>;
  readonly rewardCents: Readonly<Record<"low" | "middle" | "high", bigint>>;
  /** The periods from which the band is resampled. */
  readonly basis: "recent days" | "recent hours" | "month so far";
  /** Excludes regimes whose period has no measured block. */
  readonly regimes: readonly Regime[];
}

/** Rotation: below the lower boundary for 2 months in a row, or in 3 of 6. */
export interface RotationRisk {
  /** Closed months below the boundary that directly precede the current month. */
  readonly inARow: number;
  /** Months below the boundary among the last five closed months. */
  readonly inWindow: number;
  /** "due": a rule is met. "next": the current month would meet one. "none": neither. */
  readonly state: "none" | "next" | "due";
  /** Closed months treated as below the boundary, oldest first. */
  readonly months: readonly Month[];
}

/** Everything that the policy says about one validator's current month. */
export interface Assessment {
  readonly month: Month;
  readonly policy: Policy;
  readonly counts: BlockCounts;
  /** The part of `counts` that is estimated. */
  readonly estimated: BlockCounts;
  /** Undefined until a block has been counted, like the fields that depend on it. */
  readonly rate: SuccessRate | undefined;
  /** The rate if every unknown block were bad, and if every one were good. */
  readonly bounds: { readonly low: SuccessRate; readonly high: SuccessRate } | undefined;
  readonly tier: Tier | undefined;
  /** Reward if the month ended now, in hundredths of the currency unit. */
  readonly rewardCents: bigint | undefined;
  /** Mean time between blocks, ms. Undefined until known. */
  readonly blockTimeMs: number | undefined;
  /** Number of blocks that the chain will make before the month ends. Undefined until the block time is known. */
  readonly remainingBlocks: bigint | undefined;
  /** One per boundary, "full" first. Empty until the rate and the block time are known. */
  readonly headroom: readonly Headroom[];
  readonly forecast: Forecast | undefined;
  readonly rotation: RotationRisk;
}

/** Cost of something, if it happened now. */
export interface WhatIf {
  /** Bad blocks that it would add. */
  readonly misses: bigint;
  /** Rate, tier and reward at the end of the month, without it and with it. */
  readonly without: Outcome;
  readonly with: Outcome;
  /** How much reward it would cost, in hundredths of the currency unit. */
  readonly costCents: bigint;
  /** Boundaries that it would cross. */
  readonly crosses: readonly Boundary[];
}

/** How a month ends. */
export interface Outcome {
  readonly rate: SuccessRate;
  readonly tier: Tier;
  readonly rewardCents: bigint;
}

/** 3000 per month (chain-extension-modules.md, "Limits"). */
const SPECIFIED_REWARD_CENTS = 300_000n;

/** The specification's tiers, linear between the boundaries. For signed blocks, the documented 99.5 % and 95 %. */
export const SPECIFIED_POLICY: Policy = {
  curve: "linear",
  least: SPECIFIED_LEAST,
  leastSigned: { full: (DEC18_ONE * 995n) / 1000n, none: (DEC18_ONE * 95n) / 100n },
  fullRewardCents: SPECIFIED_REWARD_CENTS,
  source: "specification",
  quietMs: 600_000,
};

/** The current month's policy, or the specification's policy until there is an assessment. */
export function policyOf(assessment: Pick<Assessment, "policy"> | undefined): Policy {
  return assessment?.policy ?? SPECIFIED_POLICY;
}

/** The policy by which a chain with these parameters pays; everything else is taken from the configured policy. */
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

/** Name of a currency. */
export const CURRENCY = /^[A-Za-z][A-Za-z0-9./-]{0,15}$/;

/** The configured policy, and whether the chain's own parameters replace it while they can be read. */
export interface PolicyChoice {
  readonly policy: Policy;
  readonly fromChain: boolean;
}

/** Returns true if a month has too few counted blocks for a meaningful rate: one miss in ten blocks gives 90 %. */
export function isEarly({ counts: { good, bad } }: Pick<Assessment, "counts">): boolean {
  return good + bad < ENOUGH_BLOCKS;
}

/** Returns the forecast, unless it is based only on a month that {@link isEarly}. */
export function foundedForecast(assessment: Assessment | undefined): Forecast | undefined {
  if (assessment?.forecast?.basis === "month so far" && isEarly(assessment)) return undefined;
  return assessment?.forecast;
}

const ALL_SIGNED: SuccessRate = { good: 1n, total: 1n };

/** An exact share of the full reward. */
interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

const NOTHING: Share = { part: 0n, whole: 1n };
const EVERYTHING: Share = { part: 1n, whole: 1n };

/** Share of the reward that each curve pays above the lower boundary. */
const CURVE_SHARES: Readonly<
  Record<Curve, (policy: Policy, rate: SuccessRate, signed: SuccessRate) => Share>
> = {
  linear: ({ least }, rate) => {
    if (isAtLeast(rate, least.full)) return EVERYTHING;
    // (rate - none) / (full - none), both scaled by 10^18 * total, so that nothing is rounded here.
    return {
      part: rate.good * DEC18_ONE - least.none * rate.total,
      whole: (least.full - least.none) * rate.total,
    };
  },
  // x/revenue v9.1.3 keeper/performance_rating.go: half of (1 - q²) of blocks and of votes.
  "revenue-quadratic": (policy, rate, signed) => {
    if (!isAtLeast(signed, policy.leastSigned.none)) return NOTHING;
    const votes = bandShare(rate, policy.least);
    const blocks = bandShare(signed, policy.leastSigned);
    const sum = DEC18_ONE - mulDec18(blocks, blocks) + (DEC18_ONE - mulDec18(votes, votes));
    return { part: mulDec18(DEC18_ONE / 2n, sum), whole: DEC18_ONE };
  },
};

/**
 * Returns the reward for a month with this rate, in hundredths of the currency unit, rounded down: everything in the full tier,
 * nothing in the lowest tier, and according to the policy's curve in between. `signed` is the share of signed blocks; if not
 * known, all blocks are treated as signed.
 */
export function rewardCents(policy: Policy, rate: SuccessRate, signed?: SuccessRate): bigint {
  const { part, whole } = shareOf(policy, rate, signed);
  return (part * policy.fullRewardCents) / whole;
}

function shareOf(policy: Policy, rate: SuccessRate, signed = ALL_SIGNED): Share {
  if (!isAtLeast(rate, policy.least.none)) return NOTHING;
  return CURVE_SHARES[policy.curve](policy, rate, signed);
}

/** Fraction of the band between the boundaries that the misses use: 0 at or above the upper boundary, 1 at the lower boundary. */
function bandShare({ good, total }: SuccessRate, least: LeastRates): Dec18 {
  // The chain's own steps: the missed share is truncated, the quotient is rounded half to even.
  const missed = ((total - good) * DEC18_ONE) / total;
  const allowed = DEC18_ONE - least.full;
  return missed <= allowed ? 0n : quoDec18(missed - allowed, least.full - least.none);
}
