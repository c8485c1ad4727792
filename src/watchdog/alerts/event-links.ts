import { DASHBOARDS, type PublicLinks } from "../../platform/monitoring/alerts/links.ts";
import { runbookPath } from "../../platform/monitoring/alerts/runbook-route.ts";
import { runbookFile } from "../conditions/condition.ts";
import type { AlertEvent } from "./alert-event.ts";

/** Where people find the pages that notifications lead to. */
export interface LinkRoots extends PublicLinks {
  /** URL of the folder of the runbooks, with a slash at its end; empty: not known. */
  readonly runbooks: string;
}

/** Uid of the dashboard that shows the cause of an alert. */
export function dashboardOf(alert: string): string {
  return /-reward-|^rotation/.test(alert) ? DASHBOARDS.paid : DASHBOARDS.fleet;
}

/** Id of an alert's element on the page. */
export function conditionId(validator: string, alert: string): string {
  return `condition-${validator}-${alert}`;
}

/**
 * Returns the links of a notification. The runbook is a URL when the folder of the runbooks or the watchdog's own page is known, and
 * otherwise the name of its file.
 */
export function eventLinks(
  { runbooks, watchdog, grafana }: LinkRoots,
  { alert, validator, chainId }: Pick<AlertEvent, "alert" | "validator" | "chainId">,
): Pick<AlertEvent, "runbook" | "dashboard" | "page"> {
  const own = runbooks !== "" || watchdog === undefined ? undefined : `${watchdog}${runbookPath(alert)}`;
  const place = `var-chain=${encodeURIComponent(chainId)}&var-validator=${encodeURIComponent(validator)}`;
  return {
    runbook: own ?? `${runbooks}${runbookFile(alert)}`,
    ...(grafana === undefined ? {} : { dashboard: `${grafana}d/${dashboardOf(alert)}?${place}` }),
    ...(watchdog === undefined ? {} : { page: `${watchdog}#${conditionId(validator, alert)}` }),
  };
}
