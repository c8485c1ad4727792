import type { BlockCounts } from "../ledger/ledger-view.ts";
import { type Assessment, isEarly, type Policy, rewardCents } from "./assessment.ts";
import type { Cost } from "./cost-text.ts";
import { allowedMisses, successRate, type SuccessRate } from "./reward-tier.ts";

/** The policy, block counts and forecast of one month, from which {@link costOf} computes costs. */
export type CostedMonth = Pick<Assessment, "policy" | "counts" | "remainingBlocks" | "forecast">;

/** Creates the input of {@link costOf} for a past month, which has no remaining blocks and no forecast. */
export function closedMonth(policy: Policy, counts: BlockCounts): CostedMonth {
  return { policy, counts, remainingBlocks: 0n, forecast: undefined };
}

/** Returns the cost of a given number of the month's missed blocks. */
export function costOf(month: CostedMonth, blocks: bigint): Cost {
  const { policy, counts, remainingBlocks } = month;
  const end = endOf(month);
  const total = counts.good + counts.bad + (remainingBlocks ?? 0n);
  return {
    blocks,
    ...(remainingBlocks === undefined ? {} : { allowed: allowedMisses(total, policy.least.full) }),
    ...(end === undefined
      ? {}
      : { payCents: rewardCents(policy, endWithout(month, end, blocks)) - rewardCents(policy, end) }),
    ...(policy.currency === undefined ? {} : { currency: policy.currency }),
  };
}

/** Returns the cost of all blocks missed so far in the month. */
export function monthCost(month: CostedMonth): Cost {
  return costOf(month, month.counts.bad);
}

/** Returns the expected rate at the end of a month; undefined while it is too early for a meaningful rate. */
function endOf({ counts, remainingBlocks, forecast }: CostedMonth): SuccessRate | undefined {
  if (remainingBlocks === 0n) return successRate(counts);
  return isEarly({ counts }) ? undefined : forecast?.middle;
}

/**
 * Returns how the month would end without some of its misses. The rest of the month is then assumed to be no worse than the counted
 * blocks without these misses.
 */
function endWithout({ counts: { good, bad } }: CostedMonth, end: SuccessRate, blocks: bigint): SuccessRate {
  const others = blocks < bad ? bad - blocks : 0n;
  const further = end.total - end.good - bad;
  const asOthers = (others * (end.total - good - bad)) / (good + bad);
  return { good: end.total - others - (further < asOthers ? further : asOthers), total: end.total };
}
