import type { JsonObject } from "../../platform/base/json.ts";
import { type Assessment, BURN_WINDOWS, type Forecast } from "../policy/assessment.ts";
import { countsJson } from "./block-format.ts";
import { percent, policyJson } from "./month-json.ts";

/** Encodes an assessment. Amounts and counts are decimal strings. */
export function assessmentJson(assessment: Assessment): JsonObject {
  const { headroom, forecast, rotation, remainingBlocks, blockTimeMs } = assessment;
  return {
    month: assessment.month,
    success_rate_percent: percent(assessment.rate),
    success_rate_bounds_percent:
      assessment.bounds === undefined
        ? null
        : [percent(assessment.bounds.low), percent(assessment.bounds.high)],
    tier: assessment.tier ?? null,
    pay_cents: assessment.rewardCents === undefined ? null : String(assessment.rewardCents),
    blocks: countsJson(assessment.counts),
    policy: policyJson(assessment.policy),
    block_time_ms: blockTimeMs ?? null,
    remaining_blocks: remainingBlocks === undefined ? null : String(remainingBlocks),
    headroom: headroom.map((one) => ({
      boundary: one.boundary,
      state: one.state,
      misses: String(one.misses),
      outage_seconds: one.outageMs === undefined ? null : Math.round(one.outageMs / 1000),
      required_rate: Number.isFinite(one.requiredRate) ? one.requiredRate : null,
      burn_rates: Object.fromEntries(BURN_WINDOWS.map((window) => [window, one.burnRates[window] ?? null])),
    })),
    forecast: forecast === undefined ? null : forecastJson(forecast),
    rotation: {
      state: rotation.state,
      in_a_row: rotation.inARow,
      in_window: rotation.inWindow,
      months: rotation.months,
    },
  };
}

function forecastJson({ basis, tiers, rewardCents, ...rates }: Forecast): JsonObject {
  const outcome = (name: "low" | "middle" | "high"): JsonObject => ({
    success_rate_percent: percent(rates[name]),
    tier: tiers[name],
    pay_cents: String(rewardCents[name]),
  });
  return { basis, low: outcome("low"), expected: outcome("middle"), high: outcome("high") };
}
