import { dec18ToNumber } from "../../platform/base/decimal.ts";
import { BURN_WINDOWS } from "../policy/assessment.ts";
import { allowanceShare } from "../policy/cost-text.ts";
import { monthCost } from "../policy/cost.ts";
import { PAYMENT_STATES, paymentState } from "../policy/payment-texts.ts";
import { deviationBps } from "../policy/price-comparison.ts";
import { BOUNDARIES, toRatio } from "../policy/reward-tier.ts";
import { JAIL_STATES } from "../policy/standing.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";

/** A gauge whose values are derived from the status. */
export interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns all series of the gauge. A series that is not returned disappears from the page. */
  readonly values: (status: WatchdogStatus) => readonly Series[];
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A value that a gauge shows: true as 1, false as 0, undefined as nothing. */
type Value = number | bigint | boolean | undefined;

/** All values that a gauge reads from a part of the status: one, or one for each series. */
type Reading = Value | readonly Series[];

export function series(value: Value, labels: Series["labels"] = {}): readonly Series[] {
  return value === undefined ? [] : [{ labels, value: Number(value) }];
}

/** Returns one series for each value, with its name as a label. */
export function byName(label: string, values: Readonly<Record<string, Value>>): readonly Series[] {
  return Object.entries(values).flatMap(([name, value]) => series(value, { [label]: name }));
}

/** Returns 1 for the current one of some names and 0 for the others. */
export function oneOf(label: string, names: readonly string[], current?: string): readonly Series[] {
  return names.flatMap((name) => series(name === current, { [label]: name }));
}

export function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function byEstimate(
  read: (estimate: "low" | "middle" | "high") => Value,
  labels: Series["labels"] = {},
): readonly Series[] {
  return (["low", "middle", "high"] as const).flatMap((estimate) =>
    series(read(estimate), { ...labels, estimate }),
  );
}

/** Labels that all series of one part of the status have, and that part. */
type Part<T> = readonly [labels: Series["labels"], part: T];

/** Creates a function that creates gauges of some parts of the status. `read` reads a part's values, without the part's labels. */
export function gaugesOf<T>(
  partLabels: readonly string[],
  partsOf: (status: WatchdogStatus) => readonly Part<T>[],
) {
  return (
    name: string,
    help: string,
    read: (part: T) => Reading,
    labelNames: readonly string[] = [],
  ): StatusGauge => ({
    name: `oracle_watchdog_${name}`,
    help,
    labelNames: [...partLabels, ...labelNames],
    values: (status) =>
      partsOf(status).flatMap(([own, part]) => {
        const reading = read(part);
        const all = typeof reading === "object" ? reading : series(reading);
        return all.map(({ labels, value }) => ({ labels: { ...own, ...labels }, value }));
      }),
  });
}

/** Like {@link gaugesOf}, with the labels `validator` and `chain_id`. The gauges have no series until the chain's id is known. */
function chainGaugesOf<T>(
  partLabels: readonly string[],
  partsOf: (status: WatchdogStatus) => readonly Part<T>[],
) {
  return gaugesOf(["validator", "chain_id", ...partLabels], (status): readonly Part<T>[] => {
    const { validator, chainId } = status;
    if (chainId === undefined) return [];
    return partsOf(status).map(([labels, part]) => [{ validator, chain_id: chainId, ...labels }, part]);
  });
}

/** Like {@link chainGaugesOf}, for one part. The gauges have no series while it is undefined. */
export function chainGaugeOf<T>(partOf: (status: WatchdogStatus) => T | undefined) {
  return chainGaugesOf([], (status): readonly Part<T>[] => {
    const part = partOf(status);
    return part === undefined ? [] : [[{}, part]];
  });
}

const priceGauge = chainGaugeOf(({ compared }) => compared);
const standingGauge = chainGaugeOf(({ standing }) => standing);
const windowGauge = chainGaugeOf(({ standing }) => standing?.window);
const sharedGauge = chainGaugesOf(["kind"], ({ standing }) =>
  Object.entries({ commits: standing?.commits, votes: standing?.votes }).flatMap(([kind, shared]) =>
    shared === undefined ? [] : [[{ kind }, shared] as const],
  ),
);
const comparisonGauge = chainGaugesOf(["measure"], ({ standing }) =>
  (standing?.peers.comparisons ?? []).map((one) => [{ measure: one.measure }, one] as const),
);
/** There is at most one plan, and therefore at most one name. */
const upgradeGauge = chainGaugesOf(["upgrade"], ({ upgrade }) =>
  upgrade === undefined || upgrade.doneMs !== undefined
    ? []
    : [[{ upgrade: upgrade.plan.name }, upgrade] as const],
);
/** The payment for the closed month that was searched most recently. */
const paymentGauge = chainGaugeOf(({ payments }) => payments?.at(-1));
const BOUNDARY_STATES = ["open", "clinched", "lost"] as const;
const ROTATION_STATES = ["none", "next", "due"] as const;

const assessmentGauge = chainGaugeOf(({ assessment }) => assessment);
const boundaryGauge = chainGaugesOf(["boundary"], ({ assessment }) =>
  (assessment?.headroom ?? []).map((one) => [{ boundary: one.boundary }, one] as const),
);

/** Gauges with the labels `validator` and `chain_id`. A gauge is absent until its value is known. */
export const CHAIN_GAUGES: readonly StatusGauge[] = [
  priceGauge(
    "price_deviation_ratio",
    "Distance of the sidecar's price from the chain's price, or from the median of all the watchdog's sidecars, as a share of that reference. Absent while there is no fresh price to compare.",
    ({ comparisons }) =>
      comparisons.flatMap((one) => {
        const { node, pair, reference } = one;
        return series(Number(deviationBps(one)) / 10_000, { node, pair, reference });
      }),
    ["node", "pair", "reference"],
  ),
  upgradeGauge(
    "upgrade_height",
    "Height of the upgrade that the chain has planned. Absent while none is planned or known.",
    ({ plan }) => plan.height,
  ),
  upgradeGauge(
    "upgrade_remaining_blocks",
    "Blocks until the planned upgrade's height.",
    ({ remainingBlocks }) => remainingBlocks,
  ),
  upgradeGauge(
    "upgrade_expected_timestamp_seconds",
    "Expected time at which the planned upgrade's height is reached (middle), and the time if blocks were as fast (low) or as slow (high) as in the most extreme hours of the last day.",
    ({ atMs }) => byEstimate((estimate) => inSeconds(atMs?.[estimate])),
    ["estimate"],
  ),
  paymentGauge(
    "payment_state",
    "1 for the state of last month's payment: equal to the expected amount, differs, not-compared, failed, none-due or missing. 0 for the other states. Absent before the first search.",
    (payment) => oneOf("state", PAYMENT_STATES, paymentState(payment)),
    ["state"],
  ),
  paymentGauge(
    "payment_amount",
    "Last month's payment in the base unit of its denomination (paid), and what the watchdog expected from its own count (expected).",
    ({ amount, expected }) =>
      amount === undefined
        ? []
        : Object.entries({ paid: amount.amount, expected }).flatMap(([name, value]) =>
            series(value, { denom: amount.denom, amount: name }),
          ),
    ["denom", "amount"],
  ),
  paymentGauge(
    "payment_timestamp_seconds",
    "Time of the block with last month's payment. Absent while it is missing.",
    ({ outcome, timeMs }) => (outcome === "missing" ? undefined : timeMs / 1000),
  ),
  // The current month under the reward policy.
  assessmentGauge(
    "month_success_ratio_bound",
    "The month's success ratio if every unknown block was bad (low), and if every one was good (high).",
    ({ bounds }) => bounds && byName("bound", { low: toRatio(bounds.low), high: toRatio(bounds.high) }),
    ["bound"],
  ),
  assessmentGauge(
    "boundary_ratio",
    "Minimum success ratio for the full reward (full), and for any reward (none).",
    ({ policy }) =>
      BOUNDARIES.flatMap((boundary) => series(dec18ToNumber(policy.least[boundary]), { boundary })),
    ["boundary"],
  ),
  boundaryGauge(
    "boundary_state",
    "1 for the boundary's state in this month: open, clinched (the month stays above it) or lost. 0 for the other states.",
    ({ state }) => oneOf("state", BOUNDARY_STATES, state),
    ["state"],
  ),
  boundaryGauge(
    "headroom_blocks",
    "How many more blocks may be bad while the month still ends at or above the boundary. Negative when the boundary is lost.",
    ({ misses }) => misses,
  ),
  boundaryGauge(
    "headroom_seconds",
    "Longest total outage after which the month still ends at or above the boundary. 0 when the boundary is lost.",
    ({ outageMs }) => inSeconds(outageMs),
  ),
  boundaryGauge(
    "boundary_loss_seconds",
    "Time until the boundary is lost at the smaller of the loss rates over the last 6 hours and the last 3 days. Absent when the month ends first.",
    ({ lostInMs }) => inSeconds(lostInMs),
  ),
  boundaryGauge(
    "required_success_ratio",
    "Minimum success ratio that the month's remaining blocks need to reach the boundary. Above 1 when the boundary is lost.",
    ({ requiredRate }) => (Number.isFinite(requiredRate) ? requiredRate : undefined),
  ),
  boundaryGauge(
    "burn_rate",
    "Share of bad blocks in the window, divided by the share that the boundary allows.",
    ({ burnRates }) => BURN_WINDOWS.flatMap((window) => series(burnRates[window], { window })),
    ["window"],
  ),
  assessmentGauge(
    "forecast_success_ratio",
    "Success ratio at the end of the month if the current loss continues. 80 % of the forecast outcomes lie between low and high.",
    ({ forecast }) => forecast && byEstimate((estimate) => toRatio(forecast[estimate])),
    ["estimate"],
  ),
  assessmentGauge(
    "regime_success_ratio",
    "Success ratio at the end of the month if the remaining blocks continue like the last 6 hours (now), the last 3 days (days), or the month so far.",
    ({ forecast }) =>
      (forecast?.regimes ?? []).flatMap(({ name, end }) => series(toRatio(end), { regime: name })),
    ["regime"],
  ),
  assessmentGauge(
    "forecast_reward",
    "Expected reward for the month in the configured currency.",
    ({ forecast, policy: { currency = "" } }) =>
      forecast && byEstimate((estimate) => Number(forecast.rewardCents[estimate]) / 100, { currency }),
    ["currency", "estimate"],
  ),
  assessmentGauge(
    "month_reward",
    "Reward in the configured currency if the month ended at its current rate.",
    ({ rewardCents, policy: { currency = "" } }) =>
      rewardCents === undefined ? undefined : series(Number(rewardCents) / 100, { currency }),
    ["currency"],
  ),
  assessmentGauge(
    "full_reward",
    "Reward in the configured currency for a month at the full tier.",
    ({ policy: { fullRewardCents, currency = "" } }) => series(Number(fullRewardCents) / 100, { currency }),
    ["currency"],
  ),
  assessmentGauge(
    "allowance_used_ratio",
    "Share used of the misses that full pay allows in the month; 1 means all of them.",
    (assessment) => allowanceShare(monthCost(assessment)),
  ),
  assessmentGauge(
    "month_remaining_blocks",
    "Blocks that the chain is expected to make by the end of the month.",
    ({ remainingBlocks }) => remainingBlocks,
  ),
  assessmentGauge(
    "rotation_state",
    "1 for the rotation risk: none, next (this month would meet a rule) or due (a rule is met). 0 for the other states.",
    ({ rotation }) => oneOf("state", ROTATION_STATES, rotation.state),
    ["state"],
  ),
  // The validator's standing on the chain.
  standingGauge(
    "jail_state",
    "1 for the validator's state in the slashing module: active, jailed, tombstoned or unknown. 0 for the other states.",
    ({ jail }) => oneOf("state", JAIL_STATES, jail.state),
    ["state"],
  ),
  standingGauge(
    "jailed_until_timestamp_seconds",
    "Time from which a jailed validator can be released. Absent while it is not jailed.",
    ({ jail: { untilMs } }) => inSeconds(untilMs),
  ),
  windowGauge("slashing_window_blocks", "Blocks in the signing window.", ({ windowBlocks }) => windowBlocks),
  windowGauge("slashing_missed_blocks", "Missed blocks in the signing window.", ({ missed }) => missed),
  windowGauge(
    "slashing_misses_left",
    "Further misses that the signing window allows before the validator is jailed.",
    ({ left }) => left,
  ),
  windowGauge(
    "signed_ratio",
    "Signed blocks in the signing window, divided by its counted blocks.",
    ({ signed }) => signed && toRatio(signed),
  ),
  windowGauge(
    "jail_seconds",
    "Time until jail if every block is missed from now on (all_missed), and at the current rate of misses (present_rate). Absent: never, or not known.",
    ({ allMissedMs, presentMs }) =>
      byName("basis", { all_missed: inSeconds(allMissedMs), present_rate: inSeconds(presentMs) }),
    ["basis"],
  ),
  sharedGauge(
    "others",
    "Other validators whose commits (commits) or oracle votes (votes) are compared.",
    ({ others }) => others,
  ),
  sharedGauge(
    "others_missing",
    "Other validators that miss at least half of the latest commits or votes that the validator missed, or of all if it missed none.",
    ({ missing }) => missing,
  ),
  standingGauge(
    "others_missing_power_ratio",
    "Share of the other validators' voting power that also misses the latest commits.",
    ({ commits }) =>
      commits?.power === undefined || commits.power.others === 0n
        ? undefined
        : Number(commits.power.missing) / Number(commits.power.others),
  ),
  comparisonGauge(
    "rank",
    "The validator's rank in its set, by signed blocks (signing) or by the blocks and votes that are paid. 1 is best.",
    ({ rank }) => rank,
  ),
  comparisonGauge(
    "compared_validators",
    "Validators that were compared, including this one.",
    ({ compared }) => compared,
  ),
  comparisonGauge(
    "percentile_ratio",
    "Share of the other validators that are no better.",
    ({ notBetter, compared }) => notBetter / (compared - 1),
  ),
  comparisonGauge(
    "own_ratio",
    "Share of good blocks or votes by which the validator is compared.",
    ({ own }) => toRatio(own),
  ),
  comparisonGauge("others_median_ratio", "Median of the other validators' shares.", ({ median }) =>
    toRatio(median),
  ),
  comparisonGauge(
    "comparison_timestamp_seconds",
    "Time at which the other validators were read. It is up to an hour old.",
    ({ atMs }) => inSeconds(atMs),
  ),
];
