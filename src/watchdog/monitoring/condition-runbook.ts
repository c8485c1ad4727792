import type { HttpRoute } from "../../platform/http/http-route.ts";
import { runbookRoute } from "../../platform/monitoring/alerts/runbook-route.ts";
import { type Check, runbookText } from "../../platform/monitoring/alerts/runbook-spec.ts";
import type { Condition } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";

/** A condition's checks, beginning with the one that all of them share. */
export function conditionChecks(condition: Condition): readonly Check[] {
  const { runbook } = condition;
  if (runbook.reason === undefined) return runbook.checks;
  const text = "Confirm it, and see which other alerts fire for the same cause:";
  return [{ text, run: "why", sample: whySample(condition, runbook.reason) }, ...runbook.checks];
}

function whySample({ title, severity }: Condition, reason: string): string {
  const heading = `default: ${title} (${severity})`;
  return [
    "Why\n===\n",
    heading,
    "-".repeat(heading.length),
    "",
    `Since 2026-11-22 05:54 UTC: ${reason}.`,
    "",
    "Misses of this month",
    "--------------------",
  ].join("\n");
}

/** `GET /runbooks/NAME.md`: the runbooks of the watchdog's alerts. */
export const RUNBOOK_ROUTE: HttpRoute = runbookRoute(
  new Map(CONDITIONS.map((condition) => [condition.name, () => conditionRunbook(condition)])),
);

function conditionRunbook(condition: Condition): string {
  const { title, description, impact, when, for: lasting, runbook } = condition;
  const checks = conditionChecks(condition);
  const text = runbookText({ title, meaning: description, impact, checks, body: runbook });
  const rule = `It fires when ${when.replaceAll("`", "")}, for ${lasting} unless the configuration says otherwise.`;
  return `${text}\n\n## Rule\n\n${rule}`;
}
