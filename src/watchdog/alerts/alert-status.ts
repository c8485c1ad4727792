import { isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import type { Acknowledgement, AlertState } from "./alert-state.ts";
import { type Escalation, nextEscalationMs } from "./notifications.ts";
import { alertName, type AlertRule, runbookFile } from "../conditions/condition.ts";

/** An alert for one validator, whether active or not. */
export interface AlertStatus {
  readonly validator: string;
  readonly rule: AlertRule;
  /** Undefined: inactive. */
  readonly state: AlertState | undefined;
}

/** Returns the alerts of all validators, ordered by validator and then by rule. */
export function alertStatuses(
  alerts: readonly AlertState[],
  rules: readonly AlertRule[],
  validators: readonly string[],
): readonly AlertStatus[] {
  const byValidator = new Map(validators.map((name) => [name, new Map<string, AlertState>()]));
  for (const alert of alerts) byValidator.get(alert.validator)?.set(alert.alert, alert);
  return [...byValidator].flatMap(([validator, states]) =>
    rules.map((rule) => ({ validator, rule, state: states.get(rule.condition.name) })),
  );
}

/** Encodes an alert and its state as JSON. Times are in ISO 8601. `quiet` explains why the alert sends no notifications. */
export function alertJson(
  { validator, rule, state }: AlertStatus,
  escalation?: Escalation,
): Readonly<Record<string, unknown>> {
  const { condition, severity, forMs, resolveForMs, limits } = rule;
  return {
    name: condition.name,
    alertname: alertName(condition.name),
    validator,
    severity,
    title: condition.title,
    state: state?.phase ?? "inactive",
    since: isoTimeOrNull(state?.sinceMs),
    fires_at: state?.phase === "pending" ? isoTimeOrNull((state.heldUntilMs ?? state.sinceMs) + forMs) : null,
    held_until: isoTimeOrNull(state?.heldUntilMs),
    resolved_at: isoTimeOrNull(state?.resolvedAtMs),
    reason: state?.reason ?? null,
    quiet: state?.quietReason ?? null,
    notified_at: isoTimeOrNull(state?.notified?.event.atMs),
    acknowledged: state?.acknowledged === undefined ? null : acknowledgementJson(state.acknowledged),
    escalated_at: isoTimeOrNull(state?.escalation?.atMs),
    escalates_at: isoTimeOrNull(state && nextEscalationMs(state, severity, escalation)),
    when: condition.when,
    description: condition.description,
    impact: condition.impact,
    action: condition.action,
    runbook: runbookFile(condition.name),
    for_seconds: forMs / 1000,
    resolve_for_seconds: resolveForMs / 1000,
    thresholds: limits,
    inhibits: condition.inhibits,
  };
}

export function acknowledgementJson({ atMs, ...rest }: Acknowledgement): Readonly<Record<string, unknown>> {
  return { ...rest, at: isoTime(atMs) };
}
