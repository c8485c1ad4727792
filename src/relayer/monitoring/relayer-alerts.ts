import { CONNECTION_PROBLEM_CODES, type ProblemCode } from "../health/problems.ts";
import { type AlertSpec, type GroupSpec, alertNameOf } from "../../platform/monitoring/alerts/alert-spec.ts";
import {
  causeOf,
  DASHBOARDS,
  type PanelLink,
  type PanelsByAlert,
} from "../../platform/monitoring/alerts/links.ts";
import { CONNECTION_SCOPE, type RelayerCondition } from "./relayer-condition.ts";
import {
  ACCOUNT_CONDITIONS,
  CHAIN_CONDITIONS,
  ENDPOINT_CONDITIONS,
} from "./relayer-dependency-conditions.ts";
import { COST_CONDITIONS, RESULT_CONDITIONS } from "./relayer-result-conditions.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import {
  runbookPath,
  runbookRoute,
  withoutTemplates,
} from "../../platform/monitoring/alerts/runbook-route.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

const OF_CONNECTIONS: ReadonlySet<ProblemCode> = new Set(CONNECTION_PROBLEM_CODES);

const relayer = (panel: string): PanelLink => ({ dashboard: DASHBOARDS.relayer, panel });
const costs = (panel: string): PanelLink => ({ dashboard: DASHBOARDS.costs, panel });

const CAUSES: PanelsByAlert = [
  [/-account-low$/, costs("Account or fee grant empty in")],
  [/-account-/, costs("Balance")],
  [/-price-rising$/, costs("Gas price")],
  [/-over-budget$/, costs("This month and its budget")],
  [/-above-budget$|-near-limit$/, costs("Spent today")],
  [/-demand-/, costs("Budget phase")],
  [/-client-(?:nearly-expired|expiring)$/, relayer("Time until the light client expires")],
  [
    /-client-|-store-|-lease-|-leader$|-subscription-/,
    relayer("Role, gate, subscription, light clients, store"),
  ],
  [/-lagging$/, relayer("Endpoints behind")],
  [/-unreachable$|-endpoint-/, relayer("Endpoints")],
  [/-chain-halted$|-catching-up$/, relayer("Age of the newest block")],
  [/-backing-off$/, relayer("Queries backing off")],
  [/-overdue$|-standing-still$/, relayer("Queries")],
  [/-dead-letters$/, relayer("Store writes and dead letters")],
  [/-pruned-/, { dashboard: DASHBOARDS.query, panel: "Pruned blocks" }],
  [/-failed$|-failing$|-not-sending$/, relayer("Transactions and cycles")],
  [/-state-unknown$|-starting$/, relayer("Failed RPC calls")],
];

/** The conditions of all relayer alerts, in the order of the generated rules. */
export const RELAYER_CONDITIONS: readonly RelayerCondition[] = [
  ...CHAIN_CONDITIONS,
  ...ACCOUNT_CONDITIONS,
  ...RESULT_CONDITIONS,
  ...ENDPOINT_CONDITIONS,
  ...COST_CONDITIONS,
];

/** The relayer's alerts, which are based on its problems and other metrics. */
export const RELAYER_GROUP: GroupSpec = {
  name: "icq-relayer.alerts",
  records: [],
  alerts: RELAYER_CONDITIONS.map(toSpec),
};

function toSpec(condition: RelayerCondition): AlertSpec {
  const { name, severity, title, description, impact, problems = [], example } = condition;
  const [code] = problems;
  const given = condition.expr;
  const ofConnection = code !== undefined && OF_CONNECTIONS.has(code);
  const scope = condition.scope ?? (ofConnection ? CONNECTION_SCOPE : ["job", "instance"]);
  const series = `relaywatch_relayer_problems{$,code="${code}"${ofConnection ? ',connection_id="connection-0"' : ""}}`;
  return {
    name,
    alert: alertNameOf(name),
    component: "icq-relayer",
    severity,
    summary: `${title}.`,
    description: `${placeText(scope)}: ${description}`,
    impact,
    expr: given ?? ((times) => present(problems, scope, times)),
    for: condition.for,
    cause: causeOf(name, CAUSES),
    inhibits: condition.inhibits ?? [],
    scope,
    example:
      example ??
      (code === undefined
        ? undefined
        : {
            fires: [{ series, from: 1 }],
            clears: [{ series, from: 0 }],
          }),
  };
}

/** Returns the labels that identify an alert's source. Omits the job if there is an instance, because the instance identifies the job. */
function placeText(scope: readonly string[]): string {
  const labels = scope.includes("instance") ? scope.filter((label) => label !== "job") : scope;
  return labels.map((label) => `{{ $labels.${label} }}`).join(" ");
}

/** Returns an expression that selects current problems. A single failed scrape neither ends nor repeats the alert. */
function present(problems: readonly ProblemCode[], scope: readonly string[], times: Times): string {
  const matcher = problems.length === 1 ? `code="${problems[0]}"` : `code=~"${problems.join("|")}"`;
  return `max by (${scope.join(", ")}) (last_over_time(relaywatch_relayer_problems{${matcher}}[${times("2m")}])) > 0`;
}

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
