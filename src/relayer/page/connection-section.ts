import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { ago, badge, type Column, dataTable } from "../../platform/web/parts.ts";
import { blocksBehind } from "../api/status-json.ts";
import type { ConnectionStatus, EndpointStatus, QueryView, RelayerStatus } from "../health/relayer-status.ts";
import { isBlind, localLine, mostSevere } from "./overview-section.ts";

/** Shows one row per connection: remote chain, light client, and how late its queries are. */
export function connectionSection(status: RelayerStatus): Html {
  const { connections, queries, problems, local } = status;
  const columns: readonly Column<ConnectionStatus>[] = [
    { name: "connection", cell: ({ id }) => id },
    {
      name: "state",
      cell: ({ id }) =>
        stateBadge(mostSevere(problems.filter(({ connectionId }) => connectionId === id))?.code, status, id),
    },
    { name: "remote chain", cell: ({ chainId }) => chainId },
    { name: "remote height", isNumber: true, cell: remoteCell },
    { name: "light client", cell: (connection) => clientCell(connection) },
    {
      name: "client expires",
      isNumber: true,
      cell: ({ client }) => expiryCell(client.reading?.expiresAtMs, local.chainMs),
    },
    {
      name: "queries",
      isNumber: true,
      isMinor: true,
      cell: ({ id }) => {
        const own = queries.filter((query) => query.connectionId === id);
        return status.gate.role === "standby" ? own.length : lateCell(own);
      },
    },
    {
      name: "last cycle",
      cell: ({ id, error }) => {
        if (error !== undefined) return html`<span class="bad">${error}</span>`;
        if (isBlind(status)) return "not known while the local chain is not followed";
        if (!hasLease(status)) return "none without the lease";
        return hasCycled(status, id) ? "fine" : "none yet";
      },
    },
  ];
  const caption = counted(connections.length, "connection");
  return html`<div class="head"><h2>Connections <small>${connections.length}</small></h2> <small class="muted">${localLine(status)}</small></div>${dataTable({ caption, isCaptionHidden: true, columns, rows: connections })}`;
}

/** Returns true if one of the connection's cycles may have succeeded. An absent error alone does not show that. */
function hasCycled({ loaded, gate, queries }: RelayerStatus, connection: string): boolean {
  const own = queries.filter(({ connectionId }) => connectionId === connection);
  const hasResult = own.length === 0 || own.some(({ state }) => state === "answered");
  return loaded && (gate.role === "standby" || hasResult);
}

function hasLease({ gate: { role } }: RelayerStatus): boolean {
  return role === "leader" || role === "starting";
}

function stateBadge(code: string | undefined, status: RelayerStatus, connection: string): Html {
  if (code === undefined && (isBlind(status) || status.gate.role === "unknown"))
    return badge("unknown", "not known");
  if (code === undefined)
    return hasCycled(status, connection) ? badge("good", "fine") : badge("unknown", "no result yet");
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
  const distance = behind === undefined ? "" : `${counted(Number(behind), "block")} behind`;
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
  if (overdue === 0) return `${queries.length}`;
  return html`${queries.length}, <strong class="bad">${overdue} overdue</strong>`;
}

/** Shows all endpoints. Endpoints with an error come first. */
export function endpointSection(endpoints: readonly EndpointStatus[]): Html {
  const bad = endpoints.filter(isBad);
  const unchecked = endpoints.filter(({ state }) => state === "unchecked").length;
  const sound = unchecked === 0 ? "all sound" : `${unchecked} not checked yet`;
  const caption = `${counted(endpoints.length, "endpoint")}, ${bad.length === 0 ? sound : `${bad.length} not sound`}`;
  const rows = [...bad, ...endpoints.filter((endpoint) => !isBad(endpoint))];
  return html`<h2>Endpoints</h2>${dataTable({ caption, columns: ENDPOINT_COLUMNS, rows })}`;
}

function isBad(endpoint: EndpointStatus): boolean {
  return reasonOf(endpoint) !== undefined;
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
  { name: "version", cell: ({ status }) => status?.version ?? "–" },
  { name: "blocks from", isNumber: true, cell: ({ status }) => status?.earliestHeight ?? "–" },
  { name: "batch", isNumber: true, cell: ({ batchSize }) => batchSize ?? "–" },
  {
    name: "cannot",
    cell: ({ lacks }) =>
      lacks === undefined
        ? "nothing known"
        : [...lacks].map(([what, reason]) => html`<code>${what}</code><small>${reason}</small>`),
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
