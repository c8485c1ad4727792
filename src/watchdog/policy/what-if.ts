import { unreachable } from "../../platform/base/errors.ts";
import { blocksUntil } from "./assess.ts";
import { type Assessment, type Outcome, type Policy, rewardCents, type WhatIf } from "./assessment.ts";
import { endRate, missesByBoundary, type SeenMonth } from "./month-forecast.ts";
import { BOUNDARIES, type SuccessRate, tierOf } from "./reward-tier.ts";

export interface SidecarRestart {
  /** Time from the stop signal until the sidecar is listening again. */
  readonly downMs: number;
  readonly blockTimeMs: number;
  /** True if the chain waits for this validator, e.g. because it has only one, so that each block takes longer during the restart. */
  readonly chainWaits: boolean;
}

/** A stopping sidecar fails the node's calls for about this long before it refuses connections. */
const DRAIN_MS = 8000;
/** The node's calls keep failing for this long after the sidecar listens again, because of its connection backoff. */
const RECONNECT_MS = 11_000;
/** How long a node waits for an unresponsive sidecar before it votes without prices. */
const WAIT_MS = 1000;

/**
 * Returns how many blocks a sidecar restart makes bad. For comparison, 25 s of downtime with 1 s blocks cost a real node 22 blocks:
 * 8 while the sidecar drained, and 14 in the 28 s of refused connections, when each block took 2 s.
 */
export function restartMisses({ downMs, blockTimeMs, chainWaits }: SidecarRestart): bigint {
  const drainMs = Math.min(downMs, DRAIN_MS);
  const refusedMs = downMs - drainMs + RECONNECT_MS;
  const slowMs = chainWaits ? blockTimeMs + WAIT_MS : blockTimeMs;
  return BigInt(Math.round(drainMs / blockTimeMs + refusedMs / slowMs));
}

/** Returns how many blocks are bad during a total outage that starts now. */
export function outageMisses(outageMs: number, blockTimeMs: number): bigint {
  return blocksUntil(outageMs, blockTimeMs) ?? unreachable("the block time is positive");
}

/**
 * Returns the cost of additional bad blocks this month, compared with the middle of the forecast. Returns undefined until the rate
 * and the block time are known. Blocks after the end of the month are ignored.
 */
export function whatIf(assessment: Assessment, misses: bigint): WhatIf | undefined {
  const { counts, remainingBlocks: remaining, forecast, policy } = assessment;
  if (forecast === undefined || remaining === undefined) return undefined;
  const month: SeenMonth = { good: counts.good, bad: counts.bad, remaining };
  const inMonth = misses > remaining ? remaining : misses;
  const expected = forecast.middle.total - forecast.middle.good - counts.bad;
  // Apply the forecast's share of bad blocks only after the event, because all blocks during the event are bad anyway.
  const later = remaining === 0n ? 0n : (expected * (remaining - inMonth)) / remaining;
  const without = outcomeOf(endRate(month, expected), policy);
  const after = outcomeOf(endRate(month, inMonth + later), policy);
  const left = missesByBoundary(month, policy);
  return {
    misses: inMonth,
    without,
    with: after,
    costCents: without.rewardCents - after.rewardCents,
    crosses: BOUNDARIES.filter((boundary) => expected <= left[boundary] && inMonth + later > left[boundary]),
  };
}

function outcomeOf(rate: SuccessRate, policy: Policy): Outcome {
  return { rate, tier: tierOf(rate, policy.least), rewardCents: rewardCents(policy, rate) };
}
