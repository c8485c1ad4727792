import { PAYMENT_STATES, paymentState } from "../policy/payment-texts.ts";
import { deviationBps } from "../policy/price-comparison.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";
import { type Series, series, type StatusGauge } from "./status-gauge.ts";
import { toRatio } from "../policy/reward-tier.ts";
import { type DatedComparison, JAIL_STATES, type Standing, type WindowStanding } from "../policy/standing.ts";
import type { SharedMisses } from "../sources/standing-views.ts";

/** Gauges for the price comparison. The pairs are taken from the configuration. */
const PRICE_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_price_deviation_ratio",
    help: "Distance of the sidecar's price from the chain's price, or from the median of all the watchdog's sidecars, as a share of that reference. Absent while there is no fresh price to compare.",
    labelNames: ["validator", "chain_id", "node", "pair", "reference"],
    values: ({ validator, chainId, compared }) =>
      chainId === undefined || compared === undefined
        ? []
        : compared.comparisons.map((one) =>
            series(Number(deviationBps(one)) / 10_000, {
              validator,
              chain_id: chainId,
              node: one.node,
              pair: one.pair,
              reference: one.reference,
            }),
          ),
  },
];

/** Gauges for the planned upgrade. There is at most one plan, and therefore at most one name. */
const UPGRADE_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_upgrade_height",
    help: "Height of the upgrade that the chain has planned. Absent while none is planned or known.",
    labelNames: ["validator", "chain_id", "upgrade"],
    values: planned(({ plan }, labels) => [series(Number(plan.height), labels)]),
  },
  {
    name: "oracle_watchdog_upgrade_remaining_blocks",
    help: "Blocks until the planned upgrade's height.",
    labelNames: ["validator", "chain_id", "upgrade"],
    values: planned(({ remainingBlocks }, labels) =>
      remainingBlocks === undefined ? [] : [series(Number(remainingBlocks), labels)],
    ),
  },
  {
    name: "oracle_watchdog_upgrade_expected_timestamp_seconds",
    help: "Expected time at which the planned upgrade's height is reached (middle), and the time if blocks were as fast (low) or as slow (high) as in the most extreme hours of the last day.",
    labelNames: ["validator", "chain_id", "upgrade", "estimate"],
    values: planned(({ atMs }, labels) =>
      atMs === undefined
        ? []
        : (["low", "middle", "high"] as const).map((estimate) =>
            series(atMs[estimate] / 1000, { ...labels, estimate }),
          ),
    ),
  },
];

function planned(
  values: (countdown: UpgradeCountdown, labels: Series["labels"]) => readonly Series[],
): (status: WatchdogStatus) => readonly Series[] {
  return ({ validator, chainId, upgrade }) =>
    chainId === undefined || upgrade === undefined || upgrade.doneMs !== undefined
      ? []
      : values(upgrade, { validator, chain_id: chainId, upgrade: upgrade.plan.name });
}

/** Gauges for the payment for the closed month that was searched most recently. */
const PAYMENT_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_payment_state",
    help: "1 for the state of last month's payment: equal to the expected amount, differs, not-compared, failed, none-due or missing. 0 for the other states. Absent before the first search.",
    labelNames: ["validator", "chain_id", "state"],
    values: lastPayment((payment, labels) =>
      PAYMENT_STATES.map((state) => series(paymentState(payment) === state ? 1 : 0, { ...labels, state })),
    ),
  },
  {
    name: "oracle_watchdog_payment_amount",
    help: "Last month's payment in the base unit of its denomination (paid), and what the watchdog expected from its own count (expected).",
    labelNames: ["validator", "chain_id", "denom", "amount"],
    values: lastPayment(({ amount, expected }, labels) =>
      amount === undefined
        ? []
        : [
            series(Number(amount.amount), { ...labels, denom: amount.denom, amount: "paid" }),
            ...(expected === undefined
              ? []
              : [series(Number(expected), { ...labels, denom: amount.denom, amount: "expected" })]),
          ],
    ),
  },
  {
    name: "oracle_watchdog_payment_timestamp_seconds",
    help: "Time of the block with last month's payment. Absent while it is missing.",
    labelNames: ["validator", "chain_id"],
    values: lastPayment(({ outcome, timeMs }, labels) =>
      outcome === "missing" ? [] : [series(timeMs / 1000, labels)],
    ),
  },
];

function lastPayment(
  values: (payment: Payment, labels: Series["labels"]) => readonly Series[],
): (status: WatchdogStatus) => readonly Series[] {
  return ({ validator, chainId, payments }) => {
    const payment = payments?.at(-1);
    return chainId === undefined || payment === undefined
      ? []
      : values(payment, { validator, chain_id: chainId });
  };
}

/** Gauges for other facts about the chain: prices, planned upgrade and payments. */
export const CHAIN_GAUGES: readonly StatusGauge[] = [...PRICE_GAUGES, ...UPGRADE_GAUGES, ...PAYMENT_GAUGES];

/** Gauges for the validator's standing on the chain. Absent until known. */
export const STANDING_GAUGES: readonly StatusGauge[] = [
  gauge(
    "jail_state",
    "1 for the validator's state in the slashing module: active, jailed, tombstoned or unknown. 0 for the other states.",
    ["state"],
    ({ jail }) => JAIL_STATES.map((state) => series(jail.state === state ? 1 : 0, { state })),
  ),
  gauge(
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
  gauge(
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

function gauge(
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (standing: Standing) => readonly Series[],
): StatusGauge {
  return {
    name: `oracle_watchdog_${name}`,
    help,
    labelNames: ["validator", "chain_id", ...labelNames],
    values: ({ validator, chainId, standing }) =>
      chainId === undefined || standing === undefined
        ? []
        : read(standing).map(({ labels, value }) =>
            series(value, { validator, chain_id: chainId, ...labels }),
          ),
  };
}

function ofWindow(
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (window: WindowStanding) => readonly Series[],
): StatusGauge {
  return gauge(name, help, labelNames, ({ window }) => (window === undefined ? [] : read(window)));
}

function ofShared(name: string, help: string, read: (shared: SharedMisses) => Series): StatusGauge {
  return gauge(name, help, ["kind"], ({ commits, votes }) =>
    Object.entries({ commits, votes }).flatMap(([kind, shared]) =>
      shared === undefined ? [] : [{ ...read(shared), labels: { kind } }],
    ),
  );
}

function ofComparison(name: string, help: string, read: (one: DatedComparison) => Series): StatusGauge {
  return gauge(name, help, ["measure"], ({ peers: { comparisons } }) =>
    comparisons.map((one) => ({ ...read(one), labels: { measure: one.measure } })),
  );
}
