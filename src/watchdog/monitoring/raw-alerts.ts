import type { AlertSpec, GroupSpec, RecordSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { causeOf, DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import type { PanelLink, PanelsByAlert } from "../../platform/monitoring/alerts/links.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";
import { alertName, type Condition } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import { GRACE_MS } from "../conditions/consequences.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import {
  ALLOWED,
  badShare,
  MONTH_SECONDS_LEFT,
  pricedPairs,
  sidecarMetric,
  VALIDATOR,
  WINDOWS,
} from "../conditions/raw-metrics.ts";

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
 * Call rates. The node creates `status="Failure"` only at the first failure, so all calls that are not `Success` are bad.
 * `rate` handles counter restarts. If there are several nodes, the best one counts, since one vote in time is enough.
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
 * Calls in the current UTC month. Each evaluation adds the counter's growth since the previous evaluation, even across a scrape
 * gap, or the new value after a node restart. The sum starts over each month. The rules in the group are evaluated in this order:
 * `seen` is the counter at the previous evaluation.
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
        // While the node cannot be read, the sum is unchanged.
        `or (${before} * ${sameMonth} > 0)`,
        // The first evaluation counts nothing, because the counter may be years old.
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

/** Conditions that have a rule on raw metrics. Causes precede their consequences, so that both end in the same evaluation. */
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
 * PromQL that stops the alert from firing during the grace period after one of its causes, or after the watchdog's own alert of
 * this name. While a cause in this group or the watchdog's own alert fires, Alertmanager mutes the alert. Nor does it fire while
 * the watchdog reports a cause: that rule is evaluated at a different time, so the alert would fire alone for a moment when the
 * cause ends.
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

/** Without the label, the better of two validators would hide the worse one. A single node needs no label. */
const LABEL_MISSING: AlertSpec = {
  name: "validator-label-missing",
  alert: "OracleValidatorLabelMissing",
  component: "oracle-raw",
  severity: "critical",
  summary: "Nodes without the validator label.",
  description:
    "{{ $value }} nodes of {{ $labels.chain_id }} are scraped without the validator label. The rules treat them as one validator's nodes and use the best one.",
  impact: "If one of them loses its votes, no alert fires as long as another one votes.",
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

/** Conditions that can be seen from node and sidecar metrics alone, for installations without the watchdog. */
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
