import { toRatio } from "../policy/reward-tier.ts";
import { type DatedComparison, JAIL_STATES, type Standing, type WindowStanding } from "../policy/standing.ts";
import type { SharedMisses } from "../sources/standing-views.ts";
import { series, type Series, type StatusGauge } from "./status-gauge.ts";

/** Gauges of the validator's standing on the chain. Absent while it is not known. */
export const STANDING_GAUGES: readonly StatusGauge[] = [
  gauge(
    "jail_state",
    "1 for the validator's state in the slashing module: active, jailed, tombstoned or unknown. 0 for the other states.",
    ["state"],
    ({ jail }) => JAIL_STATES.map((state) => series(jail.state === state ? 1 : 0, { state })),
  ),
  gauge(
    "jailed_until_timestamp_seconds",
    "Time from which on a jailed validator can be released. Absent while it is not jailed.",
    [],
    ({ jail: { untilMs } }) => (untilMs === undefined ? [] : [series(untilMs / 1000)]),
  ),
  ofWindow("slashing_window_blocks", "Blocks of the signing window.", [], ({ windowBlocks }) => [
    series(Number(windowBlocks)),
  ]),
  ofWindow("slashing_missed_blocks", "Missed blocks of the signing window.", [], ({ missed }) => [
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
    "Signed blocks of the signing window divided by its counted blocks.",
    [],
    ({ signed }) => (signed === undefined ? [] : [series(toRatio(signed))]),
  ),
  ofWindow(
    "jail_seconds",
    "Time until jail if every block is missed from now on (all_missed), and at the present rate of misses (present_rate). Absent: never, or not known.",
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
    "Other validators that miss at least half of the latest commits or votes that the validator missed, or of all when it missed none.",
    (shared) => series(shared.missing),
  ),
  gauge(
    "others_missing_power_ratio",
    "Share of the other validators' voting power that misses the latest commits too.",
    [],
    ({ commits }) =>
      commits?.power === undefined || commits.power.others === 0n
        ? []
        : [series(Number(commits.power.missing) / Number(commits.power.others))],
  ),
  ofComparison(
    "rank",
    "Rank of the validator among the validators of its set by signed blocks (signing), or by the blocks and votes that are paid. 1 is the best.",
    ({ rank }) => series(rank),
  ),
  ofComparison("compared_validators", "Validators that were compared, with this one.", ({ compared }) =>
    series(compared),
  ),
  ofComparison(
    "percentile_ratio",
    "Share of the other validators that are not better.",
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
