import { counted, formatDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { ago, badge, type Column, dataTable } from "../../platform/web/parts.ts";
import { blocksBehind } from "../api/status-json.ts";
import { gravestOf, isBlind } from "./overview-section.ts";
import type { ConnectionStatus, EndpointStatus, QueryView, RelayerStatus } from "../api/status.ts";

/** One row for each connection: remote chain, light client, lateness of its queries. */
export function connectionSection(status: RelayerStatus): Html {
  const { connections, queries, problems, nowMs } = status;
  const columns: readonly Column<ConnectionStatus>[] = [
    { name: "connection", cell: ({ id }) => id },
    {
      name: "state",
      cell: ({ id }) =>
        stateBadge(gravestOf(problems.filter(({ connectionId }) => connectionId === id))?.code, status, id),
    },
    { name: "remote chain", cell: ({ chainId }) => chainId },
    { name: "remote height", isNumber: true, cell: remoteCell },
    { name: "light client", cell: (connection) => clientCell(connection) },
    {
      name: "client expires",
      isNumber: true,
      cell: ({ client }) => expiryCell(client.reading?.expiresAtMs, nowMs),
    },
    {
      name: "queries",
      isNumber: true,
      cell: ({ id }) => lateCell(queries.filter((query) => query.connectionId === id)),
    },
    {
      name: "last cycle",
      cell: ({ id, error }) => {
        if (error !== undefined) return html`<span class="bad">${error}</span>`;
        if (isBlind(status)) return "not since the local chain is away";
        return isTried(status, id) ? "fine" : "none yet";
      },
    },
  ];
  return html`<h2>Connections</h2>${dataTable({ caption: counted(connections.length, "connection"), columns, rows: connections })}`;
}

/** Whether a cycle of the connection can have succeeded: no error alone proves nothing. */
function isTried({ loaded, gate, queries }: RelayerStatus, connection: string): boolean {
  const own = queries.filter(({ connectionId }) => connectionId === connection);
  const hasResult = own.length === 0 || own.some(({ state }) => state === "answered");
  return loaded && (gate.role === "standby" || hasResult);
}

function stateBadge(code: string | undefined, status: RelayerStatus, connection: string): Html {
  if (code === undefined && isBlind(status)) return badge("unknown", "not known");
  if (code === undefined)
    return isTried(status, connection) ? badge("good", "fine") : badge("unknown", "no result yet");
  return code === "starting" ? badge("unknown", "starting") : badge("bad", code);
}

function remoteCell({
  remote: { height, sinceBlockMs, sinceReadMs, catchingUp, error },
}: ConnectionStatus): Html | string {
  if (height === undefined)
    return html`<span class="unknown">no block read yet</span>${error !== undefined && html`<small class="bad">${error}</small>`}`;
  const more = catchingUp ? ", catching up" : "";
  return html`${height}${more}<small>newest block ${ago(sinceBlockMs)}, read ${ago(sinceReadMs)}</small>`;
}

function clientCell({ client, remote }: ConnectionStatus): Html | string {
  const { reading, error } = client;
  if (reading === undefined)
    return html`<span class="unknown">not known yet</span>${error !== undefined && html`<small class="bad">${error}</small>`}`;
  const behind = blocksBehind(client, remote);
  const distance = behind === undefined ? "" : `${counted(Number(behind), "remote block")} behind`;
  return html`${reading.clientId} ${reading.status === "Active" ? "Active" : badge("bad", reading.status)}<small>${distance}</small>`;
}

function expiryCell(expiresAtMs: number | undefined, nowMs: number): Html | string {
  if (expiresAtMs === undefined) return "not known yet";
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= 0) return html`<strong class="bad">expired ${ago(-leftMs)}</strong>`;
  return html`in ${formatDuration(leftMs)}`;
}

function lateCell(queries: readonly QueryView[]): Html | string {
  const overdue = queries.filter(({ lateness }) => lateness.isOverdue).length;
  if (overdue === 0) return html`${queries.length}<small>none overdue</small>`;
  return html`${queries.length}<small class="bad">${overdue} overdue</small>`;
}

/** The endpoints that cannot be used, or are used after all others; and all of them, closed until someone opens the list. */
export function endpointSection(endpoints: readonly EndpointStatus[]): Html {
  const bad = endpoints.filter((endpoint) => reasonOf(endpoint) !== undefined);
  const title = `${counted(endpoints.length, "endpoint")}, ${bad.length === 0 ? "all sound" : `${bad.length} not sound`}`;
  return html`<h2>Endpoints</h2>${bad.length > 0 && endpointTable("Not sound", bad)}
<details id="endpoint-list"><summary>${title}</summary>${endpointTable("Endpoints of the chains", endpoints)}</details>`;
}

function endpointTable(caption: string, rows: readonly EndpointStatus[]): Html {
  return dataTable({ caption, columns: ENDPOINT_COLUMNS, rows });
}

const ENDPOINT_COLUMNS: readonly Column<EndpointStatus>[] = [
  { name: "endpoint", cell: ({ name }) => html`<code>${name}</code>` },
  { name: "chain", cell: ({ chainId }) => chainId },
  { name: "state", cell: endpointBadge },
  { name: "height", isNumber: true, cell: ({ status }) => status?.latestHeight ?? "–" },
  {
    name: "behind",
    isNumber: true,
    cell: ({ lagBlocks }) => (lagBlocks === undefined ? "–" : counted(Number(lagBlocks), "block")),
  },
  {
    name: "latency",
    isNumber: true,
    cell: ({ latencyMs }) => (latencyMs === undefined ? "–" : `${Math.round(latencyMs)} ms`),
  },
  { name: "last error", cell: (endpoint) => reasonOf(endpoint) ?? "none" },
];

function reasonOf({ lastError, distrusted }: EndpointStatus): string | undefined {
  return distrusted === undefined ? lastError : `wrong response: ${distrusted}`;
}

function endpointBadge(endpoint: EndpointStatus): Html {
  if (endpoint.distrusted !== undefined) return badge("bad", "not trusted");
  if (endpoint.state === "unchecked") return badge("unknown", "not checked yet");
  return badge(reasonOf(endpoint) === undefined ? "good" : "bad", endpoint.state);
}
