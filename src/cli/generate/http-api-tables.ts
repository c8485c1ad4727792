import { z } from "zod";
import { CHAIN_API, LOCALNET_METRICS_ROUTE } from "../../localnet/control/control-api.ts";
import { FAULT_API } from "../../localnet/control/fault-control.ts";
import { IBC_RELAYER_ROUTE } from "../../localnet/ibc-relayer/status.ts";
import { OVERVIEW_PAGE } from "../../localnet/network/overview-page.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { CONTROL_API } from "../../platform/http/daemon-control-routes.ts";
import { OPENAPI_ROUTE } from "../../platform/http/openapi.ts";
import type { RouteDefinition } from "../../platform/http/route-about.ts";
import { RUNBOOK_DEFINITION } from "../../platform/monitoring/alerts/runbook-route.ts";
import { type LivePlace, pageDefinition } from "../../platform/web/live-page.ts";
import { OVERVIEW_ROUTE, PARTS_PAGE } from "../../platform/web/overview.ts";
import { RELAYER_API, RELAYER_PAGES } from "../../relayer/api/relayer-api.ts";
import { watchdogPages } from "../../watchdog/page/create-page.ts";
import { INCIDENTS_ROUTE, REPORT_DATA_ROUTE } from "../../watchdog/report/report-data.ts";
import { WATCHDOG_API } from "../../watchdog/watchdog-api.ts";
import { CONTRACT_PAGE, PROFILE_ROUTE } from "../../workbench/contract-page.ts";
import { markdownTable } from "./marked-sections.ts";

/** All routes of each server, except the update streams of the server's pages. */
export const SERVER_ROUTES: Readonly<
  Record<"relayer" | "watchdog" | "localnet", readonly RouteDefinition[]>
> = {
  relayer: [
    ...pages([...Object.values(RELAYER_PAGES), PARTS_PAGE]),
    ...Object.values(RELAYER_API),
    OVERVIEW_ROUTE,
    RUNBOOK_DEFINITION,
    ...Object.values(CONTROL_API),
    OPENAPI_ROUTE,
  ],
  watchdog: [
    ...pages([...watchdogPages(unread), PARTS_PAGE]),
    ...Object.values(WATCHDOG_API),
    INCIDENTS_ROUTE,
    REPORT_DATA_ROUTE,
    OVERVIEW_ROUTE,
    RUNBOOK_DEFINITION,
    ...Object.values(CONTROL_API),
    OPENAPI_ROUTE,
  ],
  localnet: [
    ...pages([OVERVIEW_PAGE, CONTRACT_PAGE]),
    ...Object.values(CHAIN_API),
    ...Object.values(FAULT_API),
    PROFILE_ROUTE,
    IBC_RELAYER_ROUTE,
    OVERVIEW_ROUTE,
    LOCALNET_METRICS_ROUTE,
    OPENAPI_ROUTE,
  ],
};

/** Routes that work the same way in both daemons. */
const DAEMON_ROUTES: ReadonlySet<RouteDefinition> = new Set([
  OVERVIEW_ROUTE,
  RUNBOOK_DEFINITION,
  ...Object.values(CONTROL_API),
  OPENAPI_ROUTE,
]);

/** Returns the tables for docs/http-api.md, keyed by section. */
export function httpApiTables(): Readonly<Record<string, string>> {
  const own = (routes: readonly RouteDefinition[]) => routes.filter((route) => !DAEMON_ROUTES.has(route));
  const { relayer, watchdog, localnet } = SERVER_ROUTES;
  return {
    "daemon routes": routeTable([...DAEMON_ROUTES]),
    "relayer routes": routeTable(own(relayer)),
    "watchdog routes": routeTable(own(watchdog)),
    "localnet routes": routeTable(localnet),
  };
}

function pages(shown: readonly LivePlace[]): readonly RouteDefinition[] {
  return shown.map(pageDefinition);
}

/** Throws if called, because the tables list the pages without rendering their content. */
function unread(): never {
  return unreachable("a page is only listed");
}

/** Formats routes, except the pages' update streams, as a Markdown table. */
function routeTable(routes: readonly RouteDefinition[]): string {
  const rows = routes
    .filter(({ about }) => about.replies[200]?.mediaType !== "text/event-stream")
    .map(({ method, path, about: { summary, query = {}, body } }) => {
      const parameters = Object.entries(query).map(([name, text]) => `\`${name}\`: ${text}`);
      // Omit the field names if the summary contains an example.
      const fields = body === undefined || summary.includes("{") ? [] : [`body: ${namesOf(body)}`];
      const verb = method === "GET" ? "" : `${method} `;
      return [`\`${verb}${path}\``, [summary, ...fields, ...parameters].join("; ").replaceAll("|", "\\|")];
    });
  return markdownTable(["route", "response or effect"], rows);
}

function namesOf(body: z.ZodType): string {
  if (!(body instanceof z.ZodObject)) return unreachable("the body of a request is an object");
  return Object.keys(body.shape)
    .map((name) => `\`${name}\``)
    .join(", ");
}
