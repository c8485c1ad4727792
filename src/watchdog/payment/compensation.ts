import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { SuccessRate } from "../policy/reward-tier.ts";
import type { RevenueParams } from "../sources/observation.ts";

/** Inputs to the revenue module's formula other than the counts. Decimals have 18 places. */
export interface PaymentTerms {
  readonly params: RevenueParams;
  /** The amount paid for a full period, in the base unit. */
  readonly base: bigint;
  /** Fraction of the month that the period covers: 1 for a whole month. */
  readonly progress: Dec18;
  readonly inActiveSet: bigint;
  readonly totalBlocks: bigint;
}

/**
 * Returns the amount that the revenue module pays at these rates (x/revenue v9.1.3 keeper/keeper.go, performance_rating.go):
 * rating × amount for the period × share of blocks in the set. Every step is rounded as in the module.
 */
export function compensation(terms: PaymentTerms, votes: SuccessRate, blocks: SuccessRate): bigint {
  const { params, base, progress, inActiveSet, totalBlocks } = terms;
  if (totalBlocks === 0n) return 0n;
  const period = (progress * base) / DEC18_ONE;
  const rating = ratingOf(params, votes, blocks);
  return (rating * period * inActiveSet) / totalBlocks / DEC18_ONE;
}

/** Returns the performance rating, from 0 to 1. */
function ratingOf(params: RevenueParams, votes: SuccessRate, blocks: SuccessRate): Dec18 {
  const ofBlocks = bandUsed(blocks, params.blocksAllowedToMiss, params.blocksRequired);
  const ofVotes = bandUsed(votes, params.votesAllowedToMiss, params.votesRequired);
  if (ofBlocks === undefined || ofVotes === undefined) return 0n;
  const sum = DEC18_ONE - mulDec18(ofBlocks, ofBlocks) + (DEC18_ONE - mulDec18(ofVotes, ofVotes));
  return mulDec18(DEC18_ONE / 2n, sum);
}

/** Returns how much of the band between the allowed and the maximum share of misses is used; undefined above the band. */
function bandUsed({ good, total }: SuccessRate, allowed: Dec18, required: Dec18): Dec18 | undefined {
  const missed = ((total - good) * DEC18_ONE) / total;
  const most = DEC18_ONE - required;
  if (missed > most) return undefined;
  return missed <= allowed ? 0n : quoDec18(missed - allowed, most - allowed);
}
