import type { AlertSpec, GroupSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { SELF_GROUP } from "../../platform/monitoring/alerts/self-alerts.ts";
import { RELAYER_GROUP } from "../../relayer/monitoring/relayer-alerts.ts";
import { RAW_GROUPS } from "../../watchdog/monitoring/raw-alerts.ts";
import { WATCHDOG_GROUP } from "../../watchdog/monitoring/watchdog-alerts.ts";

/** Rule groups, keyed by the name of their rule file. */
export const RULE_FILES: ReadonlyMap<string, readonly GroupSpec[]> = new Map([
  ["oracle-watchdog.rules.yaml", [WATCHDOG_GROUP]],
  ["oracle-raw.rules.yaml", RAW_GROUPS],
  ["icq-relayer.rules.yaml", [RELAYER_GROUP]],
  ["relaywatch.rules.yaml", [SELF_GROUP]],
]);

/** All alerts, in the order in which the rule files list them. */
export const ALERTS: readonly AlertSpec[] = [...RULE_FILES.values()].flat().flatMap(({ alerts }) => alerts);
