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

/** Names of the curves between the two boundaries. */
export const CURVES = ["linear", "revenue-quadratic"] as const;

/** One of {@link CURVES}. */
export type Curve = (typeof CURVES)[number];

/** A reward policy. */
export interface Policy {
  readonly curve: Curve;
  /** Least success rate of oracle calls. */
  readonly least: LeastRates;
  /** Least share of signed blocks, which the curve "revenue-quadratic" also needs. */
  readonly leastSigned: LeastRates;
  /** Reward of a full month, in hundredths of the currency unit. */
  readonly fullRewardCents: bigint;
  /** Where the values come from: the specification, the configuration, or the chain's parameters. */
  readonly source: "specification" | "configuration" | "chain";
  /** "USD". Absent: it has no name. */
  readonly currency?: string;
  /** Time without a bad block that ends an incident, ms. */
  readonly quietMs: number;
}

/**
 * State of one boundary in this month. "clinched": even a total outage until the end of the month stays above it. "lost":
 * even without any further miss the month ends below it. "open": neither.
 */
export type BoundaryState = "open" | "clinched" | "lost";

/** How far one boundary is away. */
export interface Headroom {
  readonly boundary: Boundary;
  readonly state: BoundaryState;
  /** Further bad blocks that the month can have and still end at or above the boundary; negative when lost. */
  readonly misses: bigint;
  /** The same as time of a total outage at this block time; 0 when lost. Undefined while the block time is not known. */
  readonly outageMs: number | undefined;
  /** Time until the boundary is lost at the loss that lasts. Undefined when the month ends before, or when nothing is lost now. */
  readonly lostInMs: number | undefined;
  /** Least success rate of the remaining blocks; above 1 when lost, 0 or less when clinched. */
  readonly requiredRate: number;
  /** Blocks of the remaining ones that must be good; negative when clinched, more than remain when lost. */
  readonly requiredGood: bigint;
  /** Share of bad blocks of each window, divided by the share that the boundary allows. Absent without a block. */
  readonly burnRates: Readonly<Partial<Record<BurnWindow, number>>>;
}

/** Windows of the burn rates. */
export const BURN_WINDOWS = ["1h", "6h", "3d"] as const;

/** One of {@link BURN_WINDOWS}. */
export type BurnWindow = (typeof BURN_WINDOWS)[number];

/** Past times that the rest of the month may be like, and their names in texts. */
export const REGIME_NAMES = {
  now: "the last 6 h",
  days: "the last 3 days",
  month: "the month so far",
} as const;

/** One of {@link REGIME_NAMES}. */
export type RegimeName = keyof typeof REGIME_NAMES;

/** What the month becomes if its remaining blocks are like those of a past time. */
export interface Regime {
  readonly name: RegimeName;
  /** Share of bad blocks in that time. */
  readonly badShare: number;
  /** Rate and tier at the end of the month. */
  readonly end: SuccessRate;
  readonly tier: Tier;
}

/**
 * Expected rate at the end of the month. `low` and `high` bound 80 % of the outcomes that recent days suggest; they differ while
 * blocks remain.
 */
export interface Forecast {
  readonly low: SuccessRate;
  readonly middle: SuccessRate;
  readonly high: SuccessRate;
  /** Tier and reward of each rate, in hundredths of the currency unit. */
  readonly tiers: Readonly<Record<"low" | "middle" | "high", Tier>>;
  readonly rewardCents: Readonly<Record<"low" | "middle" | "high", bigint>>;
  /** The periods that the band is resampled from. */
  readonly basis: "recent days" | "recent hours" | "month so far";
  /** Without those in whose time no block was measured. */
  readonly regimes: readonly Regime[];
}

/** Rotation: below the lower boundary for 2 months in a row, or in 3 of 6. */
export interface RotationRisk {
  /** Closed months below the boundary, directly before the current one. */
  readonly inARow: number;
  /** Months below the boundary among the last five closed ones. */
  readonly inWindow: number;
  /** "due": a rule is met. "next": the current month would meet one. "none": neither. */
  readonly state: "none" | "next" | "due";
  /** Closed months that are treated as below the boundary, oldest first. */
  readonly months: readonly Month[];
}

/** Everything that the policy says of one validator's current month. */
export interface Assessment {
  readonly month: Month;
  readonly policy: Policy;
  readonly counts: BlockCounts;
  /** The part of `counts` that is estimated. */
  readonly estimated: BlockCounts;
  /** Undefined while no block is counted; so are the fields that follow from it. */
  readonly rate: SuccessRate | undefined;
  /** The rate when every unknown block was bad, and when every one was good. */
  readonly bounds: { readonly low: SuccessRate; readonly high: SuccessRate } | undefined;
  readonly tier: Tier | undefined;
  /** Reward if the month ended now, in hundredths of the currency unit. */
  readonly rewardCents: bigint | undefined;
  /** Mean time between blocks, ms. Undefined while it is not known. */
  readonly blockTimeMs: number | undefined;
  /** Blocks that the chain will make until the end of the month. Undefined while the block time is not known. */
  readonly remainingBlocks: bigint | undefined;
  /** One for each boundary, "full" first. Empty while the rate or the block time is not known. */
  readonly headroom: readonly Headroom[];
  readonly forecast: Forecast | undefined;
  readonly rotation: RotationRisk;
}

/** Cost of something that would happen now. */
export interface WhatIf {
  /** Bad blocks that it adds. */
  readonly misses: bigint;
  /** Rate, tier and reward at the end of the month without it and with it. */
  readonly without: Outcome;
  readonly with: Outcome;
  /** Reward that it costs, in hundredths of the currency unit. */
  readonly costCents: bigint;
  /** Boundaries that it would cross. */
  readonly crosses: readonly Boundary[];
}

/** End of a month. */
export interface Outcome {
  readonly rate: SuccessRate;
  readonly tier: Tier;
  readonly rewardCents: bigint;
}

/** 3000 a month (chain-extension-modules.md, "Limits"). */
const SPECIFIED_REWARD_CENTS = 300_000n;

/** The specification's tiers, linear between the boundaries. Signed blocks: the documented 99.5 % and 95 %. */
export const SPECIFIED_POLICY: Policy = {
  curve: "linear",
  least: SPECIFIED_LEAST,
  leastSigned: { full: (DEC18_ONE * 995n) / 1000n, none: (DEC18_ONE * 95n) / 100n },
  fullRewardCents: SPECIFIED_REWARD_CENTS,
  source: "specification",
  quietMs: 600_000,
};

/** The present month's policy; the specification's before anything was assessed. */
export function policyOf(assessment: Pick<Assessment, "policy"> | undefined): Policy {
  return assessment?.policy ?? SPECIFIED_POLICY;
}

/** The policy by which a chain with these parameters pays; the rest is that of the configured one. */
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

/** The policy of the configuration, and whether the chain's own parameters replace it while they can be read. */
export interface PolicyChoice {
  readonly policy: Policy;
  readonly fromChain: boolean;
}

/** Returns true if a month has too few counted blocks for a meaningful rate: one miss of ten blocks gives 90 %. */
export function isEarly({ counts: { good, bad } }: Pick<Assessment, "counts">): boolean {
  return good + bad < ENOUGH_BLOCKS;
}

/** Returns the forecast, unless it has no other basis than a month that {@link isEarly}. */
export function foundedForecast(assessment: Assessment | undefined): Forecast | undefined {
  if (assessment?.forecast?.basis === "month so far" && isEarly(assessment)) return undefined;
  return assessment?.forecast;
}

const ALL_SIGNED: SuccessRate = { good: 1n, total: 1n };

/** A share of the full reward; exact. */
interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

const NOTHING: Share = { part: 0n, whole: 1n };
const EVERYTHING: Share = { part: 1n, whole: 1n };

/** Share that each curve pays above the lower boundary. */
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
 * Returns the reward of a month with this rate, in hundredths of the currency unit, rounded down: all in the full tier,
 * nothing in the lowest one, by the policy's curve between them. `signed` is the share of signed blocks, all when it is not
 * known.
 */
export function rewardCents(policy: Policy, rate: SuccessRate, signed?: SuccessRate): bigint {
  const { part, whole } = shareOf(policy, rate, signed);
  return (part * policy.fullRewardCents) / whole;
}

function shareOf(policy: Policy, rate: SuccessRate, signed = ALL_SIGNED): Share {
  if (!isAtLeast(rate, policy.least.none)) return NOTHING;
  return CURVE_SHARES[policy.curve](policy, rate, signed);
}

/** Part of the band between the boundaries that the misses use: 0 at the upper boundary and above, 1 at the lower one. */
function bandShare({ good, total }: SuccessRate, least: LeastRates): Dec18 {
  // The chain's own steps: the missed share is truncated, the quotient is rounded half to even.
  const missed = ((total - good) * DEC18_ONE) / total;
  const allowed = DEC18_ONE - least.full;
  return missed <= allowed ? 0n : quoDec18(missed - allowed, least.full - least.none);
}
