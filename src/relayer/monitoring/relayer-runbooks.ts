import type { ApiRoute } from "../../platform/http/route-about.ts";
import {
  runbookPath,
  runbookRoute,
  withoutTemplates,
} from "../../platform/monitoring/alerts/runbook-route.ts";
import type { ProblemCode } from "../health/problems.ts";
import { RELAYER_CONDITIONS } from "./relayer-alerts.ts";

/** `GET /runbooks/NAME.md`: serves the runbooks of the relayer's alerts. */
export const RELAYER_RUNBOOKS: ApiRoute = runbookRoute(
  new Map(
    RELAYER_CONDITIONS.map(({ name, title, description, impact }) => [
      name,
      { title, meaning: withoutTemplates(description), impact },
    ]),
  ),
);

const NAMES: ReadonlyMap<ProblemCode, string> = new Map(
  RELAYER_CONDITIONS.flatMap(({ name, problems = [] }) => problems.map((code) => [code, name] as const)),
);

/** Returns the URL of a problem's runbook; undefined if the problem has no alert. */
export function problemRunbook(code: ProblemCode): string | undefined {
  const name = NAMES.get(code);
  return name === undefined ? undefined : `/${runbookPath(name)}`;
}
