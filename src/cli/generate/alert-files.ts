import {
  alertmanagerExample,
  alertmanagerLocalnet,
  prometheusExample,
  prometheusLocalnet,
} from "./alert-config-examples.ts";
import { caseFiles } from "./case-files.ts";
import { MONTH_FILES } from "../../watchdog/monitoring/month-cases.ts";
import { runbookFiles } from "./runbook-files.ts";
import { ruleFile } from "../../platform/monitoring/alerts/rule-files.ts";
import { RULE_FILES } from "./rules.ts";
import { REAL_TIMES } from "../../platform/monitoring/alerts/times.ts";

/** Returns every generated file in `alerts`, by its path in the repository. */
export function alertFiles(): ReadonlyMap<string, string> {
  return new Map<string, string>([
    ...[...RULE_FILES].map(
      ([name, groups]) => [`alerts/prometheus/${name}`, ruleFile(groups, REAL_TIMES)] as const,
    ),
    ...[...RULE_FILES.keys()].flatMap((name) => [...caseFiles(name)].map(inTests)),
    ...MONTH_FILES.map(inTests),
    ["alerts/prometheus/prometheus.example.yaml", prometheusExample()],
    ["alerts/prometheus/prometheus.localnet.yaml", prometheusLocalnet()],
    ["alerts/alertmanager/alertmanager.example.yaml", alertmanagerExample()],
    ["alerts/alertmanager/alertmanager.localnet.yaml", alertmanagerLocalnet()],
    ...runbookFiles(),
  ]);
}

function inTests([name, content]: readonly [string, string]): readonly [string, string] {
  return [`alerts/prometheus/tests/${name}`, content];
}
