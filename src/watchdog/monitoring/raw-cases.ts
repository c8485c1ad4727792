import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";

const NODE = 'chain_id="test-1",validator="default",instance="node-1"';
const SUCCESS = `app_oracle_responses{status="Success",${NODE}}`;
const FAILURE = `app_oracle_responses{status="Failure",${NODE}}`;

/** A scenario for the counters, with the sums of good calls and of all calls at some samples. Time starts on 1970-01-01. */
interface MonthCase {
  readonly name: string;
  /** Time between two samples, in minutes. */
  readonly every: number;
  readonly series: Readonly<Record<string, string>>;
  /** Good calls and all calls, by the index of the sample. */
  readonly sums: Readonly<Record<number, readonly [good: number, all: number]>>;
}

const CASES: readonly MonthCase[] = [
  {
    name: "a node restart loses nothing that was seen",
    every: 5,
    series: { [SUCCESS]: "0+10x10 0+10x10" },
    sums: { 10: [100, 100], 21: [200, 200] },
  },
  {
    name: "the first failure counts, although its series did not exist before",
    every: 5,
    series: { [SUCCESS]: "0+10x20", [FAILURE]: "_x10 5+5x10" },
    sums: { 9: [90, 90], 10: [100, 105], 20: [200, 255] },
  },
  {
    name: "failures alone are not a success",
    every: 5,
    series: { [FAILURE]: "0+5x10" },
    sums: { 10: [0, 50] },
  },
  {
    name: "a gap in the scrapes loses nothing",
    every: 5,
    series: { [SUCCESS]: "0+10x5 _x6 120+10x5" },
    sums: { 9: [50, 50], 12: [120, 120], 17: [170, 170] },
  },
  {
    name: "counts from before the first evaluation do not belong to this month",
    every: 5,
    series: { [SUCCESS]: "1000000+10x5" },
    sums: { 0: [0, 0], 5: [50, 50] },
  },
  {
    name: "the sum starts over with the month",
    every: 60,
    series: { [SUCCESS]: "0+10x800" },
    sums: { 1: [10, 10], 743: [7430, 7430], 744: [10, 10], 760: [170, 170] },
  },
];

/** Minute at which calls succeed again in the test for causes. */
const RECOVERY_MINUTE = 60;

/** All calls fail for an hour, then all of them succeed. */
const FAILED_HOUR = [
  { series: FAILURE, values: `0+15x${RECOVERY_MINUTE * 4} ${RECOVERY_MINUTE * 60}x40` },
  { series: SUCCESS, values: `100x${RECOVERY_MINUTE * 4} 100+15x40` },
];

/** Once the cause ends, no alert that it caused fires, although the 5-minute rates are still high. */
const CAUSE_TESTS = [
  {
    name: "consequences end with their cause, and do not begin in the grace period",
    interval: "15s",
    input_series: FAILED_HOUR,
    promql_expr_test: [
      {
        eval_time: `${RECOVERY_MINUTE}m`,
        expr: `count by (alertname) (ALERTS{alertstate="firing",alertname=~"OracleCallsFailing|Oracle(Any|Full)RewardFastBurn"})`,
        exp_samples: ["AnyRewardFastBurn", "CallsFailing", "FullRewardFastBurn"].map((name) => ({
          labels: `{alertname="Oracle${name}"}`,
          value: 1,
        })),
      },
      ...Array.from({ length: 18 }, (_, index) => ({
        eval_time: `${RECOVERY_MINUTE * 60 + (index + 1) * 30}s`,
        expr: `count(ALERTS{alertstate="firing",alertname=~"OracleAny.+|OracleFull.+"}) unless on () ALERTS{alertstate="firing",alertname="OracleCallsFailing"}`,
        exp_samples: [],
      })),
    ],
  },
  {
    name: "no raw alert during a cause that the watchdog reports, nor in the grace period after it",
    interval: "15s",
    input_series: [
      ...FAILED_HOUR,
      {
        series: `ALERTS{alertstate="firing",component="oracle-watchdog",alertname="OracleSidecarDown",chain_id="test-1",validator="default"}`,
        values: `1x${RECOVERY_MINUTE * 4} stale`,
      },
    ],
    promql_expr_test: [
      {
        eval_time: `${RECOVERY_MINUTE + 9}m`,
        expr: `count_over_time(ALERTS{component="oracle-raw",alertname="OracleCallsFailing"}[2h])`,
        exp_samples: [],
      },
    ],
  },
];

/** promtool tests beyond single alerts: a month's sums (month boundary, restarts, gaps, late series), causes and consequences. */
export const RAW_CASE_FILES: readonly (readonly [string, string])[] = [
  ["oracle-causes.short.test.yaml", file("30s", CAUSE_TESTS)],
  ["oracle-month.short.test.yaml", file("5m", monthTests(5))],
  ["oracle-month.long.test.yaml", file("60m", monthTests(60))],
];

function file(interval: string, tests: readonly unknown[]): string {
  return (
    GENERATED + yamlText({ rule_files: ["../oracle-raw.rules.yaml"], evaluation_interval: interval, tests })
  );
}

function monthTests(every: number): readonly unknown[] {
  return CASES.filter((one) => one.every === every).map(caseYaml);
}

function caseYaml({ name, every, series, sums }: MonthCase) {
  return {
    name,
    interval: `${every}m`,
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: Object.entries(sums).flatMap(([sample, [good, all]]) =>
      Object.entries({ good, all }).map(([kind, value]) => ({
        eval_time: `${Number(sample) * every}m`,
        expr: `sum(instance:oracle_month_calls:${kind})`,
        exp_samples: [{ labels: "{}", value }],
      })),
    ),
  };
}
