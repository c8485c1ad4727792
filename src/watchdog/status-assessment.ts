import type { Assessment, Forecast, Headroom } from "./policy/assessment.ts";
import { formatPercent } from "./policy/reward-tier.ts";

/** Encodes an assessment as JSON. Money is in hundredths of the currency unit, blocks are numbers, times are seconds. */
export function assessmentJson(assessment: Assessment): Readonly<Record<string, unknown>> {
  const { policy, rate, bounds, tier, rewardCents, blockTimeMs, remainingBlocks, rotation } = assessment;
  return {
    policy: { curve: policy.curve, source: policy.source, full_reward_cents: Number(policy.fullRewardCents) },
    success_rate_percent: rate === undefined ? null : formatPercent(rate),
    success_rate_bounds_percent:
      bounds === undefined ? null : { low: formatPercent(bounds.low), high: formatPercent(bounds.high) },
    tier: tier ?? null,
    reward_cents: rewardCents === undefined ? null : Number(rewardCents),
    block_time_seconds: blockTimeMs === undefined ? null : blockTimeMs / 1000,
    remaining_blocks: remainingBlocks === undefined ? null : Number(remainingBlocks),
    headroom: assessment.headroom.map(headroomJson),
    forecast: assessment.forecast === undefined ? null : forecastJson(assessment.forecast),
    rotation: {
      state: rotation.state,
      months_in_a_row: rotation.inARow,
      months_in_window: rotation.inWindow,
      months: rotation.months,
    },
  };
}

function headroomJson(headroom: Headroom): Readonly<Record<string, unknown>> {
  const { boundary, state, misses, outageMs, requiredRate, burnRates } = headroom;
  return {
    boundary,
    state,
    misses: Number(misses),
    outage_seconds: outageMs === undefined ? null : outageMs / 1000,
    required_rate: Number.isFinite(requiredRate) ? requiredRate : null,
    burn_rates: Object.fromEntries(
      Object.entries(burnRates).map(([window, rate]) => [`last_${window}`, rate]),
    ),
  };
}

function forecastJson({
  low,
  middle,
  high,
  tiers,
  rewardCents,
  basis,
}: Forecast): Readonly<Record<string, unknown>> {
  const part = (name: "low" | "middle" | "high", rate: Forecast["low"]) => ({
    success_rate_percent: formatPercent(rate),
    tier: tiers[name],
    reward_cents: Number(rewardCents[name]),
  });
  return { basis, low: part("low", low), middle: part("middle", middle), high: part("high", high) };
}
