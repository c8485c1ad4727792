import type { PublicLinks } from "../../platform/monitoring/alerts/links.ts";
import { isAtLeast, type Severity } from "../../platform/monitoring/severity.ts";
import type { AlertRule } from "../conditions/condition.ts";
import type { Cost } from "../policy/cost-text.ts";
import { type AlertEvent, alertKey, type EventKind } from "./alert-event.ts";
import { eventLinks } from "./event-links.ts";
import type { ChannelSettings } from "./outbox.ts";
import type { AlertState, NotifiedState, PastAlert } from "./alert-state.ts";

/** Defines whom to notify, and when, if nobody acknowledges an alert. */
export interface Escalation {
  /** Alerts below this severity are not escalated. */
  readonly minSeverity: Severity;
  /** The steps, ordered by their time since the first notification. */
  readonly steps: readonly EscalationStep[];
}

/** An escalation step. Its channels are notified of an alert that stays unacknowledged for `afterMs`, and later of the resolution. */
interface EscalationStep {
  readonly afterMs: number;
  readonly channels: readonly ChannelSettings[];
}

/** An event together with the channels that may receive it. */
interface Notification {
  readonly event: AlertEvent;
  readonly channels: readonly ChannelSettings[];
}

/**
 * Intervals between a firing alert's reminders, in ms, by severity. The last interval applies to all later reminders. An empty list
 * disables reminders.
 */
export type ReminderTimes = Readonly<Record<Severity, readonly number[]>>;

export interface NotificationOptions {
  readonly channels: readonly ChannelSettings[];
  readonly reminders: ReminderTimes;
  /** URL that precedes the file name in a runbook's link; if empty, the link is only the file name. */
  readonly runbooks: string;
  /** Pages that notifications link to; absent if no page's URL is known. */
  readonly links?: PublicLinks;
  /** The escalation of alerts that nobody acknowledges. If absent, no alert is escalated. */
  readonly escalation?: Escalation;
}

/** The data about one poll that is needed to create notifications. */
export interface NotifiedPoll {
  readonly validator: string;
  readonly chainId: string;
  readonly nowMs: number;
  /** Returns an alert's cost so far, given all alerts that have fired. Returns undefined if the alert is not about missed votes. */
  readonly costOf: (alert: AlertState, history: readonly PastAlert[]) => Cost | undefined;
}

interface Planned {
  readonly alert: AlertState;
  readonly notifications: readonly Notification[];
}

interface PlanContext {
  readonly rule: AlertRule;
  readonly poll: NotifiedPoll;
  /** Alerts that have fired so far, including during this poll. */
  readonly history: readonly PastAlert[];
  readonly options: NotificationOptions;
}

/**
 * Decides which notifications are due for one alert, and records them in the alert's state. Acknowledged alerts are neither
 * repeated nor escalated. When an escalated alert is resolved, the channels of its escalation steps are notified too.
 */
export function planNotifications(alert: AlertState, context: PlanContext): Planned {
  const { rule, poll, options } = context;
  const { channels, escalation, reminders } = options;
  const steps = escalation?.steps ?? [];
  const times = rule.condition.isSettled === true ? [] : reminders[rule.severity];
  const kind = dueNotification(alert, poll.nowMs, times);
  const event = kind && toEvent(alert, kind, context);
  const notified = event === undefined ? alert : withNotification(alert, event);
  const taken = alert.escalation?.steps ?? 0;
  const reached = steps.slice(0, taken).flatMap((step) => step.channels);
  const ordinary =
    event === undefined
      ? []
      : [{ event, channels: event.kind === "resolved" ? [...channels, ...reached] : channels }];
  const next = steps[taken];
  if (next === undefined || !isEscalationDue(notified, context))
    return { alert: notified, notifications: ordinary };
  const escalated: AlertState = { ...notified, escalation: { steps: taken + 1, atMs: poll.nowMs } };
  const notification = { event: toEvent(escalated, "escalated", context), channels: next.channels };
  return { alert: escalated, notifications: [...ordinary, notification] };
}

/** Returns when an alert's next escalation step is due, or undefined if there is none. */
export function nextEscalationMs(
  { phase, notified, acknowledged, escalation: taken }: AlertState,
  severity: Severity,
  escalation: Escalation | undefined,
): number | undefined {
  if (escalation === undefined || phase !== "firing" || notified === undefined || acknowledged !== undefined)
    return undefined;
  const step = escalation.steps[taken?.steps ?? 0];
  if (step === undefined || !isAtLeast(severity, escalation.minSeverity)) return undefined;
  return (notified.firstAtMs ?? notified.event.atMs) + step.afterMs;
}

function isEscalationDue(alert: AlertState, { rule, poll, options }: PlanContext): boolean {
  // Don't escalate an alert whose outcome nobody can change any more.
  if (rule.condition.isSettled === true) return false;
  if (alert.quietReason !== undefined || alert.lastActiveMs !== poll.nowMs) return false;
  const dueMs = nextEscalationMs(alert, rule.severity, options.escalation);
  return dueMs !== undefined && poll.nowMs >= dueMs;
}

/** If a condition's badness grows by this factor after a notification, the next reminder is sent earlier. */
const WORSE_FACTOR = 1.5;

/** A worsening alert sends its next reminder after this fraction of the reminder interval. */
const WORSE_SHARE = 0.25;

/** Returns the notification currently due for an alert, or undefined if there is none. */
function dueNotification(
  alert: AlertState,
  nowMs: number,
  reminders: readonly number[],
): EventKind | undefined {
  const { phase, notified, quietReason, acknowledged } = alert;
  // Everyone who was notified of an alert is also notified of its resolution, even during a silence.
  if (phase === "resolved")
    return notified !== undefined && notified.event.kind !== "resolved" ? "resolved" : undefined;
  // Send nothing while the condition is clear or unknown, because nobody could act on the notification.
  if (phase !== "firing" || quietReason !== undefined || alert.lastActiveMs !== nowMs) return undefined;
  if (notified === undefined) return "firing";
  if (acknowledged !== undefined) return undefined;
  return isReminderDue(alert, notified, reminders, nowMs) ? "reminder" : undefined;
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

function withNotification(alert: AlertState, event: AlertEvent): AlertState {
  const { badness, notified } = alert;
  const reminders = (notified?.reminders ?? 0) + (event.kind === "reminder" ? 1 : 0);
  const firstAtMs = notified === undefined ? event.atMs : (notified.firstAtMs ?? notified.event.atMs);
  return { ...alert, notified: { reminders, event, firstAtMs, badness } };
}

/** Creates the notification event for one alert. A restart does not change the event's id, which depends only on the alert's state. */
function toEvent(
  alert: AlertState,
  kind: EventKind,
  { rule, poll, history, options }: PlanContext,
): AlertEvent {
  const { title, description, action, impact } = rule.condition;
  const { validator, chainId, nowMs } = poll;
  const { alert: name, sinceMs, reason } = alert;
  const key = alertKey(chainId, validator, name);
  const about = { alert: name, validator, chainId, sinceMs, atMs: nowMs };
  return {
    ...about,
    id: `${key}/${sinceMs}/${kind}${numberOf(alert, kind)}`,
    key,
    kind,
    severity: rule.severity,
    title,
    reason,
    description,
    action,
    impact,
    ...eventLinks({ ...options.links, runbooks: options.runbooks }, about),
    cost: poll.costOf(alert, history),
  };
}

function numberOf({ notified, escalation }: AlertState, kind: EventKind): string {
  if (kind === "reminder") return `-${(notified?.reminders ?? 0) + 1}`;
  return kind === "escalated" ? `-${escalation?.steps ?? 1}` : "";
}
