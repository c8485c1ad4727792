import type { AlertRule } from "../../watchdog/conditions/condition.ts";
import { type Month, monthStartMs, nextMonthMs } from "../../watchdog/ledger/month.ts";
import type { Report } from "../document.ts";
import { formatCount, formatDuration, formatMinute, isoTime } from "../format.ts";
import { backtest, type PastAlert } from "./backtest.ts";
import type { ValidatorData } from "./validator-data.ts";

const WEEK_MS = 7 * 86_400_000;

/** `alerts backtest`: the alerts that the present rules of rate, pay and rotation would have raised in a month. */
export function backtestReport(
  validators: readonly ValidatorData[],
  month: Month,
  rules: readonly AlertRule[],
): Report {
  const alerts = validators
    .flatMap((data) => backtest(data, month, rules))
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
          ? `${alerts.length} alerts, ${notified.length} of them notified, ${(notified.length / weeks).toFixed(1)} a week. Only conditions of rate, pay and rotation are judged, hour by hour.`
          : "No block of this month is counted.",
      },
      ...(alerts.length === 0 ? [] : [tableOf(alerts)]),
    ],
    data: { report: "backtest", month, alerts: alerts.map(pastAlertJson) },
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
      alert.resolvedAtMs === undefined ? "to the end" : formatDuration(alert.resolvedAtMs - alert.firedAtMs),
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
    fired_at: isoTime(alert.firedAtMs),
    resolved_at: alert.resolvedAtMs === undefined ? null : isoTime(alert.resolvedAtMs),
    misses: String(alert.misses),
    muted_by: alert.mutedBy ?? null,
    reason: alert.reason,
  };
}
