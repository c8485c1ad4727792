import type { RecordSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import {
  ALLOWED,
  badShare,
  pricedPairs,
  sidecarMetric,
  VALIDATOR,
  WINDOWS,
} from "../conditions/raw-metrics.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

const NODE = "by (chain_id, validator, instance)";

/**
 * Rates of calls. The node creates `status="Failure"` at the first failure, so bad calls are those that are not `Success`. A
 * counter that restarts is what `rate` expects. With several nodes, the best one counts, since one vote in time is enough.
 */
export const CALL_RECORDS: readonly RecordSpec[] = [
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
 * Calls of the current UTC month. Each evaluation adds what the counter grew by since the one before, also over a gap of the
 * scrapes, or after a restart of the node its new value. The sum begins again with the month. The rules of the group are
 * evaluated in this order: `seen` is the counter of the evaluation before.
 */
export const MONTH_RECORDS: readonly RecordSpec[] = [
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
  {
    record: "validator:oracle_calls:rate6h",
    expr: (times) => `max ${VALIDATOR} (sum ${NODE} (rate(app_oracle_responses[${times("6h")}])))`,
  },
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
        // While the node cannot be read, the sum stays.
        `or (${before} * ${sameMonth} > 0)`,
        // The first evaluation counts nothing: the counter may be years old.
        `or ${now} * 0`,
      ].join("\n");
    },
  };
}

const SECONDS_LEFT = "scalar((days_in_month() - day_of_month() + 1) * 86400 - hour() * 3600 - minute() * 60)";

function missesLeft(allowed: number): string {
  const calls = "validator:oracle_month:calls";
  const expected = `(${calls} + validator:oracle_calls:rate6h * ${SECONDS_LEFT})`;
  return `${expected} * ${allowed} - ${calls} * (1 - validator:oracle_month:success_ratio)`;
}
