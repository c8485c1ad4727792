import { type AlertRule, runbookFile, type Severity } from "../conditions/condition.ts";
import { type AlertEvent, alertKey, type EventKind } from "../notify/alert-event.ts";
import type { AlertState } from "./alert-state.ts";
import type { JudgedPoll } from "./plan-alerts.ts";

/** Time between reminders of a firing alert, ms, by severity; 0: none. */
export type ReminderTimes = Readonly<Record<Severity, number>>;

/**
 * An alert that was muted notifies only after this time without a cause: what the cause did to it disappears a little later
 * than the cause.
 */
const AFTER_QUIET_MS = 300_000;

/** Growth of the badness since the last notification that brings the next reminder forward. */
const WORSE_FACTOR = 1.5;

/** Share of the time between reminders after which a worse alert is repeated. */
const WORSE_SHARE = 0.25;

/** Decides whether an alert is notified now. Returns the alert with the notification recorded. */
export function planNotification(
  alert: AlertState,
  rule: AlertRule,
  nowMs: number,
  reminders: ReminderTimes,
): { readonly alert: AlertState; readonly kind?: EventKind } {
  const { phase, notified, quietReason, quietAtMs } = alert;
  if (phase === "resolved")
    // Whoever was notified of the alert is notified of its end, also during a silence. Nobody else is.
    return notified === undefined || alert.resolvedAtMs !== nowMs ? { alert } : { alert, kind: "resolved" };
  if (phase !== "firing" || quietReason !== undefined) return { alert };
  if (notified === undefined) {
    if (quietAtMs !== undefined && nowMs - quietAtMs <= AFTER_QUIET_MS && nowMs >= quietAtMs) return { alert };
    return { alert: recorded(alert, nowMs, 0), kind: "firing" };
  }
  // A repeated reminder says nothing new while the condition is clear or not seen.
  if (alert.lastActiveMs !== nowMs || !isReminderDue(alert, reminders[rule.severity], nowMs)) return { alert };
  return { alert: recorded(alert, nowMs, notified.reminders + 1), kind: "reminder" };
}

function isReminderDue({ notified, badness }: AlertState, everyMs: number, nowMs: number): boolean {
  if (notified === undefined || everyMs === 0) return false;
  const isWorse =
    badness !== undefined && notified.badness !== undefined && badness >= notified.badness * WORSE_FACTOR;
  return nowMs - notified.atMs >= (isWorse ? everyMs * WORSE_SHARE : everyMs);
}

function recorded(alert: AlertState, atMs: number, reminders: number): AlertState {
  const { badness } = alert;
  return { ...alert, notified: { atMs, reminders, ...(badness === undefined ? {} : { badness }) } };
}

/** Creates the event of an alert. The same alert and kind give the same id, also after a restart. */
export function toEvent(
  alert: AlertState,
  kind: EventKind,
  { condition, severity }: AlertRule,
  { validator, chainId, nowMs, badBlocks, costOf }: JudgedPoll,
  runbooks: string,
): AlertEvent {
  const key = alertKey(chainId, validator, alert.alert);
  const number = kind === "reminder" ? `-${alert.notified?.reminders ?? 0}` : "";
  const blocks = badBlocks - alert.badBlocksBefore;
  return {
    id: `${key}/${alert.sinceMs}/${kind}${number}`,
    key,
    alert: alert.alert,
    kind,
    severity,
    validator,
    chainId,
    title: condition.title,
    sinceMs: alert.sinceMs,
    atMs: nowMs,
    reason: alert.reason,
    description: condition.description,
    action: condition.action,
    impact: condition.impact,
    runbook: `${runbooks}${runbookFile(condition.name)}`,
    cost: costOf(blocks > 0n ? blocks : 0n),
  };
}
