import { z } from "zod";
import { formatMinute } from "../../platform/base/text.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { AlertRule, ConditionResult } from "../conditions/condition.ts";
import { alertEvent, type CurrentAlert } from "./alert-event.ts";

/** Records that someone is working on an alert. Remains valid until the alert ends. */
const acknowledgement = z.strictObject({ author: z.string(), note: z.string(), atMs: z.number() });

export type Acknowledgement = Readonly<z.output<typeof acknowledgement>>;

/** Notifications sent for an alert so far. */
const notifiedState = z.strictObject({
  /** Number of reminders so far. */
  reminders: z.number(),
  /** Time of the first notification. Absent in state from older versions. */
  firstAtMs: z.number().exactOptional(),
  /** Badness at the last notification. */
  badness: z.number().optional(),
  /** The most recently queued notification. */
  event: alertEvent,
});

export type NotifiedState = Readonly<z.output<typeof notifiedState>>;

/** State of an alert for one validator, unless the alert is inactive. Times are wall-clock ms. */
export const alertState = z
  .strictObject({
    validator: z.string(),
    /** Name of the condition. */
    alert: z.string(),
    phase: z.enum(["pending", "firing", "resolved"]),
    /** First evaluation that found the condition active. */
    sinceMs: z.number(),
    /** Last evaluation that found the condition active. */
    lastActiveMs: z.number(),
    /** First clear evaluation since then. Absent while the condition is active or unknown. */
    clearSinceMs: z.number().optional(),
    /** Present only on a resolved alert. */
    resolvedAtMs: z.number().exactOptional(),
    /** Result of the last evaluation with its values, phrased to end a sentence; once resolved, the result that ended the alert. */
    reason: z.string(),
    badness: z.number().optional(),
    /** End of the grace period after a cause; the alert stays pending until then. Absent if there is none. */
    heldUntilMs: z.number().optional(),
    /** Why the alert sends no notification now: "muted by sidecar-down", "silenced by …", "held back until …". Absent if it may. */
    quietReason: z.string().optional(),
    /** Absent if no notification was sent. */
    notified: notifiedState.exactOptional(),
    /** Who is working on the alert. Absent if not acknowledged. */
    acknowledged: acknowledgement.optional(),
    /** Escalation steps taken so far. Absent if none. */
    escalation: z.strictObject({ steps: z.number(), atMs: z.number() }).exactOptional(),
    // Older versions stored both.
    badBlocksBefore: z.unknown().exactOptional(),
    mutedAtMs: z.unknown().exactOptional(),
  })
  .transform((stored) => {
    const { mutedAtMs: _, badBlocksBefore: __, ...state } = stored;
    return state;
  });

export type AlertState = Readonly<z.output<typeof alertState>>;

/** Times that apply to one evaluation of one alert. */
export interface AlertTiming {
  readonly nowMs: number;
  readonly forMs: number;
  readonly resolveForMs: number;
  /** If two evaluations are no further apart than this (or `forMs`, if longer), the condition is taken to be active in between. */
  readonly gapMs: number;
}

/** The parts of an alert's state set on creation. */
export type NewAlert = Pick<AlertState, "validator" | "alert">;

/** How long a resolved alert is retained, so that Alertmanager is notified of its end and people see it on the page. */
const RESOLVED_RETENTION_MS = 900_000;

/**
 * Advances one alert by one evaluation, as Prometheus does with `for` and `keep_firing_for`. Returns undefined if the alert is
 * then inactive. A change of phase to "firing" or "resolved" is visible in the result.
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
  // After a gap in polling, it is unknown whether the condition was active in between. After the clock steps back, the times cannot
  // be compared. In both cases, the time starts again.
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
  // Take the smaller one: after the clock steps back, the time starts again.
  const clearSinceMs = Math.min(firing.clearSinceMs ?? nowMs, nowMs);
  if (nowMs - clearSinceMs < resolveForMs)
    return { ...firing, clearSinceMs, reason: `clear since ${formatMinute(clearSinceMs)} UTC, ${reason}` };
  return { ...firing, clearSinceMs, phase: "resolved", resolvedAtMs: nowMs, reason };
}

/** A pending alert expires if its last active evaluation is too old. A firing alert keeps firing: only a clear result ends it. */
function advanceUnknown(
  current: AlertState | undefined,
  { reason }: ConditionResult,
  { nowMs, forMs, gapMs }: AlertTiming,
): AlertState | undefined {
  if (current === undefined) return undefined;
  if (current.phase !== "firing" && nowMs - current.lastActiveMs > Math.max(forMs, gapMs)) return undefined;
  const text = `unknown now, ${reason}`;
  // Don't store an unchanged state again.
  if (current.clearSinceMs === undefined && current.reason === text) return current;
  // An unknown result ends the clear time, because the condition may have been active.
  return { ...current, clearSinceMs: undefined, reason: text };
}

/** Returns a resolved alert until its retention time ends. */
function recentlyResolved(state: AlertState | undefined, { nowMs }: AlertTiming): AlertState | undefined {
  if (state?.phase !== "resolved" || state.resolvedAtMs === undefined) return undefined;
  return nowMs - state.resolvedAtMs < RESOLVED_RETENTION_MS && nowMs >= state.resolvedAtMs
    ? state
    : undefined;
}

/** Returns the alerts that people have been notified of, with current reasons. Excludes quiet alerts. */
export function currentAlerts(alerts: readonly AlertState[]): readonly CurrentAlert[] {
  return alerts.flatMap(({ notified, phase, quietReason, reason, resolvedAtMs, acknowledged }) => {
    if (notified === undefined || phase === "pending" || (phase === "firing" && quietReason !== undefined))
      return [];
    const by = acknowledged && `${acknowledged.author}: ${acknowledged.note}`;
    return [{ event: { ...notified.event, reason }, resolvedAtMs, acknowledged: by }];
  });
}

/** An alert that fired, for reports. */
export const pastAlert = z.strictObject({
  validator: z.string(),
  /** Name of the condition. */
  alert: z.string(),
  severity: z.enum(SEVERITIES),
  title: z.string(),
  /** First evaluation that found the condition active. */
  sinceMs: z.number(),
  firedAtMs: z.number(),
  /** Absent while the alert is firing. */
  resolvedAtMs: z.number().exactOptional(),
  /** When it fired. */
  reason: z.string(),
  /** Why no notification was sent when the alert fired: "silenced by …". Absent if notifications were allowed. */
  quietReason: z.string().optional(),
  /** The latest acknowledgement. Absent if there was none. */
  acknowledged: acknowledgement.optional(),
});

export type PastAlert = Readonly<z.output<typeof pastAlert>>;

/** Maximum number of stored alerts across all validators: enough for years if healthy, or for a year if one flaps daily. */
const MAX_ALERTS = 5000;

/** Records one validator's newly firing alerts, and the end times of alerts that have stopped firing. Oldest first. */
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
    // A withdrawn acknowledgement stays in the history because it did happen.
    const { acknowledged } = now;
    return acknowledged === undefined || acknowledged.atMs === past.acknowledged?.atMs
      ? past
      : { ...past, acknowledged };
  });
  const all = [...updated, ...begun.flatMap((alert) => toPast(alert, nowMs, rules))];
  return sameOr(history, all.slice(-MAX_ALERTS));
}

/** Returns `before` if both lists contain the same elements, so that unchanged state is not written again. */
export function sameOr<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const isSame = before.length === after.length && before.every((element, index) => element === after[index]);
  return isSame ? before : after;
}

/** Identifies one occurrence of a validator's alert: the same condition can become active again later. */
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
