import type { AlertsConfig } from "../conditions/alerts-config.ts";
import { type AlertRule, causesByAlert, type ConditionResult } from "../conditions/condition.ts";
import { isAboutWatchdog } from "../conditions/network-conditions.ts";
import type { AlertEvent } from "./alert-event.ts";
import { type Delivery, enqueue } from "./outbox.ts";
import { mutedUntilText } from "./under-causes.ts";
import { activeWindow, type MaintenanceWindow } from "./maintenance.ts";
import { type Silence, silences, withoutExpired } from "./silence.ts";
import { advanceAlert, type AlertState, recordAlerts, type PastAlert, sameOr } from "./alert-state.ts";
import { type NotificationOptions, type NotifiedPoll, planNotifications } from "./notifications.ts";

/** The alerting state, which survives a restart. */
export interface AlertingState {
  /** Active and recently resolved alerts, in no particular order. */
  readonly alerts: readonly AlertState[];
  readonly silences: readonly Silence[];
  /** Events that channels have not accepted yet, oldest first. */
  readonly outbox: readonly Delivery[];
  /** Alerts that have fired, oldest first; only the newest are stored. */
  readonly history: readonly PastAlert[];
}

export const EMPTY_ALERTING: AlertingState = { alerts: [], silences: [], outbox: [], history: [] };

export interface AlertingOptions extends NotificationOptions, Pick<AlertsConfig, "rules" | "graceMs"> {
  readonly maintenance: readonly MaintenanceWindow[];
}

export interface AlertsPlan {
  readonly state: AlertingState;
  /** The events to queue for the channels; if no channel is configured, the events are only logged. */
  readonly events: readonly AlertEvent[];
}

/**
 * Advances all of one validator's alerts by one poll, and decides which notifications to send. The function is pure. Other
 * validators' alerts remain unchanged, and alerts without a rule are dropped.
 */
export function planAlerts(state: AlertingState, poll: EvaluatedPoll, options: AlertingOptions): AlertsPlan {
  const own = new Map(
    state.alerts.filter(({ validator }) => validator === poll.validator).map((alert) => [alert.alert, alert]),
  );
  const causes = causesByAlert(options.rules);
  const ended = endWithCauses(
    options.rules
      // Skip conditions that were inactive before and still are, as most conditions are.
      .filter(({ condition: { name } }) => own.has(name) || poll.results.get(name)?.kind === "active")
      .map((rule) => {
        const before = own.get(rule.condition.name);
        return { rule, before, next: advanceOne(before, rule, poll) };
      }),
    causes,
    { history: state.history, graceMs: options.graceMs },
    poll,
  );
  const advanced = withDueCauses(ended, causes, poll.nowMs);
  const quietReasonOf = createQuietReasons(advanced, causes, poll, {
    silences: state.silences,
    maintenance: options.maintenance,
    others: state.alerts.filter(({ validator, phase }) => validator !== poll.validator && phase === "firing"),
  });
  const quieted = advanced.map(({ rule, alert, cause }) => ({
    rule,
    alert: withQuiet(alert, heldText(alert, cause) ?? quietReasonOf(alert)),
  }));
  const history = recordAlerts(
    state.history,
    quieted.map(({ alert }) => alert),
    poll,
    options.rules,
  );
  const planned = quieted.map(({ rule, alert }) =>
    planNotifications(alert, { rule, poll, history, options }),
  );
  const alerts = planned.map(({ alert }) => alert);
  const notifications = planned.flatMap((one) => one.notifications);
  return {
    state: {
      alerts: sameOr(state.alerts, [
        ...state.alerts.filter(({ validator }) => validator !== poll.validator),
        ...alerts,
      ]),
      silences: sameOr(state.silences, withoutExpired(state.silences, poll.nowMs)),
      outbox: notifications.reduce(
        (outbox, { event, channels }) => enqueue(outbox, [event], channels),
        state.outbox,
      ),
      history,
    },
    events: notifications.map(({ event }) => event),
  };
}

interface RuledAlert {
  readonly rule: AlertRule;
  readonly alert: AlertState;
  /** The recently ended cause that defers the alert; absent if the alert is not deferred. */
  readonly cause?: string;
}

interface Advanced {
  readonly rule: AlertRule;
  readonly before: AlertState | undefined;
  readonly next: AlertState | undefined;
}

type Causes = ReturnType<typeof causesByAlert>;

/**
 * Ends alerts whose cause has ended. Alerts that may only be an aftermath of the cause are deferred until the grace period is over.
 * Alerts about the present moment (without `echo`) continue. Alerts with another firing cause also continue, but stay muted. A
 * cause is treated as ended as soon as its condition is clear, so that no receiver sees a consequence outlast its cause.
 */
function endWithCauses(
  all: readonly Advanced[],
  causes: Causes,
  { history, graceMs }: { readonly history: readonly PastAlert[]; readonly graceMs: number },
  { validator, nowMs }: EvaluatedPoll,
): readonly RuledAlert[] {
  const byName = new Map(all.map((one) => [one.rule.condition.name, one]));
  let recent: ReadonlyMap<string, number> | undefined;
  // Compute this map only on demand, because the history is long and few polls need the map.
  const endedRecently = (): ReadonlyMap<string, number> =>
    (recent ??= new Map(
      history.flatMap(({ validator: of, alert, resolvedAtMs = Infinity }) =>
        of === validator && nowMs >= resolvedAtMs && nowMs - resolvedAtMs < graceMs
          ? [[alert, resolvedAtMs + graceMs] as const]
          : [],
      ),
    ));
  const overCause = (name: string): string | undefined => {
    const own = (causes.get(name) ?? []).map(({ condition }) => condition.name);
    if (own.some((cause) => isActive(byName.get(cause)?.next) && overCause(cause) === undefined))
      return undefined;
    return own.find((cause) => isEnding(byName.get(cause)) || endedRecently().has(cause));
  };
  return all.flatMap(({ rule, before, next }): readonly RuledAlert[] => {
    if (next === undefined) return [];
    const { name, echo } = rule.condition;
    // An alert that sent a notification before its supposed cause did is not a consequence of that cause.
    const isOwn = next.phase === "resolved" || next.notified !== undefined;
    const cause = isOwn ? undefined : overCause(name);
    const isNow = next.lastActiveMs === nowMs;
    if (cause === undefined || (echo === undefined && isNow)) return [{ rule, alert: withHold(next) }];
    if (before?.phase === "firing") return [{ rule, alert: endedWith(before, cause, nowMs) }];
    const heldUntilMs = endedRecently().get(cause);
    // The alert's `for` time only starts at the end of the grace period.
    if (isNow && heldUntilMs !== undefined)
      return [{ rule, alert: withHold({ ...next, phase: "pending", sinceMs: nowMs }, heldUntilMs), cause }];
    return before?.phase === "resolved" ? [{ rule, alert: before }] : [];
  });
}

function withHold(alert: AlertState, heldUntilMs?: number): AlertState {
  return alert.heldUntilMs === heldUntilMs ? alert : { ...alert, heldUntilMs };
}

/**
 * Lets a pending cause fire early if one of its consequences is about to notify people, so that they are notified of the cause
 * instead. If several causes are pending, only the causes that no other pending cause explains will fire. Alerts about the month's
 * result never make a cause fire early, because such alerts do not describe the current minute.
 */
function withDueCauses(alerts: readonly RuledAlert[], causes: Causes, nowMs: number): readonly RuledAlert[] {
  const inPhase = (phase: AlertState["phase"]): ReadonlySet<AlertRule> =>
    new Set(
      alerts
        .filter(
          ({ alert }) =>
            alert.phase === phase && alert.lastActiveMs === nowMs && alert.heldUntilMs === undefined,
        )
        .map(({ rule }) => rule),
    );
  const [firing, pending] = [inPhase("firing"), inPhase("pending")];
  if (pending.size === 0) return alerts;
  const causesOf = (rule: AlertRule): readonly AlertRule[] => causes.get(rule.condition.name) ?? [];
  const explaining = new Set(
    alerts
      .filter(
        ({ rule, alert }) =>
          firing.has(rule) && alert.notified === undefined && rule.condition.echo !== "month",
      )
      .map(({ rule }) => causesOf(rule))
      .filter((own) => !own.some((cause) => firing.has(cause)))
      .flatMap((own) => own.filter((cause) => pending.has(cause))),
  );
  const isDue = (rule: AlertRule): boolean =>
    explaining.has(rule) && !causesOf(rule).some((cause) => explaining.has(cause));
  return alerts.map((one) => (isDue(one.rule) ? { ...one, alert: { ...one.alert, phase: "firing" } } : one));
}

function isActive(alert: AlertState | undefined): boolean {
  return alert?.phase === "firing" && alert.clearSinceMs === undefined;
}

/** Returns true from the first poll that finds a firing alert's condition clear until the alert is resolved. */
function isEnding(one: Advanced | undefined): boolean {
  return one?.before?.phase === "firing" && !isActive(one.next);
}

function endedWith(alert: AlertState, cause: string, nowMs: number): AlertState {
  const reason = `it ended with ${cause}`;
  return { ...alert, quietReason: undefined, phase: "resolved", resolvedAtMs: nowMs, reason };
}

function advanceOne(
  before: AlertState | undefined,
  rule: AlertRule,
  poll: EvaluatedPoll,
): AlertState | undefined {
  const { name } = rule.condition;
  const result = poll.results.get(name) ?? { kind: "unknown", reason: "not evaluated" };
  const timing = { nowMs: poll.nowMs, gapMs: poll.gapMs, forMs: rule.forMs, resolveForMs: rule.resolveForMs };
  const created = { validator: poll.validator, alert: name };
  return advanceAlert(before, result, timing, created);
}

/** Returns a function that explains why an alert sends no notification, e.g. because of a silence, maintenance or a firing cause. */
function createQuietReasons(
  alerts: readonly RuledAlert[],
  causes: Causes,
  { validator, nowMs }: EvaluatedPoll,
  quiet: {
    readonly silences: readonly Silence[];
    readonly maintenance: readonly MaintenanceWindow[];
    /** Firing alerts of the other validators that this watchdog monitors. */
    readonly others: readonly AlertState[];
  },
): (alert: AlertState) => string | undefined {
  const firing = new Set(alerts.filter(({ alert }) => alert.phase === "firing").map(({ rule }) => rule));
  const window = activeWindow(quiet.maintenance, validator, nowMs);
  return (alert) => {
    const silence = quiet.silences.find((one) => silences(one, alert, nowMs));
    if (silence !== undefined) return `silenced by ${silence.author}: ${silence.reason}`;
    if (window !== undefined) return `maintenance: ${window.reason}`;
    const cause = causes.get(alert.alert)?.find((one) => firing.has(one));
    if (cause !== undefined) return `muted by ${cause.condition.name}`;
    if (!isAboutWatchdog(alert.alert) || alert.notified !== undefined) return undefined;
    // Alerts about the watchdog are the same for all validators, so one notification is enough.
    const first = quiet.others.find((other) => other.alert === alert.alert && other.notified !== undefined);
    return first && `the same alert as for ${first.validator}`;
  };
}

function heldText({ heldUntilMs }: AlertState, cause: string | undefined): string | undefined {
  return heldUntilMs === undefined || cause === undefined
    ? undefined
    : `${mutedUntilText(heldUntilMs)}, because ${cause} has just ended`;
}

function withQuiet(alert: AlertState, quietReason: string | undefined): AlertState {
  return alert.quietReason === quietReason ? alert : { ...alert, quietReason };
}

interface EvaluatedPoll extends NotifiedPoll {
  /** Longest gap between two polls across which an active condition is assumed to stay active. */
  readonly gapMs: number;
  /** The poll's evaluation results, by condition name. */
  readonly results: ReadonlyMap<string, ConditionResult>;
}
