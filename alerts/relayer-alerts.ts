import type { ProblemCode } from "../src/relayer/health/problems.ts";
import type { AlertSpec, GroupSpec } from "./alert-spec.ts";
import { alertNameOf } from "./alert-name.ts";
import { DASHBOARDS } from "./links.ts";
import { CHAIN_CONDITIONS } from "./relayer-chain-conditions.ts";
import type { RelayerCondition } from "./relayer-condition.ts";
import { WORK_CONDITIONS } from "./relayer-work-conditions.ts";
import type { Times } from "./times.ts";

/** Alerts of the relayer, from its problems and its other metrics. */
export const RELAYER_GROUP: GroupSpec = {
  name: "icq-relayer.alerts",
  records: [],
  alerts: [...CHAIN_CONDITIONS, ...WORK_CONDITIONS].map(toSpec),
};

function toSpec(condition: RelayerCondition): AlertSpec {
  const { name, severity, title, description, impact, problems = [], example } = condition;
  const [code] = problems;
  const given = condition.expr;
  return {
    name,
    alert: alertNameOf(name),
    component: "icq-relayer",
    severity,
    summary: `${title}.`,
    description: `{{ $labels.${condition.scope === undefined ? "instance" : "job"} }}: ${description}`,
    impact,
    expr: given ?? ((times) => present(problems, times)),
    for: condition.for,
    dashboard: DASHBOARDS.relayer,
    inhibits: condition.inhibits ?? [],
    scope: condition.scope ?? ["job", "instance"],
    example:
      example ??
      (code === undefined
        ? undefined
        : {
            fires: [{ series: `relaywatch_relayer_problems{$,code="${code}"}`, from: 1 }],
            clears: [{ series: `relaywatch_relayer_problems{$,code="${code}"}`, from: 0 }],
          }),
  };
}

/** One failed scrape neither ends nor repeats the alert. */
function present(problems: readonly ProblemCode[], times: Times): string {
  const matcher = problems.length === 1 ? `code="${problems[0]}"` : `code=~"${problems.join("|")}"`;
  return `max by (job, instance) (last_over_time(relaywatch_relayer_problems{${matcher}}[${times("2m")}])) > 0`;
}
