import { AROUND_ALERT_MS, causeOf, DASHBOARDS, panelPath } from "../../platform/monitoring/alerts/links.ts";
import type { PanelLink, PanelsByAlert, PublicLinks } from "../../platform/monitoring/alerts/links.ts";
import { runbookPath } from "../../platform/monitoring/alerts/runbook-route.ts";
import { runbookFile } from "../conditions/condition.ts";
import type { AlertEvent } from "./alert-event.ts";

/** Base URLs of the pages that notifications link to. */
export interface LinkRoots extends PublicLinks {
  /** URL of the runbook folder, with a trailing slash; empty if unknown. */
  readonly runbooks: string;
}

const paid = (panel: string): PanelLink => ({ dashboard: DASHBOARDS.paid, panel });
const onChain = (panel: string): PanelLink => ({ dashboard: DASHBOARDS.validator, panel });

const CAUSES: PanelsByAlert = [
  [/-burn$|^oracle-calls-|^sidecar-(?:too-)?slow$|^not-signing$|^node-not-voting$/, paid("Burn rate")],
  [/-reward-/, paid("Headroom")],
  [/^rotation-/, paid("Rotation")],
  [/^prices-differ-/, onChain("Price deviations")],
  [/prices?-|pairs-|^websocket-/, paid("Pairs with prices")],
  [/^chain-halted$|^node-/, paid("Blocks")],
  [/jail|tombstoned|^not-in-validator-set$/, onChain("Signing window")],
  [/^upgrade-/, onChain("Time until the upgrade")],
  [/^network-votes-/, onChain("Others that also miss")],
  [/^payment-/, onChain("Last month's payment")],
  [/^watchdog-slow$/, { dashboard: DASHBOARDS.fleet, panel: "Scrape duration and poll lateness" }],
  [/^clock-not-believed$/, { dashboard: DASHBOARDS.fleet, panel: "Age of the last poll and of each source" }],
  [/^notifications?-/, { dashboard: DASHBOARDS.process, panel: "Pending and given up" }],
  [/./, paid("Sources")],
];

/** Returns the dashboard panel that shows an alert's cause. */
export function panelOf(alert: string): PanelLink {
  return causeOf(alert, CAUSES);
}

/** Returns the id of an alert's element on the watchdog's page. */
export function conditionId(validator: string, alert: string): string {
  return `condition-${validator}-${alert}`;
}

/**
 * Returns a notification's links. The runbook link is only a file name unless the URL of the runbook folder or of the watchdog's
 * page is known.
 */
export function eventLinks(
  { runbooks, watchdog, grafana }: LinkRoots,
  event: Pick<AlertEvent, "alert" | "validator" | "chainId" | "sinceMs" | "atMs">,
): Pick<AlertEvent, "runbook" | "dashboard" | "page"> {
  const { alert, validator, chainId, sinceMs, atMs } = event;
  const { before, after } = AROUND_ALERT_MS;
  const place = `var-chain=${encodeURIComponent(chainId)}&var-validator=${encodeURIComponent(validator)}`;
  const times = `from=${sinceMs - before}&to=${atMs + after}`;
  return {
    runbook:
      runbooks === "" && watchdog !== undefined
        ? `${watchdog}${runbookPath(alert)}`
        : `${runbooks}${runbookFile(alert)}`,
    dashboard: grafana && `${grafana}${panelPath(panelOf(alert))}&${place}&${times}`,
    page:
      watchdog && `${watchdog}validators/${encodeURIComponent(validator)}#${conditionId(validator, alert)}`,
  };
}
