import { PAYMENT_STATES, paymentState } from "../policy/payment-texts.ts";
import { deviationBps } from "../policy/price-comparison.ts";
import { gaugeOf, type Series, series, stateSeries, type StatusGauge } from "./status-gauge.ts";
import { toRatio } from "../policy/reward-tier.ts";
import { type DatedComparison, JAIL_STATES, type WindowStanding } from "../policy/standing.ts";
import type { SharedMisses } from "../sources/standing-views.ts";

const priceGauge = gaugeOf(({ compared }) => compared);
const standingGauge = gaugeOf(({ standing }) => standing);
/** There is at most one plan, and therefore at most one name. */
const upgradeGauge = gaugeOf(({ upgrade }) => (upgrade?.doneMs === undefined ? upgrade : undefined));
/** The payment for the closed month that was searched most recently. */
const paymentGauge = gaugeOf(({ payments }) => payments?.at(-1));

/** Gauges for other facts about the chain: prices, planned upgrade and payments. */
export const CHAIN_GAUGES: readonly StatusGauge[] = [
  priceGauge(
    "price_deviation_ratio",
    "Distance of the sidecar's price from the chain's price, or from the median of all the watchdog's sidecars, as a share of that reference. Absent while there is no fresh price to compare.",
    ["node", "pair", "reference"],
    ({ comparisons }) =>
      comparisons.map((one) => {
        const { node, pair, reference } = one;
        return series(Number(deviationBps(one)) / 10_000, { node, pair, reference });
      }),
  ),
  upgradeGauge(
    "upgrade_height",
    "Height of the upgrade that the chain has planned. Absent while none is planned or known.",
    ["upgrade"],
    ({ plan }) => [series(Number(plan.height), { upgrade: plan.name })],
  ),
  upgradeGauge(
    "upgrade_remaining_blocks",
    "Blocks until the planned upgrade's height.",
    ["upgrade"],
    ({ plan, remainingBlocks }) =>
      remainingBlocks === undefined ? [] : [series(Number(remainingBlocks), { upgrade: plan.name })],
  ),
  upgradeGauge(
    "upgrade_expected_timestamp_seconds",
    "Expected time at which the planned upgrade's height is reached (middle), and the time if blocks were as fast (low) or as slow (high) as in the most extreme hours of the last day.",
    ["upgrade", "estimate"],
    ({ plan, atMs }) =>
      atMs === undefined
        ? []
        : (["low", "middle", "high"] as const).map((estimate) =>
            series(atMs[estimate] / 1000, { upgrade: plan.name, estimate }),
          ),
  ),
  paymentGauge(
    "payment_state",
    "1 for the state of last month's payment: equal to the expected amount, differs, not-compared, failed, none-due or missing. 0 for the other states. Absent before the first search.",
    ["state"],
    (payment) => stateSeries(PAYMENT_STATES, paymentState(payment)),
  ),
  paymentGauge(
    "payment_amount",
    "Last month's payment in the base unit of its denomination (paid), and what the watchdog expected from its own count (expected).",
    ["denom", "amount"],
    ({ amount, expected }) =>
      amount === undefined
        ? []
        : Object.entries({ paid: amount.amount, expected }).flatMap(([name, value]) =>
            value === undefined ? [] : [series(Number(value), { denom: amount.denom, amount: name })],
          ),
  ),
  paymentGauge(
    "payment_timestamp_seconds",
    "Time of the block with last month's payment. Absent while it is missing.",
    [],
    ({ outcome, timeMs }) => (outcome === "missing" ? [] : [series(timeMs / 1000)]),
  ),
];

/** Gauges for the validator's standing on the chain. Absent until known. */
export const STANDING_GAUGES: readonly StatusGauge[] = [
  standingGauge(
    "jail_state",
    "1 for the validator's state in the slashing module: active, jailed, tombstoned or unknown. 0 for the other states.",
    ["state"],
    ({ jail }) => stateSeries(JAIL_STATES, jail.state),
  ),
  standingGauge(
    "jailed_until_timestamp_seconds",
    "Time from which a jailed validator can be released. Absent while it is not jailed.",
    [],
    ({ jail: { untilMs } }) => (untilMs === undefined ? [] : [series(untilMs / 1000)]),
  ),
  ofWindow("slashing_window_blocks", "Blocks in the signing window.", [], ({ windowBlocks }) => [
    series(Number(windowBlocks)),
  ]),
  ofWindow("slashing_missed_blocks", "Missed blocks in the signing window.", [], ({ missed }) => [
    series(Number(missed)),
  ]),
  ofWindow(
    "slashing_misses_left",
    "Further misses that the signing window allows before the validator is jailed.",
    [],
    ({ left }) => [series(Number(left))],
  ),
  ofWindow(
    "signed_ratio",
    "Signed blocks in the signing window, divided by its counted blocks.",
    [],
    ({ signed }) => (signed === undefined ? [] : [series(toRatio(signed))]),
  ),
  ofWindow(
    "jail_seconds",
    "Time until jail if every block is missed from now on (all_missed), and at the current rate of misses (present_rate). Absent: never, or not known.",
    ["basis"],
    ({ allMissedMs, presentMs }) =>
      Object.entries({ all_missed: allMissedMs, present_rate: presentMs }).flatMap(([basis, ms]) =>
        ms === undefined ? [] : [series(ms / 1000, { basis })],
      ),
  ),
  ofShared(
    "others",
    "Other validators whose commits (commits) or oracle votes (votes) are compared.",
    (shared) => series(shared.others),
  ),
  ofShared(
    "others_missing",
    "Other validators that miss at least half of the latest commits or votes that the validator missed, or of all if it missed none.",
    (shared) => series(shared.missing),
  ),
  standingGauge(
    "others_missing_power_ratio",
    "Share of the other validators' voting power that also misses the latest commits.",
    [],
    ({ commits }) =>
      commits?.power === undefined || commits.power.others === 0n
        ? []
        : [series(Number(commits.power.missing) / Number(commits.power.others))],
  ),
  ofComparison(
    "rank",
    "The validator's rank in its set, by signed blocks (signing) or by the blocks and votes that are paid. 1 is best.",
    ({ rank }) => series(rank),
  ),
  ofComparison("compared_validators", "Validators that were compared, including this one.", ({ compared }) =>
    series(compared),
  ),
  ofComparison(
    "percentile_ratio",
    "Share of the other validators that are no better.",
    ({ notBetter, compared }) => series(notBetter / (compared - 1)),
  ),
  ofComparison("own_ratio", "Share of good blocks or votes by which the validator is compared.", ({ own }) =>
    series(toRatio(own)),
  ),
  ofComparison("others_median_ratio", "Median of the other validators' shares.", ({ median }) =>
    series(toRatio(median)),
  ),
  ofComparison(
    "comparison_timestamp_seconds",
    "Time at which the other validators were read. It is up to an hour old.",
    ({ atMs }) => series(atMs / 1000),
  ),
];

function ofWindow(
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (window: WindowStanding) => readonly Series[],
): StatusGauge {
  return standingGauge(name, help, labelNames, ({ window }) => (window === undefined ? [] : read(window)));
}

function ofShared(name: string, help: string, read: (shared: SharedMisses) => Series): StatusGauge {
  return standingGauge(name, help, ["kind"], ({ commits, votes }) =>
    Object.entries({ commits, votes }).flatMap(([kind, shared]) =>
      shared === undefined ? [] : [{ ...read(shared), labels: { kind } }],
    ),
  );
}

function ofComparison(name: string, help: string, read: (one: DatedComparison) => Series): StatusGauge {
  return standingGauge(name, help, ["measure"], ({ peers: { comparisons } }) =>
    comparisons.map((one) => ({ ...read(one), labels: { measure: one.measure } })),
  );
}
