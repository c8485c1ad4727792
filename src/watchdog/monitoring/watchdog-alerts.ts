import { alertName, type Condition, type Threshold } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import type { AlertSpec, GroupSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { panelOf } from "../alerts/event-links.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import { runbookRoute, type ServedRunbook } from "../../platform/monitoring/alerts/runbook-route.ts";

/**
 * The watchdog's alerts, generated from its table of conditions. The watchdog has already applied durations and hysteresis, so
 * the rules have no `for`. They have the same labels as the alerts that the watchdog pushes to Alertmanager, so that Alertmanager
 * merges alerts that arrive on both paths.
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
    // A restart of the watchdog neither ends the alert nor repeats it.
    expr: (times) =>
      `max by (chain_id, validator) (last_over_time(oracle_watchdog_alert_firing{alert="${name}"}[${times("5m")}])) > 0`,
    for: "0s",
    cause: panelOf(name),
    inhibits,
    scope: ["chain_id", "validator"],
    example: { fires: [{ series, from: 1 }], clears: [{ series, from: 0 }] },
  };
}

export function alertTable(conditions: readonly Condition[]): string {
  const monthAlerts = conditions.map(({ name }) => name).filter((name) => /-reward-(?!lost)/.test(name));
  const rows = conditions.map(({ name, severity, when, for: lasting, thresholds, inhibits }) =>
    [
      `\`${name}\``,
      severity,
      when.replaceAll("|", "\\|"),
      lasting,
      thresholdTexts(thresholds).join(", "),
      mutedTexts(inhibits, monthAlerts).join(", "),
    ].join(" | "),
  );
  return [
    "| alert | severity | fires when | for | thresholds | mutes |",
    "|---|---|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
    "",
  ].join("\n");
}

/** Describes the muted alerts. Alerts about the month's rate form a single entry if they are all muted. */
function mutedTexts(names: readonly string[], monthAlerts: readonly string[]): readonly string[] {
  const hasAll = monthAlerts.length > 0 && monthAlerts.every((name) => names.includes(name));
  const others = names.filter((name) => !hasAll || !monthAlerts.includes(name)).map((name) => `\`${name}\``);
  return hasAll ? [...others, "*month*"] : others;
}

function thresholdTexts(thresholds: Condition["thresholds"]): readonly string[] {
  return Object.entries(thresholds).map(([key, threshold]) => `\`${key}\` ${valueText(threshold)}`);
}

function valueText({ unit, initial }: Threshold): string {
  if (unit === "duration") return durationText(initial);
  return unit === "percent" ? `${initial} %` : String(initial);
}

/** `GET /runbooks/NAME.md`: runbooks for the watchdog's alerts. */
export const RUNBOOK_ROUTE: ApiRoute = runbookRoute(
  new Map(CONDITIONS.map((condition) => [condition.name, servedRunbook(condition)])),
);

function servedRunbook({ title, description, impact, when, for: lasting }: Condition): ServedRunbook {
  const rule = `It fires when ${when.replaceAll("`", "")}, for ${lasting} unless the configuration says otherwise.`;
  return { title, meaning: description, impact, rule };
}
