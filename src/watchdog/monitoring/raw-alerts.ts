import type { AlertSpec, GroupSpec, RecordSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { causeOf, DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import type { PanelLink, PanelsByAlert } from "../../platform/monitoring/alerts/links.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";
import {
  ALLOWED,
  badShare,
  MONTH_SECONDS_LEFT,
  pricedPairs,
  sidecarMetric,
  VALIDATOR,
  WINDOWS,
} from "../conditions/raw-metrics.ts";
import { alertName, type Condition, GRACE_MS } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";

function onRaw(panel: string): PanelLink {
  return { dashboard: DASHBOARDS.paidRaw, panel };
}

const CAUSES: PanelsByAlert = [
  [/-burn$|^oracle-calls-|^node-not-voting$/, onRaw("Calls")],
  [/-reward-/, onRaw("Rate over the month")],
  [/^sidecar-down$|^stale-/, onRaw("Sidecar price loop")],
  [/^sidecar-slow$/, onRaw("Oracle call latency")],
  [/^websocket-/, onRaw("WebSocket messages")],
  [/prices?-|pairs-/, onRaw("Pairs with prices")],
  [/-signing$|-validator-set$/, onRaw("Blocks since the last signature")],
  [/^chain-|^node-/, onRaw("Blocks per minute")],
];

const NODE = "by (chain_id, validator, instance)";

/**
 * Recording rules for the rates of oracle calls. A node creates the series `status="Failure"` only at the first failure, so all
 * calls that are not `Success` are treated as bad. `rate` handles counter resets. If there are several nodes, only the best node's
 * calls are used, because one timely vote is enough.
 */
const CALL_RECORDS: readonly RecordSpec[] = [
  ...WINDOWS.map((window) => ({
    record: badShare(window),
    expr: (times: Times) => {
      const all = `sum ${NODE} (rate(app_oracle_responses[${times(window)}]))`;
      const good = `sum ${NODE} (rate(app_oracle_responses{status="Success"}[${times(window)}]))`;
      return `min ${VALIDATOR} (1 - (${good} or ${all} * 0) / (${all} > 0))`;
    },
  })),
  {
    record: "validator:oracle_calls:increase5m",
    expr: (times) => `max ${VALIDATOR} (sum ${NODE} (increase(app_oracle_responses[${times("5m")}])))`,
  },
  {
    record: "validator:sidecar_ticks:rate1m",
    expr: (times) =>
      `min ${VALIDATOR} (sum ${NODE} (rate(${sidecarMetric("health_check_system_updates_total")}[${times("1m")}])))`,
  },
  {
    record: "validator:sidecar_priced_pairs:count",
    expr: (times) => pricedPairs(times, ""),
  },
];

/**
 * Recording rules that count the calls in the current UTC month. Each evaluation adds the counter's increase since the previous
 * evaluation, even across a scrape gap. After a node restart, the counter's new value is added. The sums restart at zero each
 * month. The group's rules are evaluated in order, so `seen` is the counter at the previous evaluation.
 */
const MONTH_RECORDS: readonly RecordSpec[] = [
  { record: "instance:oracle_calls:all", expr: () => `sum ${NODE} (app_oracle_responses)` },
  {
    record: "instance:oracle_calls:good",
    expr: () => `sum ${NODE} (app_oracle_responses{status="Success"}) or instance:oracle_calls:all * 0`,
  },
  monthRecord("all"),
  monthRecord("good"),
  { record: "instance:oracle_calls_seen:all", expr: () => "instance:oracle_calls:all" },
  { record: "instance:oracle_calls_seen:good", expr: () => "instance:oracle_calls:good" },
  { record: "oracle_month:number", expr: () => "month()" },
  {
    record: "validator:oracle_month:success_ratio",
    expr: () => `max ${VALIDATOR} (instance:oracle_month_calls:good / (instance:oracle_month_calls:all > 0))`,
  },
  {
    record: "validator:oracle_month:calls",
    expr: () => `max ${VALIDATOR} (instance:oracle_month_calls:all)`,
  },
  ...(["6h", "3d"] as const).map((window) => ({
    record: `validator:oracle_calls:rate${window}`,
    expr: (times: Times) => `max ${VALIDATOR} (sum ${NODE} (rate(app_oracle_responses[${times(window)}])))`,
  })),
  ...(["full", "none"] as const).map((boundary) => ({
    record: "validator:oracle_month:misses_left",
    labels: { boundary },
    expr: () => missesLeft(ALLOWED[boundary]),
  })),
];

function monthRecord(kind: "good" | "all"): RecordSpec {
  const sum = `instance:oracle_month_calls:${kind}`;
  const now = `instance:oracle_calls:${kind}`;
  const seen = (times: Times): string => `last_over_time(instance:oracle_calls_seen:${kind}[${times("7d")}])`;
  return {
    record: sum,
    expr: (times) => {
      const before = `last_over_time(${sum}[${times("7d")}])`;
      const sameMonth = `scalar((month() == bool last_over_time(oracle_month:number[${times("7d")}])) or vector(0))`;
      const grown = `((${now} - ${seen(times)} >= 0) or (${now} and ${seen(times)}))`;
      return [
        `  ${grown} + (${before} * ${sameMonth} or ${now} * 0)`,
        // Repeat the last sum while the node cannot be scraped.
        `or (${before} * ${sameMonth} > 0)`,
        // The first evaluation adds no calls, because the counter may be years old.
        `or ${now} * 0`,
      ].join("\n");
    },
  };
}

function missesLeft(allowed: number): string {
  const calls = "validator:oracle_month:calls";
  const expected = `(${calls} + validator:oracle_calls:rate6h * ${MONTH_SECONDS_LEFT})`;
  return `${expected} * ${allowed} - ${calls} * (1 - validator:oracle_month:success_ratio)`;
}

/**
 * The conditions that have a rule on raw metrics. Causes precede their consequences, so that an alert and its cause end in the same
 * evaluation.
 */
const RAW_CONDITIONS: readonly Condition[] = causesFirst(CONDITIONS.filter(({ raw }) => raw !== undefined));

function causesFirst(all: readonly Condition[]): readonly Condition[] {
  const sorted = new Set<Condition>();
  const add = (one: Condition): void => {
    for (const cause of causesOf(one, all)) add(cause);
    sorted.add(one);
  };
  for (const one of all) add(one);
  return [...sorted];
}

function causesOf({ name }: Condition, all: readonly Condition[]): readonly Condition[] {
  return all.filter(({ inhibits }) => inhibits.includes(name));
}

/**
 * Returns PromQL that suppresses an alert during the grace period after one of its causes, or after the watchdog's alert of the
 * same name. While a cause or the watchdog's alert fires, Alertmanager mutes the alert anyway. The PromQL also suppresses the alert
 * while the watchdog reports a cause. Otherwise, the alert would fire briefly when the watchdog's cause ends, because the
 * watchdog's rules are evaluated at other times.
 */
function endingWithCauses(condition: Condition, expr: string, times: Times): string {
  const causes = causesOf(condition, RAW_CONDITIONS).map(({ name }) => alertName(name));
  const fired = (selector: string): string =>
    `max ${VALIDATOR} (last_over_time(${selector}[${times(durationText(GRACE_MS))}]))`;
  const ended = (selector: string): string => `(${fired(selector)} unless max ${VALIDATOR} (${selector}))`;
  const sources = [
    ended(firing("oracle-watchdog", [alertName(condition.name)])),
    ...(causes.length === 0
      ? []
      : [fired(firing("oracle-watchdog", causes)), ended(firing("oracle-raw", causes))]),
  ];
  return `(${expr})\nunless on (chain_id, validator) (${sources.join(" or ")})`;
}

function firing(component: string, names: readonly string[]): string {
  return `ALERTS{alertstate="firing",component="${component}",alertname${names.length === 1 ? "=" : "=~"}"${names.join("|")}"}`;
}

/**
 * The alert fires if several nodes lack the `validator` label. The rules would treat the nodes of two validators as one validator's
 * nodes, and the better validator would hide the worse one. A single node does not need the label.
 */
const LABEL_MISSING: AlertSpec = {
  name: "validator-label-missing",
  alert: "OracleValidatorLabelMissing",
  component: "oracle-raw",
  severity: "critical",
  summary: "Nodes without the validator label.",
  description:
    "{{ $value }} nodes of {{ $labels.chain_id }} are scraped without the validator label. The rules treat these nodes as one validator's nodes, and evaluate only the best node.",
  impact: "If one of these nodes stops voting, no alert fires as long as another one votes.",
  expr: () => 'count by (chain_id) (count by (chain_id, instance) (app_oracle_responses{validator=""})) > 1',
  for: "5m",
  cause: onRaw("Calls"),
  inhibits: [],
  scope: ["chain_id"],
  example: {
    fires: ["a", "b"].map((instance) => ({
      series: `app_oracle_responses{$,validator="",instance="${instance}",status="Success"}`,
      step: 30,
      ...(instance === "b" ? { ends: 15 } : {}),
    })),
    clears: [],
    onlyPromtool: "the label belongs to the target, and the test's targets have it",
  },
};

/** The rules for installations without a watchdog. The rules cover the conditions that are visible in node and sidecar metrics. */
export const RAW_GROUPS: readonly GroupSpec[] = [
  { name: "oracle-raw.calls", records: CALL_RECORDS, alerts: [] },
  { name: "oracle-raw.month", interval: "1m", records: MONTH_RECORDS, alerts: [] },
  {
    name: "oracle-raw.alerts",
    records: [],
    alerts: [
      LABEL_MISSING,
      ...RAW_CONDITIONS.flatMap((condition): readonly AlertSpec[] => {
        const { name, severity, title, description, impact, inhibits, raw } = condition;
        if (raw === undefined) return [];
        return [
          {
            name,
            alert: alertName(name),
            component: "oracle-raw",
            severity,
            summary: `${title}.`,
            description: `{{ $labels.validator }} on {{ $labels.chain_id }}: ${raw.value} ${description}`,
            impact,
            expr: (times: Times) => endingWithCauses(condition, raw.expr(times), times),
            for: condition.for,
            cause: causeOf(name, CAUSES),
            inhibits,
            scope: ["chain_id", "validator"],
            example: raw.example,
          },
        ];
      }),
    ],
  },
];

const NODE_LABELS = 'chain_id="test-1",validator="default",instance="node-1"';
const SUCCESS = `app_oracle_responses{status="Success",${NODE_LABELS}}`;
const FAILURE = `app_oracle_responses{status="Failure",${NODE_LABELS}}`;

/** A promtool scenario with counter series that start on 1970-01-01, and with the expected monthly sums at some samples. */
interface MonthCase {
  readonly name: string;
  /** Time between two samples, in minutes. */
  readonly every: number;
  readonly series: Readonly<Record<string, string>>;
  /** The expected sums of good calls and of all calls, by the sample's index. */
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

/** The minute at which calls succeed again in the cause tests. */
const RECOVERY_MINUTE = 60;

/** Series of calls that all fail for an hour and then all succeed. */
const FAILED_HOUR = [
  { series: FAILURE, values: `0+15x${RECOVERY_MINUTE * 4} ${RECOVERY_MINUTE * 60}x40` },
  { series: SUCCESS, values: `100x${RECOVERY_MINUTE * 4} 100+15x40` },
];

/** Tests that no consequence fires after its cause has ended, although the 5-minute rates are still high. */
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

/**
 * The promtool tests that do not concern a single alert. The files test monthly sums (across month boundaries, restarts, gaps and
 * late series), and causes with their consequences.
 */
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
