import { dec18ToNumber } from "../../platform/base/decimal.ts";
import { BURN_WINDOWS } from "../policy/assessment.ts";
import { monthCost } from "../policy/cost.ts";
import { allowanceShare } from "../policy/cost-text.ts";
import { BOUNDARIES, toRatio } from "../policy/reward-tier.ts";
import {
  chainGaugeOf,
  chainGaugesOf,
  ESTIMATES,
  series,
  stateSeries,
  type StatusGauge,
} from "./status-gauge.ts";

const BOUNDARY_STATES = ["open", "clinched", "lost"] as const;
const ROTATION_STATES = ["none", "next", "due"] as const;

const gauge = chainGaugeOf(({ assessment }) => assessment);
const boundaryGauge = chainGaugesOf(["boundary"], ({ assessment }) =>
  (assessment?.headroom ?? []).map((one) => [{ boundary: one.boundary }, one] as const),
);

/** Gauges that show the current month under the reward policy. Absent until the first assessment. */
export const ASSESSMENT_GAUGES: readonly StatusGauge[] = [
  gauge(
    "month_success_ratio_bound",
    "The month's success ratio if every unknown block was bad (low), and if every one was good (high).",
    ({ bounds }) =>
      bounds === undefined
        ? []
        : (["low", "high"] as const).map((bound) => series(toRatio(bounds[bound]), { bound })),
    ["bound"],
  ),
  gauge(
    "boundary_ratio",
    "Minimum success ratio for the full reward (full), and for any reward (none).",
    ({ policy }) => BOUNDARIES.map((boundary) => series(dec18ToNumber(policy.least[boundary]), { boundary })),
    ["boundary"],
  ),
  boundaryGauge(
    "boundary_state",
    "1 for the boundary's state in this month: open, clinched (the month stays above it) or lost. 0 for the other states.",
    ({ state }) => stateSeries(BOUNDARY_STATES, state),
    ["state"],
  ),
  boundaryGauge(
    "headroom_blocks",
    "How many more blocks may be bad while the month still ends at or above the boundary. Negative when the boundary is lost.",
    ({ misses }) => [series(Number(misses))],
  ),
  boundaryGauge(
    "headroom_seconds",
    "Longest total outage after which the month still ends at or above the boundary. 0 when the boundary is lost.",
    ({ outageMs }) => (outageMs === undefined ? [] : [series(outageMs / 1000)]),
  ),
  boundaryGauge(
    "boundary_loss_seconds",
    "Time until the boundary is lost at the smaller of the loss rates over the last 6 hours and the last 3 days. Absent when the month ends first.",
    ({ lostInMs }) => (lostInMs === undefined ? [] : [series(lostInMs / 1000)]),
  ),
  boundaryGauge(
    "required_success_ratio",
    "Minimum success ratio that the month's remaining blocks need to reach the boundary. Above 1 when the boundary is lost.",
    ({ requiredRate }) => (Number.isFinite(requiredRate) ? [series(requiredRate)] : []),
  ),
  boundaryGauge(
    "burn_rate",
    "Share of bad blocks in the window, divided by the share that the boundary allows.",
    ({ burnRates }) =>
      BURN_WINDOWS.flatMap((window) => {
        const rate = burnRates[window];
        return rate === undefined ? [] : [series(rate, { window })];
      }),
    ["window"],
  ),
  gauge(
    "forecast_success_ratio",
    "Success ratio at the end of the month if the current loss continues. 80 % of the forecast outcomes lie between low and high.",
    ({ forecast }) =>
      forecast === undefined
        ? []
        : ESTIMATES.map((estimate) => series(toRatio(forecast[estimate]), { estimate })),
    ["estimate"],
  ),
  gauge(
    "regime_success_ratio",
    "Success ratio at the end of the month if the remaining blocks continue like the last 6 hours (now), the last 3 days (days), or the month so far.",
    ({ forecast }) =>
      (forecast?.regimes ?? []).map(({ name, end }) => series(toRatio(end), { regime: name })),
    ["regime"],
  ),
  gauge(
    "forecast_reward",
    "Expected reward for the month in the configured currency.",
    ({ forecast, policy: { currency = "" } }) =>
      forecast === undefined
        ? []
        : ESTIMATES.map((estimate) =>
            series(Number(forecast.rewardCents[estimate]) / 100, { currency, estimate }),
          ),
    ["currency", "estimate"],
  ),
  gauge(
    "month_reward",
    "Reward in the configured currency if the month ended at its current rate.",
    ({ rewardCents, policy: { currency = "" } }) =>
      rewardCents === undefined ? [] : [series(Number(rewardCents) / 100, { currency })],
    ["currency"],
  ),
  gauge(
    "full_reward",
    "Reward in the configured currency for a month at the full tier.",
    ({ policy: { fullRewardCents, currency = "" } }) => [series(Number(fullRewardCents) / 100, { currency })],
    ["currency"],
  ),
  gauge(
    "allowance_used_ratio",
    "Share used of the misses that full pay allows in the month; 1 means all of them.",
    (assessment) => {
      const share = allowanceShare(monthCost(assessment));
      return share === undefined ? [] : [series(share)];
    },
  ),
  gauge(
    "month_remaining_blocks",
    "Blocks that the chain is expected to make by the end of the month.",
    ({ remainingBlocks }) => (remainingBlocks === undefined ? [] : [series(Number(remainingBlocks))]),
  ),
  gauge(
    "rotation_state",
    "1 for the rotation risk: none, next (this month would meet a rule) or due (a rule is met). 0 for the other states.",
    ({ rotation }) => stateSeries(ROTATION_STATES, rotation.state),
    ["state"],
  ),
];
