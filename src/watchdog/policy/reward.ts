import { DEC18_ONE, type Dec18, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { Curve, Policy } from "./assessment.ts";
import { isAtLeast, type LeastRates, type SuccessRate } from "./reward-tier.ts";

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
