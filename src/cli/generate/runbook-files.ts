import type { Condition } from "../../watchdog/conditions/condition.ts";
import { CONDITIONS } from "../../watchdog/conditions/conditions.ts";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { withoutTemplates } from "../../platform/monitoring/alerts/runbook-route.ts";
import { type Check, runbookText } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { conditionChecks } from "../../watchdog/monitoring/condition-runbook.ts";
import { ALERTS } from "./rules.ts";
import { REAL_TIMES } from "../../platform/monitoring/alerts/times.ts";
import { DASHBOARD_SPECS } from "./dashboard-files.ts";

const DASHBOARD_TITLES: ReadonlyMap<string, string> = new Map(
  DASHBOARD_SPECS.map(({ uid, title }) => [uid, title]),
);

/** Returns all runbooks by their path in the repository. */
export function runbookFiles(): ReadonlyMap<string, string> {
  const names = [...new Set(ALERTS.map(({ name }) => name))];
  return new Map(
    names.map((name) => [`alerts/runbooks/${name}.md`, page(ALERTS.filter((alert) => alert.name === name))]),
  );
}

/** Returns a Markdown table with all alerts and links to their runbooks, relative to `alerts/README.md`. */
export function runbookIndex(): string {
  const firstOfName = ALERTS.filter(
    (alert, index) => ALERTS.findIndex(({ name }) => name === alert.name) === index,
  );
  const rows = firstOfName.map(
    ({ name, alert, severity, summary }) =>
      `| [${summary.slice(0, -1)}](runbooks/${name}.md) | \`${alert}\` | ${severity} |`,
  );
  return ["| alert | name | severity |", "|---|---|---|", ...rows, ""].join("\n");
}

/** A runbook's checks, beginning with the one that all watchdog alerts share. */
export function checksOf({ name, component, runbook }: AlertSpec): readonly Check[] {
  const condition = CONDITIONS.find((one) => one.name === name);
  return condition === undefined || component === "relaywatch" ? runbook.checks : conditionChecks(condition);
}

function page(alerts: readonly AlertSpec[]): string {
  const [alert] = alerts;
  if (alert === undefined) throw new Error("a runbook without an alert");
  const condition = CONDITIONS.find((one) => one.name === alert.name);
  return [
    runbookText({
      title: alert.summary.slice(0, -1),
      meaning: condition?.description ?? plain(alert.description),
      impact: impact(alert, condition),
      checks: checksOf(alert),
      body: alert.runbook,
    }),
    "## Rule",
    `\`${alert.alert}\`, ${alert.severity}. Dashboards: ${[...new Set(alerts.map(({ dashboard }) => DASHBOARD_TITLES.get(dashboard) ?? dashboard))].join(", ")}.`,
    rule(alerts, condition),
    "[Notes for all runbooks](../README.md#working-on-an-alert)",
    "",
  ].join("\n\n");
}

function rule(alerts: readonly AlertSpec[], condition: Condition | undefined): string {
  const raw = alerts.find(({ component }) => component === "oracle-raw");
  if (condition === undefined) return promql(alerts[0]);
  const fires = `It fires when ${condition.when.replaceAll("`", "")}, for ${condition.for}.`;
  return raw === undefined
    ? fires
    : `${fires} Without the watchdog, this rule on the metrics of node and sidecar fires:\n\n${promql(raw)}`;
}

function promql(alert: AlertSpec | undefined): string {
  return `\`\`\`promql\n${alert?.expr(REAL_TIMES) ?? ""}\n\`\`\``;
}

/** Replaces templates by words. */
function plain(description: string): string {
  return withoutTemplates(
    description.replace(/^(?:\{\{ \$labels\.(?:instance|job|connection_id) \}\} ?)+: /, ""),
  );
}

function impact(alert: AlertSpec, condition: Condition | undefined): string {
  const paid = condition === undefined ? "" : " [How blocks become pay](../README.md#how-blocks-become-pay).";
  return `${alert.impact}${paid}`;
}
