import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import {
  RUNBOOK_FOLDER,
  runbookHead,
  withoutTemplates,
  writtenPart,
} from "../../platform/monitoring/alerts/runbook-route.ts";
import type { Condition } from "../../watchdog/conditions/condition.ts";
import { CONDITIONS } from "../../watchdog/conditions/conditions.ts";
import { DASHBOARD_SPECS } from "./dashboards.ts";
import { withSection } from "./marked-sections.ts";
import { ALERTS } from "./rules.ts";

const DASHBOARD_TITLES: ReadonlyMap<string, string> = new Map(
  DASHBOARD_SPECS.map(({ uid, title }) => [uid, title]),
);

/** Alerts keyed by runbook name, in rule file order. */
export const ALERTS_BY_RUNBOOK: ReadonlyMap<string, readonly AlertSpec[]> = new Map(
  ALERTS.map(({ name }) => [name, ALERTS.filter((alert) => alert.name === name)]),
);

export function runbookPathOf(name: string): string {
  return `${RUNBOOK_FOLDER}/${name}.md`;
}

/**
 * Returns every alert's runbook with up-to-date generated sections, keyed by path in the repository `root`. An alert without a
 * runbook file gets a template without handwritten text. A runbook without section markers is left unchanged.
 */
export function runbookFiles(root: string): ReadonlyMap<string, string> {
  return new Map(
    [...ALERTS_BY_RUNBOOK].map(([name, alerts]) => {
      const path = runbookPathOf(name);
      const file = join(root, path);
      return [
        path,
        withSections(existsSync(file) ? readFileSync(file, "utf8") : emptyRunbook(alerts), alerts),
      ];
    }),
  );
}

function withSections(file: string, alerts: readonly AlertSpec[]): string {
  if (writtenPart(file) === undefined) return file;
  return withSection(withSection(file, "alert", `${head(alerts)}\n`), "rule", `${ruleSection(alerts)}\n`);
}

function emptyRunbook(alerts: readonly AlertSpec[]): string {
  return `---
alert: ${alerts[0]?.alert ?? ""}
commands: []
---

<!-- generated:alert -->
<!-- end:alert -->

## Diagnosis

## Mitigation

## Afterwards

<!-- generated:rule -->
<!-- end:rule -->
`;
}

function head([alert]: readonly AlertSpec[]): string {
  if (alert === undefined) throw new Error("no alert has this runbook");
  const condition = conditionOf(alert);
  return runbookHead({
    title: alert.summary.slice(0, -1),
    meaning: condition?.description ?? plain(alert.description),
    impact: alert.impact,
  });
}

function ruleSection(alerts: readonly AlertSpec[]): string {
  const [alert] = alerts;
  if (alert === undefined) throw new Error("no alert has this runbook");
  const dashboards = new Set(
    alerts.map(
      ({ cause: { dashboard, panel } }) => `"${panel}" in "${DASHBOARD_TITLES.get(dashboard) ?? dashboard}"`,
    ),
  );
  const condition = conditionOf(alert);
  const rules = alerts.filter(({ component }) => condition === undefined || component === "oracle-raw");
  return [
    "## Rule",
    [
      `- Alert: \`${alert.alert}\` (${alert.severity})${rulesText(rules, condition)}`,
      `- Dashboard panel: ${[...dashboards].join("; ")}`,
      "- See also: [working on an alert](../README.md#working-on-an-alert)",
    ].join("\n"),
    ...(condition === undefined ? [] : [firesText(condition)]),
  ].join("\n\n");
}

function conditionOf({ name }: AlertSpec): Condition | undefined {
  return CONDITIONS.find((one) => one.name === name);
}

function firesText({ when, for: lasting }: Condition): string {
  const lasts = lasting === "0s" ? "" : ` this condition has been true for ${lasting}:`;
  return `The alert fires when${lasts} ${when.replaceAll("`", "")}.`;
}

/**
 * Returns a text that names the rule files with the alert's expression. The watchdog evaluates conditions itself, so only users
 * without the watchdog need these files.
 */
function rulesText(alerts: readonly AlertSpec[], condition: Condition | undefined): string {
  if (alerts.length === 0) return "";
  return condition === undefined
    ? `, with its Prometheus rule in ${ruleFiles(alerts)}`
    : `. If you do not run the watchdog, use the Prometheus rule in ${ruleFiles(alerts)}`;
}

/** Returns links to the files that contain the alerts' expressions. */
function ruleFiles(alerts: readonly AlertSpec[]): string {
  const names = new Set(alerts.map(({ component }) => `${component}.rules.yaml`));
  return [...names].map((name) => `[${name}](../prometheus/${name})`).join(", ");
}

/** Converts a description to plain text: removes the leading instance and replaces templates with words. */
function plain(description: string): string {
  return withoutTemplates(
    description.replace(/^(?:\{\{ \$labels\.(?:instance|job|connection_id) \}\} ?)+: /, ""),
  );
}
