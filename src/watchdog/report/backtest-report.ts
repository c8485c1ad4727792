import { DAY_MS } from "../../platform/base/time.ts";
import { type Month, monthStartMs, nextMonthMs } from "../ledger/month.ts";
import type { Report } from "../../platform/report/document.ts";
import { formatCount, formatRoundedDuration, formatMinute } from "../../platform/base/text.ts";
import { isoTime } from "../../platform/base/time.ts";
import { backtest, type BacktestOptions, type PastAlert, unjudged } from "./backtest.ts";
import type { ValidatorData } from "./validator-data.ts";

const WEEK_MS = 7 * DAY_MS;

/** `alerts backtest`: the alerts that the present rules would have raised in a month, and the rules that cannot be judged. */
export function backtestReport(
  validators: readonly ValidatorData[],
  month: Month,
  options: BacktestOptions,
): Report {
  const alerts = validators
    .flatMap((data) => backtest(data, month, options))
    .toSorted((a, b) => a.firedAtMs - b.firedAtMs);
  const notified = alerts.filter(({ mutedBy }) => mutedBy === undefined);
  const weeks = (nextMonthMs(monthStartMs(month)) - monthStartMs(month)) / WEEK_MS;
  const hasData = validators.some(({ ledger }) => ledger.months().some((one) => one.month === month));
  return {
    title: `Backtest of ${month}`,
    verdict: hasData ? "fine" : "unseen",
    blocks: [
      {
        kind: "text",
        text: hasData
          ? `${alerts.length} alerts, ${notified.length} of them notified, ${(notified.length / weeks).toFixed(1)} a week. ${PRECISION}`
          : "No block of this month is counted.",
      },
      ...(alerts.length === 0 ? [] : [tableOf(alerts)]),
      ...unjudgedBlocks(options),
    ],
    data: {
      report: "backtest",
      month,
      precision: PRECISION,
      alerts: alerts.map(pastAlertJson),
      not_judged: [...unjudged(options.rules)].map(([not_kept, names]) => ({ not_kept, alerts: names })),
    },
    csv: {
      columns: ["validator", "alert", "severity", "fired_at", "resolved_at", "misses", "muted_by"],
      rows: alerts.map((alert) => [
        alert.validator,
        alert.alert,
        alert.severity,
        isoTime(alert.firedAtMs),
        alert.resolvedAtMs === undefined ? "" : isoTime(alert.resolvedAtMs),
        String(alert.misses),
        alert.mutedBy ?? "",
      ]),
    },
  };
}

/** How exact the times are, and why. */
const PRECISION =
  "The store keeps minutes for 12 hours, and later only the sums of hours, so the poll at which a rate crossed its threshold is not known: alerts of rate and pay are within an hour, and one that lasts less can be missing. Halts and gaps are stored with their times and are exact to the poll; of several nodes, a gap is the time in which none was read.";

function unjudgedBlocks({ rules }: BacktestOptions): Report["blocks"] {
  const items = [...unjudged(rules)].map(([notKept, names]) => `no ${notKept}: ${names.join(", ")}`);
  if (items.length === 0) return [];
  return [
    { kind: "text", text: "Not judged, since the store keeps" },
    { kind: "list", items },
  ];
}

function tableOf(alerts: readonly PastAlert[]): Report["blocks"][number] {
  return {
    kind: "table",
    columns: [
      { title: "Fired (UTC)" },
      { title: "For", align: "right" },
      { title: "Validator" },
      { title: "Alert" },
      { title: "Severity" },
      { title: "Missed by then", align: "right" },
      { title: "Muted by" },
    ],
    rows: alerts.map((alert) => [
      formatMinute(alert.firedAtMs),
      alert.resolvedAtMs === undefined
        ? "to the end"
        : formatRoundedDuration(alert.resolvedAtMs - alert.firedAtMs),
      alert.validator,
      alert.alert,
      alert.severity,
      formatCount(alert.misses),
      alert.mutedBy ?? "–",
    ]),
  };
}

function pastAlertJson(alert: PastAlert) {
  return {
    validator: alert.validator,
    alert: alert.alert,
    severity: alert.severity,
    since: isoTime(alert.sinceMs),
    fired_at: isoTime(alert.firedAtMs),
    resolved_at: alert.resolvedAtMs === undefined ? null : isoTime(alert.resolvedAtMs),
    misses: String(alert.misses),
    muted_by: alert.mutedBy ?? null,
    reason: alert.reason,
  };
}
