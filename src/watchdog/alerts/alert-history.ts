import type { AlertRule } from "../conditions/condition.ts";
import type { Severity } from "../../platform/monitoring/severity.ts";
import type { AlertState } from "./alert-state.ts";

/** An alert that fired, for reports. */
export interface PastAlert {
  readonly validator: string;
  /** Name of the condition. */
  readonly alert: string;
  readonly severity: Severity;
  readonly title: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  readonly firedAtMs: number;
  /** Absent while it fires. */
  readonly resolvedAtMs?: number;
  /** When it fired. */
  readonly reason: string;
  /** Why nobody was notified when it fired: "silenced by …". Absent when it could notify. */
  readonly quietReason?: string;
}

/** Alerts that are kept, of all validators: years of a healthy validator, a year of one that flaps daily. */
const MAX_ALERTS = 5000;

/** Adds the alerts of one validator that began to fire, and the ends of those that do not fire any more. Oldest first. */
export function noteAlerts(
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
  const ended = history.some((past) => isOpen(past) && !firing.has(keyOf(past)));
  if (begun.length === 0 && !ended) return history;
  const closed = history.map((past) =>
    isOpen(past) && !firing.has(keyOf(past)) ? { ...past, resolvedAtMs: nowMs } : past,
  );
  return [...closed, ...begun.flatMap((alert) => toPast(alert, nowMs, rules))].slice(-MAX_ALERTS);
}

/** Identifies one alert of a validator: the same condition can be active again later. */
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
  const quiet = quietReason === undefined ? {} : { quietReason };
  return [{ validator, alert, severity, title: condition.title, sinceMs, firedAtMs, reason, ...quiet }];
}
