import type { HttpReply } from "../../ops/http-reply.ts";
import { escapeHtml } from "../../ops/html.ts";
import type { QueryView, RelayerStatus } from "./status.ts";

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #b3261e; } .good { color: #1b7f3b; }
@media (prefers-color-scheme: dark) { .bad { color: #ff8a80; } .good { color: #7bd88f; } }
`;

/** Renders the status page: connections, queries, and their errors. It reloads every 5 s and needs no script. */
export function statusPage(status: RelayerStatus): HttpReply {
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      "x-content-type-options": "nosniff",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Relaywatch relayer</title>
<style>${STYLE}</style></head><body><main><h1>Interchain-query relayer</h1>
${summary(status)}${queryTable(status.queries)}
<p><a href="/api/status">status as JSON</a> · <a href="/metrics">metrics</a> · <a href="/unsuccessful-txs">dead letters</a></p>
</main></body></html>\n`,
  };
}

function summary(status: RelayerStatus): string {
  const chain = status.connected
    ? `<span class="good">connected</span>`
    : `<span class="bad">not connected</span>`;
  const workers = status.connections
    .map(({ id, error }) =>
      error === undefined
        ? `<li>${escapeHtml(id)}: <span class="good">ok</span></li>`
        : `<li>${escapeHtml(id)}: <span class="bad">${escapeHtml(error)}</span></li>`,
    )
    .join("");
  return `<p>Local chain: height ${status.localHeight}, ${chain}. Account: <code>${escapeHtml(status.address)}</code></p>
<h2>Connections</h2><ul>${workers}</ul>`;
}

function queryTable(queries: readonly QueryView[]): string {
  if (queries.length === 0) return "<h2>Queries</h2><p>No query is registered on these connections.</p>";
  return `<h2>Queries</h2><table><thead><tr>${head("id", true)}${head("type")}${head("connection")}${head("update period (blocks)", true)}
${head("last local height", true)}${head("last remote height", true)}${head("results", true)}${head("state")}</tr></thead><tbody>${queries.map(queryRow).join("")}</tbody></table>`;
}

function head(text: string, isNumber = false): string {
  return `<th scope="col"${isNumber ? ' class="number"' : ""}>${escapeHtml(text)}</th>`;
}

function queryRow(query: QueryView): string {
  return `<tr>${number(query.id)}<td>${escapeHtml(query.type)}</td><td>${escapeHtml(query.connectionId)}</td>${number(query.updatePeriod)}
${number(query.lastLocalHeight)}${number(query.lastRemoteHeight)}${number(query.results)}<td>${stateText(query)}</td></tr>`;
}

function stateText(query: QueryView): string {
  if (query.error === undefined)
    return query.state === "pending" ? "pending" : `<span class="good">answered</span>`;
  const seconds = Math.ceil(query.retryInMs / 1_000);
  return `<span class="bad">backing off</span>: ${escapeHtml(query.error.code)}: ${escapeHtml(query.error.reason)} (failures: ${query.failures}, next try in ${seconds} s)`;
}

function number(value: bigint | number | undefined): string {
  return `<td class="number">${value ?? "–"}</td>`;
}
