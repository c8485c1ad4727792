import { type Notification, toNotification } from "../notify/notification.ts";
import { type ActiveAlertState, advanceAlert, type AlertStep, INACTIVE } from "./alert-state.ts";
import type { AlertRule, ConditionInput, Verdict } from "./condition.ts";

/** States of all alerts after one poll, and what to tell. */
export interface AlertsStep {
  /** Pending and firing alerts by id. */
  readonly alerts: ReadonlyMap<string, ActiveAlertState>;
  readonly notifications: readonly Notification[];
}

/** Advances every alert of one validator by one poll. The state of an alert that has no rule any more is dropped. */
export function stepAlerts(
  before: ReadonlyMap<string, ActiveAlertState>,
  input: ConditionInput,
  rules: readonly AlertRule[],
): AlertsStep {
  const alerts = new Map<string, ActiveAlertState>();
  const notifications: Notification[] = [];
  for (const rule of rules) {
    const { id } = rule.condition;
    const previous = before.get(id);
    const verdict = rule.condition.evaluate(input);
    const step = advanceAlert(previous ?? INACTIVE, verdict, input.observation.atMs, rule.forMs);
    if (step.state.phase !== "inactive") alerts.set(id, step.state);
    const notification = notificationOf(rule, { before: previous, step, verdict }, input);
    if (notification !== undefined) notifications.push(notification);
  }
  return { alerts, notifications };
}

interface AlertChange {
  readonly before: ActiveAlertState | undefined;
  readonly step: AlertStep;
  readonly verdict: Verdict;
}

/** Returns the notification of an alert that began to fire or was resolved. */
function notificationOf(
  { condition }: AlertRule,
  { before, step, verdict }: AlertChange,
  { observation, chainId }: ConditionInput,
): Notification | undefined {
  // A resolved alert has no times. The state before it has them.
  const active = step.state.phase === "inactive" ? before : step.state;
  if (step.change === undefined || active === undefined) return undefined;
  return toNotification(condition, {
    status: step.change,
    chainId: chainId ?? "unknown chain",
    sinceMs: active.sinceMs,
    atMs: observation.atMs,
    reason: verdict.reason,
  });
}
