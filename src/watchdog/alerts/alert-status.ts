import { z } from "zod";
import { jsonView, words } from "../../platform/http/json-view.ts";
import type { Acknowledgement, AlertState } from "./alert-state.ts";
import { type Escalation, nextEscalationMs } from "./notifications.ts";
import { alertName, type AlertRule, runbookFile } from "../conditions/condition.ts";

/** The status of one rule's alert for one validator, which is listed even while the alert is inactive. */
export interface AlertStatus {
  readonly validator: string;
  readonly rule: AlertRule;
  /** The alert's state; undefined if it is inactive. */
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

/** The possible states of an alert, as named in JSON. */
export const ALERT_PHASE = z.enum(["inactive", "pending", "firing", "resolved"]);

export const acknowledgementView = jsonView<Acknowledgement>(({ value, time }) => ({
  author: value(words, ({ author }) => author),
  note: value(words, ({ note }) => note),
  at: time(({ atMs }) => atMs),
}));

/** An alert with all details, as the API shows it. `quiet` explains why the alert sends no notifications. */
export const alertView = jsonView<AlertStatus & { readonly escalation: Escalation | undefined }>(
  ({ value, orNull, timeOrNull, partOrNull, values }) => ({
    name: value(words, ({ rule }) => rule.condition.name),
    alertname: value(words, ({ rule }) => alertName(rule.condition.name)),
    validator: value(words, ({ validator }) => validator),
    severity: value(words, ({ rule }) => rule.severity),
    title: value(words, ({ rule }) => rule.condition.title),
    state: value(ALERT_PHASE, ({ state }) => state?.phase ?? "inactive"),
    since: timeOrNull(({ state }) => state?.sinceMs),
    fires_at: timeOrNull(({ state, rule }) =>
      state?.phase === "pending" ? (state.heldUntilMs ?? state.sinceMs) + rule.forMs : undefined,
    ),
    held_until: timeOrNull(({ state }) => state?.heldUntilMs),
    resolved_at: timeOrNull(({ state }) => state?.resolvedAtMs),
    reason: orNull(words, ({ state }) => state?.reason),
    quiet: orNull(words, ({ state }) => state?.quietReason),
    notified_at: timeOrNull(({ state }) => state?.notified?.event.atMs),
    acknowledged: partOrNull(acknowledgementView, ({ state }) => state?.acknowledged),
    escalated_at: timeOrNull(({ state }) => state?.escalation?.atMs),
    escalates_at: timeOrNull(
      ({ state, rule, escalation }) => state && nextEscalationMs(state, rule.severity, escalation),
    ),
    when: value(words, ({ rule }) => rule.condition.when),
    description: value(words, ({ rule }) => rule.condition.description),
    impact: value(words, ({ rule }) => rule.condition.impact),
    action: value(words, ({ rule }) => rule.condition.action),
    runbook: value(words, ({ rule }) => runbookFile(rule.condition.name)),
    for_seconds: value(z.number(), ({ rule }) => rule.forMs / 1000),
    resolve_for_seconds: value(z.number(), ({ rule }) => rule.resolveForMs / 1000),
    thresholds: value(z.record(words, z.number()), ({ rule }) => ({ ...rule.limits })),
    inhibits: values(words, ({ rule }) => rule.condition.inhibits),
  }),
);
