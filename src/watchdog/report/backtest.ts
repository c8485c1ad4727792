import { DAY_MS, isoTime, isoTimeOrNull, MINUTE_MS } from "../../platform/base/time.ts";
import { type Month, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { list, paragraph, right, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock } from "../../platform/report/document.ts";
import { formatCount, formatRoundedDuration, formatMinute } from "../../platform/base/text.ts";
import type { PastAlert } from "../alerts/alert-state.ts";
import { EMPTY_ALERTING, planAlerts } from "../alerts/plan-alerts.ts";
import { mutedBy } from "../alerts/under-causes.ts";
import type { AlertRule } from "../conditions/condition.ts";
import { evaluateCounts, evaluateEvent, type PastResults } from "./past-results.ts";
import type { DataRange } from "./report-data.ts";
import type { ValidatorData } from "./validator-data.ts";

interface BacktestAlert extends Omit<PastAlert, "resolvedAtMs" | "quietReason" | "acknowledged"> {
  /** The time when the alert was resolved; undefined if the alert was still firing at the end of the month. */
  readonly resolvedAtMs: number | undefined;
  /** Number of blocks missed in the month before the alert fired. */
  readonly misses: bigint;
  /** The name of the firing alert that muted this alert; undefined if a notification would have been sent. */
  readonly mutedBy: string | undefined;
}

/** The rules, grace period and poll interval of the simulated watchdog. */
export interface BacktestOptions {
  readonly rules: readonly AlertRule[];
  readonly graceMs: number;
  readonly intervalMs: number;
}

/** Polls that are at most this many intervals apart do not interrupt an alert's `for` time, as in the watchdog. */
const GAP_POLLS = 3;

/**
 * Evaluates the rules on a month's stored data, with muting and grace periods as in a running watchdog. Alerts about counts are
 * accurate to the hour, because counts are stored by hour. Alerts about halts and gaps are timed exactly.
 */
export function backtest(
  data: ValidatorData,
  month: Month,
  options: BacktestOptions,
): readonly BacktestAlert[] {
  const { rules, graceMs, intervalMs } = options;
  const fromMs = monthStartMs(month);
  const range = { fromMs, toMs: nextMonthMs(fromMs) };
  const counted = rules.filter(({ condition }) => condition.past === "counts");
  const polls = joinPolls(
    everyPoll(evaluateCounts(data, range, counted), options),
    rules.flatMap((rule) => pollsOfEvents(data, range, rule, options)),
  );
  const { validator } = data.ledger;
  const gapMs = Math.max(MINUTE_MS, GAP_POLLS * Math.max(MINUTE_MS, intervalMs));
  const alerting = { ...NOBODY, rules, graceMs };
  const missesAt = new Map<number, bigint>();
  let state = EMPTY_ALERTING;
  let checked: PastResults["results"] | undefined;
  let isQuiet = false;
  for (const { atMs: nowMs, results, misses } of polls) {
    // Check each results object only once, because consecutive polls often share one object.
    if (results !== checked) isQuiet = [...results.values()].every(({ kind }) => kind !== "active");
    checked = results;
    // Skip polls that change nothing, as most polls do.
    if (state.alerts.length === 0 && isQuiet) continue;
    missesAt.set(nowMs, misses);
    const poll = { validator, chainId: "", nowMs, gapMs, results, costOf: () => undefined };
    ({ state } = planAlerts(state, poll, alerting));
  }
  return state.history
    .filter(({ firedAtMs }) => firedAtMs >= fromMs && firedAtMs < range.toMs)
    .map(({ quietReason, resolvedAtMs, ...alert }) => ({
      ...alert,
      resolvedAtMs,
      misses: missesAt.get(alert.firedAtMs) ?? 0n,
      mutedBy: mutedBy(quietReason),
    }));
}

/** Notification settings without channels, because past alerts must not notify anybody. */
const NOBODY = {
  channels: [],
  maintenance: [],
  reminders: { critical: [], warning: [], info: [] },
  runbooks: "",
};

/**
 * Merges the results of rules about counts and of rules about events, oldest first. During an event, only the event's polls are
 * used. Each of the event's polls also gets the latest results of the rules about counts.
 */
function joinPolls(
  counts: readonly PastResults[],
  ofEvents: readonly (readonly PastResults[])[],
): readonly PastResults[] {
  const spans = ofEvents.map((polls) => [polls[0]?.atMs ?? 0, polls.at(-1)?.atMs ?? 0] as const);
  const events = new Map<number, PastResults["results"]>();
  for (const { atMs, results } of ofEvents.flat())
    events.set(atMs, new Map([...(events.get(atMs) ?? []), ...results]));
  let last: PastResults | undefined;
  const joined = [...counts, ...[...events].map(([atMs, results]) => ({ atMs, results, misses: undefined }))];
  return joined
    .toSorted((a, b) => a.atMs - b.atMs)
    .flatMap((poll): readonly PastResults[] => {
      const { atMs, misses, results } = poll;
      if (misses !== undefined) {
        last = { ...poll, misses };
        return spans.some(([fromMs, toMs]) => atMs >= fromMs && atMs <= toMs) ? [] : [last];
      }
      return [{ atMs, misses: last?.misses ?? 0n, results: new Map([...(last?.results ?? []), ...results]) }];
    });
}

/** Returns the names of the conditions that cannot be evaluated, grouped by the data missing from the store. */
export function notEvaluated(rules: readonly AlertRule[]): ReadonlyMap<string, readonly string[]> {
  const byReason = new Map<string, readonly string[]>();
  for (const { condition } of rules) {
    if (typeof condition.past === "string") continue;
    const { notStored } = condition.past;
    byReason.set(notStored, [...(byReason.get(notStored) ?? []), condition.name]);
  }
  return byReason;
}

/** The kind of ledger event for each value of a condition's `past` field. */
const EVENT_OF = { halts: "halt", gaps: "gap" } as const;

function pollsOfEvents(
  { ledger }: ValidatorData,
  { fromMs, toMs }: DataRange,
  rule: AlertRule,
  { intervalMs }: BacktestOptions,
): readonly (readonly PastResults[])[] {
  const { past } = rule.condition;
  if (past !== "halts" && past !== "gaps") return [];
  const events = ledger.events(fromMs, toMs);
  const starts = events.filter(({ kind }) => kind === "watchdog-start").map((event) => event.fromMs);
  return events
    .filter(({ kind }) => kind === EVENT_OF[past])
    .map((event) => {
      // If a gap contains a watchdog start, evaluate the gap from the start onward, because a stopped watchdog does not poll.
      const startMs = starts.findLast((atMs) => atMs > event.fromMs && atMs <= event.toMs);
      const polled = startMs === undefined ? event : { ...event, fromMs: startMs - intervalMs };
      return evaluateEvent(polled, ledger.validator, [rule], { intervalMs, afterMs: rule.resolveForMs });
    });
}

/** Repeats each result at every poll until the next result, as if the watchdog had polled continuously. */
function everyPoll(results: readonly PastResults[], { intervalMs }: BacktestOptions): readonly PastResults[] {
  const stepMs = Math.max(MINUTE_MS, intervalMs);
  return results.flatMap((one, index) => {
    const nextMs = results[index + 1]?.atMs ?? one.atMs + 1;
    const polls = Math.max(1, Math.ceil((nextMs - one.atMs) / stepMs));
    return Array.from({ length: polls }, (_, poll) => ({ ...one, atMs: one.atMs + poll * stepMs }));
  });
}

const WEEK_MS = 7 * DAY_MS;

/**
 * Creates the report for `alerts backtest`. The report lists the alerts that the current rules would have raised in a month, and
 * the rules that cannot be evaluated.
 */
export function backtestReport(
  validators: readonly ValidatorData[],
  month: Month,
  options: BacktestOptions,
): Report {
  const alerts = validators
    .flatMap((data) => backtest(data, month, options))
    .toSorted((a, b) => a.firedAtMs - b.firedAtMs);
  const notified = alerts.filter((alert) => alert.mutedBy === undefined);
  const weeks = (nextMonthMs(monthStartMs(month)) - monthStartMs(month)) / WEEK_MS;
  const hasData = validators.some(({ ledger }) => ledger.months().some((one) => one.month === month));
  return {
    title: `Backtest of ${month}`,
    outcome: hasData ? "fine" : "unseen",
    blocks: [
      ...paragraph(
        hasData
          ? `${alerts.length} alerts, ${notified.length} of them notified, ${(notified.length / weeks).toFixed(1)} a week. ${PRECISION}`
          : "No block of this month is counted.",
      ),
      ...(alerts.length === 0 ? [] : tableOf(alerts)),
      ...notEvaluatedBlocks(options),
    ],
    data: {
      report: "backtest",
      month,
      precision: PRECISION,
      alerts: alerts.map(pastAlertJson),
      not_judged: [...notEvaluated(options.rules)].map(([not_kept, names]) => ({ not_kept, alerts: names })),
    },
    csv: {
      columns: ["validator", "alert", "severity", "fired_at", "resolved_at", "misses", "muted_by"],
      rows: alerts.map((alert) => [
        alert.validator,
        alert.alert,
        alert.severity,
        isoTime(alert.firedAtMs),
        isoTimeOrNull(alert.resolvedAtMs) ?? "",
        String(alert.misses),
        alert.mutedBy ?? "",
      ]),
    },
  };
}

const PRECISION =
  "The store keeps minutes for 12 hours and only hourly sums after that, so the poll at which a rate crossed its threshold is not known: rate and pay alerts are accurate to an hour, and shorter ones can be missing. Halts and gaps are stored with their times and are exact to the poll; with several nodes, a gap is the time in which none was read.";

function notEvaluatedBlocks({ rules }: BacktestOptions): readonly ReportBlock[] {
  const items = [...notEvaluated(rules)].map(([notStored, names]) => `no ${notStored}: ${names.join(", ")}`);
  return items.length === 0 ? [] : [...paragraph("Not evaluated, since the store has"), ...list(items)];
}

function tableOf(alerts: readonly BacktestAlert[]): readonly ReportBlock[] {
  return table(
    ["Fired (UTC)", right("For"), "Validator", "Alert", "Severity", right("Missed by then"), "Muted by"],
    alerts.map((alert) => [
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
  );
}

function pastAlertJson(alert: BacktestAlert) {
  return {
    validator: alert.validator,
    alert: alert.alert,
    severity: alert.severity,
    since: isoTime(alert.sinceMs),
    fired_at: isoTime(alert.firedAtMs),
    resolved_at: isoTimeOrNull(alert.resolvedAtMs),
    misses: String(alert.misses),
    muted_by: alert.mutedBy ?? null,
    reason: alert.reason,
  };
}
