import type { ApiRoute } from "../../platform/http/route-about.ts";
import { runbookRoute, type ServedRunbook } from "../../platform/monitoring/alerts/runbook-route.ts";
import type { Condition } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";

/** `GET /runbooks/NAME.md`: runbooks for the watchdog's alerts. */
export const RUNBOOK_ROUTE: ApiRoute = runbookRoute(
  new Map(CONDITIONS.map((condition) => [condition.name, servedRunbook(condition)])),
);

function servedRunbook({ title, description, impact, when, for: lasting }: Condition): ServedRunbook {
  const rule = `It fires when ${when.replaceAll("`", "")}, for ${lasting} unless the configuration says otherwise.`;
  return { title, meaning: description, impact, rule };
}
