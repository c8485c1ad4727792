import { alertName, type Condition } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import type { AlertSpec, GroupSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { panelOf } from "../alerts/event-links.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import { runbookRoute, type ServedRunbook } from "../../platform/monitoring/alerts/runbook-route.ts";

/**
 * The alert rules for the watchdog's conditions. The rules have no `for`, because the watchdog has already applied durations and
 * hysteresis. The alerts have the same labels as alerts that the watchdog itself pushes to Alertmanager. Alertmanager therefore
 * merges an alert that arrives from both Prometheus and the watchdog.
 */
export const WATCHDOG_GROUP: GroupSpec = {
  name: "oracle-watchdog.alerts",
  records: [],
  alerts: CONDITIONS.map(watchdogAlert),
};

function watchdogAlert(condition: Condition): AlertSpec {
  const { name, severity, title, description, impact, inhibits } = condition;
  const series = `oracle_watchdog_alert_firing{$,alert="${name}",severity="${severity}"}`;
  return {
    name,
    alert: alertName(name),
    component: "oracle-watchdog",
    severity,
    summary: `${title}.`,
    description: `{{ $labels.validator }} on {{ $labels.chain_id }}: ${title}. ${description} Run relaywatch why for the cause with current values.`,
    impact,
    // Use the last 5 minutes, so that a watchdog restart neither ends nor repeats the alert.
    expr: (times) =>
      `max by (chain_id, validator) (last_over_time(oracle_watchdog_alert_firing{alert="${name}"}[${times("5m")}])) > 0`,
    for: "0s",
    cause: panelOf(name),
    inhibits,
    scope: ["chain_id", "validator"],
    example: { fires: [{ series, from: 1 }], clears: [{ series, from: 0 }] },
  };
}

/** The route `GET /runbooks/NAME.md`, which serves the runbook of the alert NAME. */
export const RUNBOOK_ROUTE: ApiRoute = runbookRoute(
  new Map(CONDITIONS.map((condition) => [condition.name, servedRunbook(condition)])),
);

function servedRunbook({ title, description, impact, when, for: lasting }: Condition): ServedRunbook {
  const rule = `It fires when ${when.replaceAll("`", "")}, for ${lasting} unless the configuration says otherwise.`;
  return { title, meaning: description, impact, rule };
}
