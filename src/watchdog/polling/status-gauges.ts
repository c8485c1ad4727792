import { dec18ToNumber } from "../../platform/base/decimal.ts";
import { BURN_WINDOWS, foundedForecast } from "../policy/assessment.ts";
import { allowanceShare } from "../policy/cost-text.ts";
import { monthCost } from "../policy/cost.ts";
import { PAYMENT_STATES, paymentState } from "../policy/payment-texts.ts";
import { deviationBps } from "../policy/price-comparison.ts";
import { BOUNDARIES, toRatio } from "../policy/reward-tier.ts";
import { JAIL_STATES } from "../policy/standing.ts";
import {
  gaugesOf,
  oneOf,
  type Part,
  type Reading,
  seconds,
  type StatusMetrics,
} from "../../platform/process/status-metrics.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";

function byEstimate(read: (estimate: "low" | "middle" | "high") => Reading): Reading {
  return (["low", "middle", "high"] as const).map((estimate) => [estimate, read(estimate)]);
}

/**
 * Creates gauges that have one series for each part of a validator's status, with the labels `validator` and `chain_id` and the labels in
 * `by`. The gauges are absent until the chain's id is known.
 */
function chainGaugesOf<T>(by: readonly string[], partsOf: (status: WatchdogStatus) => readonly Part<T>[]) {
  return gaugesOf(["validator", "chain_id", ...by], (status: WatchdogStatus): readonly Part<T>[] => {
    const { validator, chainId } = status;
    if (chainId === undefined) return [];
    return partsOf(status).map(([labels, part]) => [[validator, chainId, ...labels], part]);
  });
}

/** Like {@link chainGaugesOf}, for at most one series per validator, which is missing while `partOf` returns undefined. */
export function chainGaugeOf<T>(partOf: (status: WatchdogStatus) => T | undefined) {
  return chainGaugesOf([], (status): readonly Part<T>[] => {
    const part = partOf(status);
    return part === undefined ? [] : [[[], part]];
  });
}

const priceGauge = chainGaugeOf(({ compared }) => compared);
const standingGauge = chainGaugeOf(({ standing }) => standing);
const windowGauge = chainGaugeOf(({ standing }) => standing?.window);
const sharedGauge = chainGaugesOf(["kind"], ({ standing }) =>
  Object.entries({ commits: standing?.commits, votes: standing?.votes }).flatMap(([kind, shared]) =>
    shared === undefined ? [] : [[[kind], shared] as const],
  ),
);
const comparisonGauge = chainGaugesOf(["measure"], ({ standing }) =>
  (standing?.peers.comparisons ?? []).map((one) => [[one.measure], one] as const),
);
/** Gauges about the chain's planned upgrade, with the plan's name as `upgrade` label. A chain has at most one plan. */
const upgradeGauge = chainGaugesOf(["upgrade"], ({ upgrade }) =>
  upgrade === undefined || upgrade.doneMs !== undefined ? [] : [[[upgrade.plan.name], upgrade] as const],
);
/** Gauges about the payment for the most recent closed month. */
const paymentGauge = chainGaugeOf(({ payments }) => payments?.at(-1));
const BOUNDARY_STATES = ["open", "clinched", "lost"] as const;
const ROTATION_STATES = ["none", "next", "due"] as const;

const assessmentGauge = chainGaugeOf(({ assessment }) => assessment);
const boundaryGauge = chainGaugesOf(["boundary"], ({ assessment }) =>
  (assessment?.headroom ?? []).map((one) => [[one.boundary], one] as const),
);

/** Gauges with the labels `validator` and `chain_id`. A gauge is absent until its value is known. */
export const CHAIN_GAUGES: StatusMetrics<WatchdogStatus> = {
  oracle_watchdog_price_deviation_ratio: priceGauge(
    "Difference between the sidecar's price and the reference price (the chain's price or the median of all sidecars), divided by the reference price. Absent while there is no fresh price to compare.",
    ({ comparisons }) =>
      comparisons.map((one) => {
        const { node, pair, reference } = one;
        return [[node, pair, reference], Number(deviationBps(one)) / 10_000];
      }),
    "node",
    "pair",
    "reference",
  ),
  oracle_watchdog_upgrade_height: upgradeGauge(
    "Height of the upgrade that the chain has planned. Absent while no upgrade is planned or known.",
    ({ plan }) => plan.height,
  ),
  oracle_watchdog_upgrade_remaining_blocks: upgradeGauge(
    "Blocks until the planned upgrade's height.",
    ({ remainingBlocks }) => remainingBlocks,
  ),
  oracle_watchdog_upgrade_expected_timestamp_seconds: upgradeGauge(
    "Expected time at which the chain reaches the planned upgrade's height (middle), and the time if blocks are as fast (low) or as slow (high) as in the fastest or slowest hour of the last day.",
    ({ atMs }) => byEstimate((estimate) => seconds(atMs?.[estimate])),
    "estimate",
  ),
  oracle_watchdog_payment_state: paymentGauge(
    "1 for the current state of last month's payment, 0 for the other states: equal, differs, not-compared, failed, none-due or missing. Absent before the first search.",
    (payment) => oneOf(PAYMENT_STATES, paymentState(payment)),
    "state",
  ),
  oracle_watchdog_payment_amount: paymentGauge(
    "Last month's payment in the base unit of its denomination (paid), and the amount that the watchdog calculated from its own count (expected).",
    ({ amount, expected }) => amount && [[amount.denom, Object.entries({ paid: amount.amount, expected })]],
    "denom",
    "amount",
  ),
  oracle_watchdog_payment_timestamp_seconds: paymentGauge(
    "Time of the block with last month's payment. Absent while the payment is missing.",
    ({ outcome, timeMs }) => (outcome === "missing" ? undefined : timeMs / 1000),
  ),
  // Gauges about the current month, as assessed under the reward policy.
  oracle_watchdog_month_success_ratio_bound: assessmentGauge(
    "The month's success ratio if all unknown blocks were bad (low) or good (high).",
    ({ bounds }) => bounds && Object.entries({ low: toRatio(bounds.low), high: toRatio(bounds.high) }),
    "bound",
  ),
  oracle_watchdog_boundary_ratio: assessmentGauge(
    "Minimum success ratio for the full reward (full), and for any reward (none).",
    ({ policy }) => BOUNDARIES.map((boundary) => [boundary, dec18ToNumber(policy.least[boundary])]),
    "boundary",
  ),
  oracle_watchdog_boundary_state: boundaryGauge(
    "1 for the reward boundary's current state this month, 0 for the other states: open, lost, or clinched (the month cannot end below the boundary).",
    ({ state }) => oneOf(BOUNDARY_STATES, state),
    "state",
  ),
  oracle_watchdog_headroom_blocks: boundaryGauge(
    "Number of further bad blocks with which the month can still end at or above the reward boundary. Negative when the boundary is lost.",
    ({ misses }) => misses,
  ),
  oracle_watchdog_headroom_seconds: boundaryGauge(
    "Longest total outage after which the month can still end at or above the reward boundary. 0 when the boundary is lost.",
    ({ outageMs }) => seconds(outageMs),
  ),
  oracle_watchdog_boundary_loss_seconds: boundaryGauge(
    "Time until the reward boundary is lost if losses continue at the lower of the 6-hour and the 3-day loss rate. Absent if the month ends first.",
    ({ lostInMs }) => seconds(lostInMs),
  ),
  oracle_watchdog_required_success_ratio: boundaryGauge(
    "Minimum success ratio that the month's remaining blocks need to reach the boundary. Above 1 when the boundary is lost.",
    ({ requiredRate }) => (Number.isFinite(requiredRate) ? requiredRate : undefined),
  ),
  oracle_watchdog_burn_rate: boundaryGauge(
    "Share of bad blocks in the window, divided by the share that the reward boundary allows. A value above 1 means that the window was worse than the boundary allows.",
    ({ burnRates }) => BURN_WINDOWS.map((window) => [window, burnRates[window]]),
    "window",
  ),
  oracle_watchdog_forecast_success_ratio: assessmentGauge(
    "Forecast of the success ratio at the end of the month if the current loss rate continues. 80 % of the forecast outcomes lie between low and high. Absent while it is too early to tell.",
    (assessment) => {
      const forecast = foundedForecast(assessment);
      return forecast && byEstimate((estimate) => toRatio(forecast[estimate]));
    },
    "estimate",
  ),
  oracle_watchdog_regime_success_ratio: assessmentGauge(
    "Success ratio at the end of the month if the remaining blocks have the success ratio of the last 6 hours (now), the last 3 days (days), or the month so far (month).",
    ({ forecast }) => (forecast?.regimes ?? []).map(({ name, end }) => [name, toRatio(end)]),
    "regime",
  ),
  oracle_watchdog_forecast_reward: assessmentGauge(
    "Forecast of the validator's reward for the month, in the configured currency. Absent while it is too early to tell.",
    (assessment) => {
      const { currency = "" } = assessment.policy;
      const forecast = foundedForecast(assessment);
      return forecast && [[currency, byEstimate((estimate) => Number(forecast.rewardCents[estimate]) / 100)]];
    },
    "currency",
    "estimate",
  ),
  oracle_watchdog_month_reward: assessmentGauge(
    "Reward in the configured currency if the month ended now at its current success rate.",
    ({ rewardCents, policy: { currency = "" } }) =>
      rewardCents === undefined ? undefined : [[currency, Number(rewardCents) / 100]],
    "currency",
  ),
  oracle_watchdog_full_reward: assessmentGauge(
    "Reward in the configured currency for a month at the full tier.",
    ({ policy: { fullRewardCents, currency = "" } }) => [[currency, Number(fullRewardCents) / 100]],
    "currency",
  ),
  oracle_watchdog_allowance_used_ratio: assessmentGauge(
    "Used share of the misses that the month allows with full pay. At 1, the allowance is used up.",
    (assessment) => allowanceShare(monthCost(assessment)),
  ),
  oracle_watchdog_month_remaining_blocks: assessmentGauge(
    "Blocks that the chain is expected to make by the end of the month.",
    ({ remainingBlocks }) => remainingBlocks,
  ),
  oracle_watchdog_rotation_state: assessmentGauge(
    "1 for the current rotation risk, 0 for the others: none, next (this month would meet a rule) or due (a rule is already met).",
    ({ rotation }) => oneOf(ROTATION_STATES, rotation.state),
    "state",
  ),
  oracle_watchdog_jail_state: standingGauge(
    "1 for the validator's state in the slashing module, 0 for the other states: active, jailed, tombstoned or unknown.",
    ({ jail }) => oneOf(JAIL_STATES, jail.state),
    "state",
  ),
  oracle_watchdog_jailed_until_timestamp_seconds: standingGauge(
    "Time from which a jailed validator can be released. Absent while the validator is not jailed.",
    ({ jail: { untilMs } }) => seconds(untilMs),
  ),
  oracle_watchdog_slashing_window_blocks: windowGauge(
    "Blocks in the signing window.",
    ({ windowBlocks }) => windowBlocks,
  ),
  oracle_watchdog_slashing_missed_blocks: windowGauge(
    "Missed blocks in the signing window.",
    ({ missed }) => missed,
  ),
  oracle_watchdog_slashing_misses_left: windowGauge(
    "Further misses that the signing window allows before the validator is jailed.",
    ({ left }) => left,
  ),
  oracle_watchdog_signed_ratio: windowGauge(
    "Share of signed blocks among the counted blocks in the signing window.",
    ({ signed }) => signed && toRatio(signed),
  ),
  oracle_watchdog_jail_seconds: windowGauge(
    "Time until jail if every block is missed from now on (all_missed), and at the current rate of misses (present_rate). Absent if jail is not expected or the time is unknown.",
    ({ allMissedMs, presentMs }) =>
      Object.entries({ all_missed: seconds(allMissedMs), present_rate: seconds(presentMs) }),
    "basis",
  ),
  oracle_watchdog_others: sharedGauge(
    "Number of other validators whose commits or oracle votes the watchdog compares, by kind.",
    ({ others }) => others,
  ),
  oracle_watchdog_others_missing: sharedGauge(
    "Number of other validators that missed at least half of the latest commits or votes that this validator missed, or half of all latest commits or votes if this validator missed none.",
    ({ missing }) => missing,
  ),
  oracle_watchdog_others_missing_power_ratio: standingGauge(
    "Share of the other validators' voting power that also misses the latest commits.",
    ({ commits }) =>
      commits?.power === undefined || commits.power.others === 0n
        ? undefined
        : Number(commits.power.missing) / Number(commits.power.others),
  ),
  oracle_watchdog_rank: comparisonGauge(
    "The validator's rank in its set, by signed blocks (signing) or by the blocks and votes that are paid. 1 is best.",
    ({ rank }) => rank,
  ),
  oracle_watchdog_compared_validators: comparisonGauge(
    "Number of validators in the comparison, including this one.",
    ({ compared }) => compared,
  ),
  oracle_watchdog_percentile_ratio: comparisonGauge(
    "Share of the other validators whose ratio is not higher than this validator's ratio.",
    ({ notBetter, compared }) => notBetter / (compared - 1),
  ),
  oracle_watchdog_own_ratio: comparisonGauge(
    "The validator's own share of good blocks or votes in the comparison.",
    ({ own }) => toRatio(own),
  ),
  oracle_watchdog_others_median_ratio: comparisonGauge(
    "Median of the other validators' shares of good blocks or votes.",
    ({ median }) => toRatio(median),
  ),
  oracle_watchdog_comparison_timestamp_seconds: comparisonGauge(
    "Time of the last reading of the other validators, which can be up to an hour old.",
    ({ atMs }) => seconds(atMs),
  ),
};
