import { errorReply, type HttpRoute } from "../../platform/http/http-route.ts";
import { type Check, runbookText } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { type Condition, runbookFile } from "../conditions/condition.ts";
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

const BY_FILE = new Map(CONDITIONS.map((condition) => [runbookFile(condition.name), condition]));

/** `GET /runbooks/NAME.md`: the runbooks of the watchdog's alerts as text, so that links to them work without another server. */
export const RUNBOOK_ROUTE: HttpRoute = {
  method: "GET",
  path: "/runbooks/:file",
  handle: ({ params }) => {
    const condition = BY_FILE.get(params["file"] ?? "");
    if (condition === undefined)
      return errorReply(
        404,
        "no-such-runbook",
        `there is no such runbook; known: ${[...BY_FILE.keys()].join(", ")}`,
      );
    const { title, description, impact, when, for: lasting, runbook } = condition;
    const text = runbookText({
      title,
      meaning: description,
      impact,
      checks: conditionChecks(condition),
      body: runbook,
    });
    const rule = `## Rule\n\nIt fires when ${when.replaceAll("`", "")}, for ${lasting} unless the configuration says otherwise.`;
    return {
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
      body: `${text}\n\n${rule}\n`,
    };
  },
};
