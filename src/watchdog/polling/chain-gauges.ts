import { PAYMENT_STATES, paymentState } from "../policy/payment-texts.ts";
import { deviationBps } from "../policy/price-comparison.ts";
import {
  chainGaugeOf,
  chainGaugesOf,
  ESTIMATES,
  series,
  stateSeries,
  type StatusGauge,
} from "./status-gauge.ts";
import { toRatio } from "../policy/reward-tier.ts";
import { JAIL_STATES } from "../policy/standing.ts";

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

/** Gauges for other facts about the chain: prices, planned upgrade and payments. */
export const CHAIN_GAUGES: readonly StatusGauge[] = [
  priceGauge(
    "price_deviation_ratio",
    "Distance of the sidecar's price from the chain's price, or from the median of all the watchdog's sidecars, as a share of that reference. Absent while there is no fresh price to compare.",
    ({ comparisons }) =>
      comparisons.map((one) => {
        const { node, pair, reference } = one;
        return series(Number(deviationBps(one)) / 10_000, { node, pair, reference });
      }),
    ["node", "pair", "reference"],
  ),
  upgradeGauge(
    "upgrade_height",
    "Height of the upgrade that the chain has planned. Absent while none is planned or known.",
    ({ plan }) => [series(Number(plan.height))],
  ),
  upgradeGauge(
    "upgrade_remaining_blocks",
    "Blocks until the planned upgrade's height.",
    ({ remainingBlocks }) => (remainingBlocks === undefined ? [] : [series(Number(remainingBlocks))]),
  ),
  upgradeGauge(
    "upgrade_expected_timestamp_seconds",
    "Expected time at which the planned upgrade's height is reached (middle), and the time if blocks were as fast (low) or as slow (high) as in the most extreme hours of the last day.",
    ({ atMs }) =>
      atMs === undefined ? [] : ESTIMATES.map((estimate) => series(atMs[estimate] / 1000, { estimate })),
    ["estimate"],
  ),
  paymentGauge(
    "payment_state",
    "1 for the state of last month's payment: equal to the expected amount, differs, not-compared, failed, none-due or missing. 0 for the other states. Absent before the first search.",
    (payment) => stateSeries(PAYMENT_STATES, paymentState(payment)),
    ["state"],
  ),
  paymentGauge(
    "payment_amount",
    "Last month's payment in the base unit of its denomination (paid), and what the watchdog expected from its own count (expected).",
    ({ amount, expected }) =>
      amount === undefined
        ? []
        : Object.entries({ paid: amount.amount, expected }).flatMap(([name, value]) =>
            value === undefined ? [] : [series(Number(value), { denom: amount.denom, amount: name })],
          ),
    ["denom", "amount"],
  ),
  paymentGauge(
    "payment_timestamp_seconds",
    "Time of the block with last month's payment. Absent while it is missing.",
    ({ outcome, timeMs }) => (outcome === "missing" ? [] : [series(timeMs / 1000)]),
  ),
];

/** Gauges for the validator's standing on the chain. Absent until known. */
export const STANDING_GAUGES: readonly StatusGauge[] = [
  standingGauge(
    "jail_state",
    "1 for the validator's state in the slashing module: active, jailed, tombstoned or unknown. 0 for the other states.",
    ({ jail }) => stateSeries(JAIL_STATES, jail.state),
    ["state"],
  ),
  standingGauge(
    "jailed_until_timestamp_seconds",
    "Time from which a jailed validator can be released. Absent while it is not jailed.",
    ({ jail: { untilMs } }) => (untilMs === undefined ? [] : [series(untilMs / 1000)]),
  ),
  windowGauge("slashing_window_blocks", "Blocks in the signing window.", ({ windowBlocks }) => [
    series(Number(windowBlocks)),
  ]),
  windowGauge("slashing_missed_blocks", "Missed blocks in the signing window.", ({ missed }) => [
    series(Number(missed)),
  ]),
  windowGauge(
    "slashing_misses_left",
    "Further misses that the signing window allows before the validator is jailed.",
    ({ left }) => [series(Number(left))],
  ),
  windowGauge(
    "signed_ratio",
    "Signed blocks in the signing window, divided by its counted blocks.",
    ({ signed }) => (signed === undefined ? [] : [series(toRatio(signed))]),
  ),
  windowGauge(
    "jail_seconds",
    "Time until jail if every block is missed from now on (all_missed), and at the current rate of misses (present_rate). Absent: never, or not known.",
    ({ allMissedMs, presentMs }) =>
      Object.entries({ all_missed: allMissedMs, present_rate: presentMs }).flatMap(([basis, ms]) =>
        ms === undefined ? [] : [series(ms / 1000, { basis })],
      ),
    ["basis"],
  ),
  sharedGauge(
    "others",
    "Other validators whose commits (commits) or oracle votes (votes) are compared.",
    (shared) => [series(shared.others)],
  ),
  sharedGauge(
    "others_missing",
    "Other validators that miss at least half of the latest commits or votes that the validator missed, or of all if it missed none.",
    (shared) => [series(shared.missing)],
  ),
  standingGauge(
    "others_missing_power_ratio",
    "Share of the other validators' voting power that also misses the latest commits.",
    ({ commits }) =>
      commits?.power === undefined || commits.power.others === 0n
        ? []
        : [series(Number(commits.power.missing) / Number(commits.power.others))],
  ),
  comparisonGauge(
    "rank",
    "The validator's rank in its set, by signed blocks (signing) or by the blocks and votes that are paid. 1 is best.",
    ({ rank }) => [series(rank)],
  ),
  comparisonGauge(
    "compared_validators",
    "Validators that were compared, including this one.",
    ({ compared }) => [series(compared)],
  ),
  comparisonGauge(
    "percentile_ratio",
    "Share of the other validators that are no better.",
    ({ notBetter, compared }) => [series(notBetter / (compared - 1))],
  ),
  comparisonGauge(
    "own_ratio",
    "Share of good blocks or votes by which the validator is compared.",
    ({ own }) => [series(toRatio(own))],
  ),
  comparisonGauge("others_median_ratio", "Median of the other validators' shares.", ({ median }) => [
    series(toRatio(median)),
  ]),
  comparisonGauge(
    "comparison_timestamp_seconds",
    "Time at which the other validators were read. It is up to an hour old.",
    ({ atMs }) => [series(atMs / 1000)],
  ),
];
