import { counted } from "../../base/counted.ts";
import { formatDuration } from "../../base/duration-text.ts";
import type { HttpReply } from "../../ops/http-reply.ts";
import { escapeHtml } from "../../ops/html.ts";
import { namedOwners } from "../gate/spending.ts";
import type { HeadView } from "../health/head-watch.ts";
import type { ConnectionStatus, EndpointStatus, QueryView, RelayerStatus } from "./status.ts";
import { blocksBehind } from "./status-json.ts";

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #b3261e; } .good { color: #1b7f3b; }
@media (prefers-color-scheme: dark) { .bad { color: #ff8a80; } .good { color: #7bd88f; } }
`;

/** Queries on the page: the latest ones first. The others are in `GET /api/queries`. */
export const MAX_ROWS = 500;

/** Renders the status page: problems and the latest queries first. It reloads every 5 s and needs no script. */
export function statusPage(status: RelayerStatus): HttpReply {
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      "x-content-type-options": "nosniff",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title(status)}</title>
<style>${STYLE}</style></head><body><main><h1>Interchain-query relayer</h1>
${problems(status)}${chains(status)}${spending(status)}${queryTable(status.queries)}
<p><a href="/api/status">status as JSON</a> · <a href="/metrics">metrics</a> · <a href="/unsuccessful-txs">dead letters</a></p>
</main></body></html>\n`,
  };
}

function title({ problems: { length } }: RelayerStatus): string {
  return length === 0 ? "Relaywatch relayer" : `(${length}) Relaywatch relayer`;
}

function problems(status: RelayerStatus): string {
  if (status.problems.length > 0) {
    const rows = status.problems.map(
      ({ code, text }) => `<li><strong>${escapeHtml(code)}</strong>: ${escapeHtml(text)}</li>`,
    );
    return `<h2 class="bad">${counted(rows.length, "problem")}</h2><ul>${rows.join("")}</ul>`;
  }
  const late = status.queries.reduce((most, { lateness }) => Math.max(most, Number(lateness.blocks)), 0);
  const queries = counted(status.queries.length, "query", "queries");
  if (status.gate.role === "standby")
    return `<h2 class="good">Standby</h2><p>Another process submits the results of ${queries}.</p>`;
  return `<h2 class="good">In order</h2><p>${queries}, the latest result is ${counted(late, "block")} late.</p>`;
}

function chains(status: RelayerStatus): string {
  const stream = status.connected
    ? `<span class="good">connected</span>`
    : `<span class="bad">not connected, the height is polled</span>`;
  const { balance, denom, daysLeft } = status.account;
  const days = daysLeft === undefined ? "" : `, enough for ${Math.floor(daysLeft)} days at the present rate`;
  return `<h2>Chains</h2><ul><li>Local chain: ${head(status.local)}; event stream: ${stream}</li>
${status.connections.map((connection) => connectionRow(connection, status.nowMs)).join("")}
<li>Account <code>${escapeHtml(status.address)}</code>: ${balance === undefined ? "balance not known yet" : `${balance} ${escapeHtml(denom)}${days}`}</li>
${status.endpoints.map(endpointRow).join("")}</ul>`;
}

/** Endpoints that cannot be used or are used after all others. The sound ones are in `GET /api/status`. */
function endpointRow({ name, chainId, state, lastError, distrusted }: EndpointStatus): string {
  const reason = distrusted === undefined ? lastError : `wrong response: ${distrusted}`;
  if (reason === undefined) return "";
  return `<li>Endpoint <code>${escapeHtml(name)}</code> of ${escapeHtml(chainId)}: <span class="bad">${distrusted === undefined ? state : "not trusted"}</span>: ${escapeHtml(reason)}</li>`;
}

/** Owners on the page: those with the most gas. */
const PAGE_OWNERS = 5;

function spending({ spending: { fee, gasByOwner, limits }, reserve, account }: RelayerStatus): string {
  const denom = escapeHtml(account.denom);
  const owners = namedOwners(gasByOwner)
    .slice(0, PAGE_OWNERS)
    .map(([owner, gas]) => {
      const isUsedUp = limits.dailyGasPerOwner !== undefined && gas >= limits.dailyGasPerOwner;
      return `<li><code>${escapeHtml(owner)}</code>: <span${isUsedUp ? ' class="bad"' : ""}>${gas}${ofLimit(limits.dailyGasPerOwner)} gas</span></li>`;
    });
  const isSpent = limits.dailyFee !== undefined && fee >= limits.dailyFee;
  return `<h2>Spending today (UTC)</h2><ul><li>Fees: <span${isSpent ? ' class="bad"' : ""}>${fee}${ofLimit(limits.dailyFee)} ${denom}</span>; reserve: ${reserve} ${denom}</li>${owners.join("")}</ul>`;
}

function ofLimit(limit: bigint | undefined): string {
  return limit === undefined ? "" : ` of ${limit}`;
}

function connectionRow({ id, chainId, remote, client, error }: ConnectionStatus, nowMs: number): string {
  const { reading } = client;
  const behind = blocksBehind(client, remote);
  const state =
    reading === undefined
      ? "light client not known yet"
      : `light client ${escapeHtml(reading.clientId)} ${escapeHtml(reading.status)}, ${behind === undefined ? "" : `${counted(Number(behind), "block")} behind, `}${expiry(reading.expiresAtMs - nowMs)}`;
  const cycle = error === undefined ? "" : `; last cycle: <span class="bad">${escapeHtml(error)}</span>`;
  return `<li>${escapeHtml(id)} to ${escapeHtml(chainId)}: ${head(remote)}; ${state}${cycle}</li>`;
}

function expiry(leftMs: number): string {
  return leftMs > 0 ? `expires in ${formatDuration(leftMs)}` : `expired ${formatDuration(-leftMs)} ago`;
}

function head({ height, sinceBlockMs }: HeadView): string {
  if (height === undefined || sinceBlockMs === undefined) return `<span class="bad">no block read yet</span>`;
  return `height ${height}, ${formatDuration(sinceBlockMs)} ago`;
}

function queryTable(queries: readonly QueryView[]): string {
  if (queries.length === 0) return "<h2>Queries</h2><p>No query is registered on these connections.</p>";
  const rows = queries.toSorted(latestFirst).slice(0, MAX_ROWS).map(queryRow);
  const rest = queries.length - rows.length;
  const more =
    rest > 0
      ? `<p>${counted(rest, "more query", "more queries")} in <a href="/api/queries">JSON</a>.</p>`
      : "";
  return `<h2>Queries</h2><table><thead><tr>${column("id", true)}${column("type")}${column("connection")}${column("late", true)}${column("update period (blocks)", true)}
${column("last local height", true)}${column("last remote height", true)}${column("results", true)}${column("state")}</tr></thead><tbody>${rows.join("")}</tbody></table>${more}`;
}

/** Overdue queries first, then by the blocks that they are late. */
function latestFirst(a: QueryView, b: QueryView): number {
  const overdue = Number(b.lateness.isOverdue) - Number(a.lateness.isOverdue);
  return overdue === 0 ? Number(b.lateness.blocks - a.lateness.blocks) : overdue;
}

function column(text: string, isNumber = false): string {
  return `<th scope="col"${isNumber ? ' class="number"' : ""}>${escapeHtml(text)}</th>`;
}

function queryRow(query: QueryView): string {
  return `<tr>${number(query.id)}<td>${escapeHtml(query.type)}</td><td>${escapeHtml(query.connectionId)}</td>${lateCell(query)}${number(query.updatePeriod)}
${number(query.lastLocalHeight)}${number(query.lastRemoteHeight)}${number(query.results)}<td>${stateText(query)}</td></tr>`;
}

function lateCell({ lateness: { blocks, ms, isOverdue } }: QueryView): string {
  if (blocks === 0n) return `<td class="number">–</td>`;
  const text = `${counted(Number(blocks), "block")}, ${formatDuration(ms)}`;
  return `<td class="number${isOverdue ? " bad" : ""}">${text}</td>`;
}

function stateText({ error, lateness, state, failures, retryInMs }: QueryView): string {
  if (error !== undefined) {
    const seconds = Math.ceil(retryInMs / 1_000);
    return `<span class="bad">backing off</span>: ${escapeHtml(error.code)}: ${escapeHtml(error.reason)} (failures: ${failures}, next try in ${seconds} s)`;
  }
  if (lateness.isOverdue) return `<span class="bad">overdue</span>`;
  if (state === "pending") return "pending";
  if (lateness.blocks > 0n && lateness.unanswerable !== undefined) return "no newer remote block";
  return `<span class="good">answered</span>`;
}

function number(value: bigint | number | undefined): string {
  return `<td class="number">${value ?? "–"}</td>`;
}
