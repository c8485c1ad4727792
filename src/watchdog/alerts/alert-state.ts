import { z } from "zod";
import { formatMinute } from "../../platform/base/text.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { AlertRule, ConditionResult } from "../conditions/condition.ts";
import { alertEvent, type CurrentAlert } from "./alert-event.ts";

/** Records that somebody is working on an alert. An acknowledgement is valid until the alert ends. */
const acknowledgement = z.strictObject({ author: z.string(), note: z.string(), atMs: z.number() });

export type Acknowledgement = Readonly<z.output<typeof acknowledgement>>;

/** A summary of the notifications that have been sent about an alert. */
const notifiedState = z.strictObject({
  /** Number of reminders sent since the first notification. */
  reminders: z.number(),
  /** Time of the first notification; absent in state stored by older versions. */
  firstAtMs: z.number().exactOptional(),
  /** The condition's badness at the last notification; see `ConditionResult.badness`. */
  badness: z.number().optional(),
  /** The most recently queued notification. */
  event: alertEvent,
});

export type NotifiedState = Readonly<z.output<typeof notifiedState>>;

/** The state of one validator's pending, firing or recently resolved alert. All times are wall-clock times in ms. */
export const alertState = z
  .strictObject({
    validator: z.string(),
    /** Name of the alert's condition, such as "sidecar-down". */
    alert: z.string(),
    phase: z.enum(["pending", "firing", "resolved"]),
    /** The time when an evaluation first found the condition active. */
    sinceMs: z.number(),
    /** The time when an evaluation last found the condition active. */
    lastActiveMs: z.number(),
    /** The time when an evaluation first found the condition clear again; absent while the condition is active or unknown. */
    clearSinceMs: z.number().optional(),
    /** The time when the alert was resolved; absent unless the alert is resolved. */
    resolvedAtMs: z.number().exactOptional(),
    /** Explains the last evaluation's result with values, phrased to end a sentence. For a resolved alert, explains why it ended. */
    reason: z.string(),
    badness: z.number().optional(),
    /** End of the grace period after the alert's cause ended. Until then, the alert stays pending. Absent if no grace period applies. */
    heldUntilMs: z.number().optional(),
    /** The reason why the alert sends no notifications, e.g. "muted by sidecar-down". Absent if the alert may send notifications. */
    quietReason: z.string().optional(),
    /** Notifications sent about the alert; absent if nothing has been sent. */
    notified: notifiedState.exactOptional(),
    /** The current acknowledgement; absent if nobody has acknowledged the alert. */
    acknowledged: acknowledgement.optional(),
    /** The number of escalation steps taken so far, and the time of the last step. Absent before the first step. */
    escalation: z.strictObject({ steps: z.number(), atMs: z.number() }).exactOptional(),
    // Older versions stored the following two fields, which are ignored now.
    badBlocksBefore: z.unknown().exactOptional(),
    mutedAtMs: z.unknown().exactOptional(),
  })
  .transform((stored) => {
    const { mutedAtMs: _, badBlocksBefore: __, ...state } = stored;
    return state;
  });

export type AlertState = Readonly<z.output<typeof alertState>>;

/** The time of an evaluation, and the durations that determine when the alert fires and is resolved. */
export interface AlertTiming {
  readonly nowMs: number;
  readonly forMs: number;
  readonly resolveForMs: number;
  /**
   * If two active evaluations are at most this far apart (or `forMs`, if longer), the condition is treated as active in between.
   */
  readonly gapMs: number;
}

/** The validator and the condition name, which identify a new alert. */
export type NewAlert = Pick<AlertState, "validator" | "alert">;

/** How long to retain resolved alerts, so that Alertmanager receives the resolution and the page still shows recent alerts. */
const RESOLVED_RETENTION_MS = 900_000;

/**
 * Advances one alert by one evaluation, as Prometheus does with `for` and `keep_firing_for`. Returns undefined once the alert is
 * inactive.
 */
export function advanceAlert(
  state: AlertState | undefined,
  result: ConditionResult,
  timing: AlertTiming,
  created: NewAlert,
): AlertState | undefined {
  const current = state?.phase === "resolved" ? undefined : state;
  switch (result.kind) {
    case "active":
      return advanceActive(current, result, timing, created);
    case "clear":
      return current?.phase === "firing"
        ? advanceClear(current, result, timing)
        : recentlyResolved(state, timing);
    case "unknown":
      return advanceUnknown(current, result, timing) ?? recentlyResolved(state, timing);
  }
}

function advanceActive(
  current: AlertState | undefined,
  { reason, badness }: ConditionResult,
  { nowMs, forMs, gapMs }: AlertTiming,
  created: NewAlert,
): AlertState {
  if (current?.phase === "firing")
    return { ...current, reason, badness, clearSinceMs: undefined, lastActiveMs: nowMs };
  // Restart the `for` time after a gap in polling, because the condition may have been clear during the gap. Also restart the
  // `for` time if the clock was set back, because times from before and after the change cannot be compared.
  const continues =
    current !== undefined &&
    nowMs - current.lastActiveMs <= Math.max(forMs, gapMs) &&
    nowMs >= current.sinceMs;
  const begin = continues ? current : { ...created, sinceMs: nowMs };
  const isDue = forMs === 0 || nowMs - begin.sinceMs > forMs;
  const known = badness === undefined ? {} : { badness };
  return { ...begin, reason, ...known, phase: isDue ? "firing" : "pending", lastActiveMs: nowMs };
}

function advanceClear(
  firing: AlertState,
  { reason }: ConditionResult,
  { nowMs, resolveForMs }: AlertTiming,
): AlertState {
  // Take the minimum, so that the clear time restarts at `nowMs` if the clock was set back.
  const clearSinceMs = Math.min(firing.clearSinceMs ?? nowMs, nowMs);
  if (nowMs - clearSinceMs < resolveForMs)
    return { ...firing, clearSinceMs, reason: `clear since ${formatMinute(clearSinceMs)} UTC, ${reason}` };
  return { ...firing, clearSinceMs, phase: "resolved", resolvedAtMs: nowMs, reason };
}

/**
 * Advances an alert whose condition could not be evaluated. A pending alert expires if its last active evaluation is too old. A
 * firing alert keeps firing, because only a clear result ends it.
 */
function advanceUnknown(
  current: AlertState | undefined,
  { reason }: ConditionResult,
  { nowMs, forMs, gapMs }: AlertTiming,
): AlertState | undefined {
  if (current === undefined) return undefined;
  if (current.phase !== "firing" && nowMs - current.lastActiveMs > Math.max(forMs, gapMs)) return undefined;
  const text = `unknown now, ${reason}`;
  // Return the same object so that an unchanged state is not stored again.
  if (current.clearSinceMs === undefined && current.reason === text) return current;
  // Restart the clear time after an unknown result, because the condition may have been active.
  return { ...current, clearSinceMs: undefined, reason: text };
}

/** Returns a resolved alert unchanged until its retention time ends. */
function recentlyResolved(state: AlertState | undefined, { nowMs }: AlertTiming): AlertState | undefined {
  if (state?.phase !== "resolved" || state.resolvedAtMs === undefined) return undefined;
  return nowMs - state.resolvedAtMs < RESOLVED_RETENTION_MS && nowMs >= state.resolvedAtMs
    ? state
    : undefined;
}

/**
 * Returns the firing and recently resolved alerts that people were notified of, with current reasons. Omits firing alerts whose
 * notifications are suppressed.
 */
export function currentAlerts(alerts: readonly AlertState[]): readonly CurrentAlert[] {
  return alerts.flatMap(({ notified, phase, quietReason, reason, resolvedAtMs, acknowledged }) => {
    if (notified === undefined || phase === "pending" || (phase === "firing" && quietReason !== undefined))
      return [];
    const by = acknowledged && `${acknowledged.author}: ${acknowledged.note}`;
    return [{ event: { ...notified.event, reason }, resolvedAtMs, acknowledged: by }];
  });
}

/** A record of an alert that fired, for reports. */
export const pastAlert = z.strictObject({
  validator: z.string(),
  /** Name of the alert's condition, such as "sidecar-down". */
  alert: z.string(),
  severity: z.enum(SEVERITIES),
  title: z.string(),
  /** The time when an evaluation first found the condition active. */
  sinceMs: z.number(),
  firedAtMs: z.number(),
  /** The time when the alert was resolved; absent while the alert is firing. */
  resolvedAtMs: z.number().exactOptional(),
  /** The condition's reason text at the time when the alert fired. */
  reason: z.string(),
  /** The reason why no notification was sent when the alert fired, e.g. "silenced by …". Absent if notifications were allowed. */
  quietReason: z.string().optional(),
  /** The latest acknowledgement; absent if nobody acknowledged the alert. */
  acknowledged: acknowledgement.optional(),
});

export type PastAlert = Readonly<z.output<typeof pastAlert>>;

/** Maximum number of past alerts stored for all validators. The limit covers several years, or one year if an alert flaps daily. */
const MAX_ALERTS = 5000;

/**
 * Records one validator's newly firing alerts, and the end times of alerts that have stopped firing. Returns the updated history,
 * oldest record first.
 */
export function recordAlerts(
  history: readonly PastAlert[],
  alerts: readonly AlertState[],
  { validator, nowMs }: { readonly validator: string; readonly nowMs: number },
  rules: readonly AlertRule[],
): readonly PastAlert[] {
  const firing = new Map(
    alerts.filter(({ phase }) => phase === "firing").map((alert) => [keyOf(alert), alert]),
  );
  const isOpen = (past: PastAlert): boolean =>
    past.validator === validator && past.resolvedAtMs === undefined;
  const known = new Set(history.filter(isOpen).map(keyOf));
  const begun = [...firing.values()].filter((alert) => !known.has(keyOf(alert)));
  const updated = history.map((past) => {
    if (!isOpen(past)) return past;
    const now = firing.get(keyOf(past));
    if (now === undefined) return { ...past, resolvedAtMs: nowMs };
    // Keep a withdrawn acknowledgement in the history, because somebody did acknowledge the alert.
    const { acknowledged } = now;
    return acknowledged === undefined || acknowledged.atMs === past.acknowledged?.atMs
      ? past
      : { ...past, acknowledged };
  });
  const all = [...updated, ...begun.flatMap((alert) => toPast(alert, nowMs, rules))];
  return sameOr(history, all.slice(-MAX_ALERTS));
}

/** Returns `before` if both lists contain the same elements in the same order, so that unchanged state is not written again. */
export function sameOr<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const isSame = before.length === after.length && before.every((element, index) => element === after[index]);
  return isSame ? before : after;
}

/** Returns a key for one occurrence of an alert. The start time is part of the key, because the same alert can fire again later. */
function keyOf({ alert, sinceMs }: Pick<AlertState, "alert" | "sinceMs">): string {
  return `${alert} ${sinceMs}`;
}

function toPast(
  { validator, alert, sinceMs, reason, quietReason }: AlertState,
  firedAtMs: number,
  rules: readonly AlertRule[],
): readonly PastAlert[] {
  const rule = rules.find(({ condition }) => condition.name === alert);
  if (rule === undefined) return [];
  const { severity, condition } = rule;
  return [{ validator, alert, severity, title: condition.title, sinceMs, firedAtMs, reason, quietReason }];
}
