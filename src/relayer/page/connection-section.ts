import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { ago, badge, type Column, dataTable } from "../../platform/web/parts.ts";
import { blocksBehind } from "../api/status-json.ts";
import type { ConnectionStatus, QueryView, RelayerStatus } from "../health/relayer-status.ts";
import { isBlind, mostSevere } from "./overview-section.ts";

/** One row per connection: remote chain, light client, lateness of its queries. */
export function connectionSection(status: RelayerStatus): Html {
  const { connections, queries, problems, nowMs } = status;
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
      cell: ({ client }) => expiryCell(client.reading?.expiresAtMs, nowMs),
    },
    {
      name: "queries",
      isNumber: true,
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
  return html`<h2>Connections <small>${connections.length}</small></h2>${dataTable({ caption, isCaptionHidden: true, columns, rows: connections })}`;
}

/** Whether a cycle of the connection may have succeeded. The absence of errors alone does not show it. */
function hasCycled({ loaded, gate, queries }: RelayerStatus, connection: string): boolean {
  const own = queries.filter(({ connectionId }) => connectionId === connection);
  const hasResult = own.length === 0 || own.some(({ state }) => state === "answered");
  return loaded && (gate.role === "standby" || hasResult);
}

/** Whether this process may run cycles. */
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
