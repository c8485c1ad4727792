import type { AlertRule } from "../conditions/condition.ts";
import type { AlertEvent } from "../notify/channels/alert-event.ts";
import type { ReminderTimes } from "../notify/notify-config.ts";
import type { ChannelSettings } from "../notify/channels/channel.ts";
import { type Delivery, enqueue } from "../notify/outbox.ts";
import { activeWindow, type MaintenanceWindow } from "../silences/maintenance.ts";
import { type Silence, silences, withoutExpired } from "../silences/silence.ts";
import { noteAlerts, type PastAlert } from "./alert-history.ts";
import { type AlertState, advanceAlert } from "./alert-state.ts";
import type { JudgedPoll } from "./judged-poll.ts";
import { dueNotification, toEvent, withNotification } from "./plan-notification.ts";

/** State of alerting that survives a restart. */
export interface AlertingState {
  /** Alerts that are not inactive, and those that were resolved lately, in no order. */
  readonly alerts: readonly AlertState[];
  readonly silences: readonly Silence[];
  /** Events that channels have not accepted yet, oldest first. */
  readonly outbox: readonly Delivery[];
  /** Alerts that fired, oldest first; the newest are kept. */
  readonly history: readonly PastAlert[];
}

/** The state before the first poll. */
export const EMPTY_ALERTING: AlertingState = { alerts: [], silences: [], outbox: [], history: [] };

/** Configuration of alerting. */
export interface AlertingOptions {
  readonly rules: readonly AlertRule[];
  readonly channels: readonly ChannelSettings[];
  readonly maintenance: readonly MaintenanceWindow[];
  readonly reminders: ReminderTimes;
  /** Prefix of runbook file names; empty: the file name alone. */
  readonly runbooks: string;
}

/** Result of {@link planAlerts}. */
export interface AlertsPlan {
  readonly state: AlertingState;
  /** What is notified, also without any channel: it goes to the log. */
  readonly events: readonly AlertEvent[];
}

/**
 * Advances all alerts of one validator by one poll, and decides who is notified of what. Pure. Alerts of other validators
 * stay as they are; an alert without a rule is dropped.
 */
export function planAlerts(state: AlertingState, poll: JudgedPoll, options: AlertingOptions): AlertsPlan {
  const own = new Map(
    state.alerts.filter(({ validator }) => validator === poll.validator).map((alert) => [alert.alert, alert]),
  );
  const advanced = options.rules.flatMap((rule) => {
    const next = advanceOne(own.get(rule.condition.name), rule, poll);
    return next === undefined ? [] : [{ rule, alert: next }];
  });
  const quiet = quietReasons(advanced, state.silences, poll, options);
  const events: AlertEvent[] = [];
  const alerts = advanced.map(({ rule, alert }) => {
    const current = withQuiet(alert, quiet.get(alert.alert), poll.nowMs);
    const kind = dueNotification(current, rule.severity, poll.nowMs, options.reminders);
    if (kind === undefined) return current;
    const event = toEvent(current, kind, { rule, poll, runbooks: options.runbooks });
    events.push(event);
    return withNotification(current, event);
  });
  return {
    state: {
      alerts: sameOr(state.alerts, [
        ...state.alerts.filter(({ validator }) => validator !== poll.validator),
        ...alerts,
      ]),
      silences: sameOr(state.silences, withoutExpired(state.silences, poll.nowMs)),
      outbox: enqueue(state.outbox, events, options.channels),
      history: noteAlerts(state.history, alerts, poll, options.rules),
    },
    events,
  };
}

/** Returns `before` when both lists have the same elements: a state that did not change is not written again. */
function sameOr<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const isSame = before.length === after.length && before.every((element, index) => element === after[index]);
  return isSame ? before : after;
}

interface RuledAlert {
  readonly rule: AlertRule;
  readonly alert: AlertState;
}

function advanceOne(
  before: AlertState | undefined,
  rule: AlertRule,
  poll: JudgedPoll,
): AlertState | undefined {
  const { name } = rule.condition;
  const verdict = poll.verdicts.get(name) ?? { kind: "unknown", reason: "not judged" };
  const timing = { nowMs: poll.nowMs, gapMs: poll.gapMs, forMs: rule.forMs, resolveForMs: rule.resolveForMs };
  const created = { validator: poll.validator, alert: name, badBlocksBefore: poll.badBlocks };
  return advanceAlert(before, verdict, timing, created);
}

/** Why an alert does not notify now. */
interface Quiet {
  readonly reason: string;
  readonly isMuted: boolean;
}

/** Returns why alerts do not notify: a cause fires, a silence, or maintenance. */
function quietReasons(
  alerts: readonly RuledAlert[],
  all: readonly Silence[],
  { validator, nowMs }: JudgedPoll,
  { maintenance }: AlertingOptions,
): ReadonlyMap<string, Quiet> {
  const reasons = new Map<string, Quiet>();
  const causes = alerts.filter(({ alert }) => alert.phase === "firing");
  for (const { rule } of causes)
    for (const name of rule.condition.inhibits)
      reasons.set(name, { reason: `muted by ${rule.condition.name}`, isMuted: true });
  const window = activeWindow(maintenance, validator, nowMs);
  for (const { alert } of alerts) {
    const isMuted = reasons.has(alert.alert);
    const silence = all.find((one) => silences(one, alert, nowMs));
    if (silence !== undefined)
      reasons.set(alert.alert, { reason: `silenced by ${silence.author}: ${silence.reason}`, isMuted });
    else if (window !== undefined)
      reasons.set(alert.alert, { reason: `maintenance: ${window.reason}`, isMuted });
  }
  return reasons;
}

function withQuiet(alert: AlertState, quiet: Quiet | undefined, nowMs: number): AlertState {
  if (quiet !== undefined)
    return { ...alert, quietReason: quiet.reason, ...(quiet.isMuted ? { mutedAtMs: nowMs } : {}) };
  if (alert.quietReason === undefined) return alert;
  const { quietReason: _, ...rest } = alert;
  return rest;
}
