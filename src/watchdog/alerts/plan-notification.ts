import { type AlertRule, runbookFile } from "../conditions/condition.ts";
import { type Severity } from "../../platform/monitoring/severity.ts";
import { type AlertEvent, alertKey, type EventKind } from "../notify/channels/alert-event.ts";
import type { ReminderTimes } from "../notify/notify-config.ts";
import type { AlertState, NotifiedState } from "./alert-state.ts";
import type { JudgedPoll } from "./judged-poll.ts";

/**
 * An alert that was muted notifies only after this time without a cause: what the cause did to it disappears a little later
 * than the cause.
 */
const AFTER_MUTE_MS = 300_000;

/** Growth of the badness since the last notification that brings the next reminder forward. */
const WORSE_FACTOR = 1.5;

/** Share of the time between reminders after which a worse alert is repeated. */
const WORSE_SHARE = 0.25;

/** Returns the notification that is due for an alert now; undefined when none is. */
export function dueNotification(
  alert: AlertState,
  severity: Severity,
  nowMs: number,
  reminders: ReminderTimes,
): EventKind | undefined {
  const { phase, notified, quietReason, mutedAtMs } = alert;
  // Whoever was notified of the alert is notified of its end, also during a silence. Nobody else is.
  if (phase === "resolved")
    return notified !== undefined && notified.event.kind !== "resolved" ? "resolved" : undefined;
  if (phase !== "firing" || quietReason !== undefined) return undefined;
  if (notified === undefined) {
    const wasMuted = mutedAtMs !== undefined && nowMs >= mutedAtMs && nowMs - mutedAtMs <= AFTER_MUTE_MS;
    return wasMuted ? undefined : "firing";
  }
  // A reminder says nothing new while the condition is clear or not seen.
  return alert.lastActiveMs === nowMs && isReminderDue(alert, notified, reminders[severity], nowMs)
    ? "reminder"
    : undefined;
}

function isReminderDue(
  { badness }: AlertState,
  last: NotifiedState,
  times: readonly number[],
  nowMs: number,
): boolean {
  const waitMs = times[Math.min(last.reminders, times.length - 1)];
  if (waitMs === undefined) return false;
  const isWorse =
    badness !== undefined && last.badness !== undefined && badness >= last.badness * WORSE_FACTOR;
  return nowMs - last.event.atMs >= (isWorse ? waitMs * WORSE_SHARE : waitMs);
}

/** Records a notification in the state of its alert. */
export function withNotification(alert: AlertState, event: AlertEvent): AlertState {
  const { badness } = alert;
  const reminders = (alert.notified?.reminders ?? 0) + (event.kind === "reminder" ? 1 : 0);
  return { ...alert, notified: { reminders, event, ...(badness === undefined ? {} : { badness }) } };
}

/** What an event says besides the state of its alert. */
interface EventContext {
  readonly rule: AlertRule;
  readonly poll: JudgedPoll;
  /** Prefix of runbook file names. */
  readonly runbooks: string;
}

/** Creates the event of an alert. The same alert and kind give the same id, also after a restart. */
export function toEvent(
  alert: AlertState,
  kind: EventKind,
  { rule, poll, runbooks }: EventContext,
): AlertEvent {
  const { condition, severity } = rule;
  const { validator, chainId, nowMs, badBlocks, costOf } = poll;
  const key = alertKey(chainId, validator, alert.alert);
  const number = kind === "reminder" ? `-${(alert.notified?.reminders ?? 0) + 1}` : "";
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
