import { escapeHtml } from "../../ops/html.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { MonthStatus, SourceStatus, WatchdogStatus } from "../status.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0}caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ccc;vertical-align:top}
.firing{border-left:.5rem solid #b00020;padding:.5rem 1rem;background:#fdecee}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}.firing{background:#3a1218}th,td{border-color:#444}}`;

/** Content security policy of the page: nothing but its own style. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The status as a web page; it reloads itself every 5 s and runs no script. Everything that was read is escaped. */
export function statusPage(status: WatchdogStatus): string {
  const chain = escapeHtml(status.chainId ?? "no chain yet");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>${chain}: oracle watchdog</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Oracle watchdog: ${chain}</h1>
<p>${headline(status.current)}</p>
${alertBlock(status)}
${monthTable(status.months)}
${sourceTable(status.sources)}
<p>${status.pairs.length} pairs have a price${status.pairs.length === 0 ? "" : `: ${escapeHtml(status.pairs.join(", "))}`}.
Last look: ${time(status.observedAtMs)}. <a href="/api/status">Status as JSON</a>, <a href="/metrics">metrics</a>.</p>
</main>
</body>
</html>
`;
}

function headline({ month, rate, tier }: MonthStatus): string {
  if (rate === undefined || tier === undefined) return `No block of ${month} has been counted yet.`;
  return `Success rate of ${month}: <strong>${formatPercent(rate)} %</strong>, reward tier: <strong>${tier}</strong>.`;
}

function alertBlock({ alert }: WatchdogStatus): string {
  if (alert.phase === "inactive") return "<p>No alert.</p>";
  const text = `All prices missing since ${time(alert.sinceMs)}: ${escapeHtml(alert.reason)}`;
  return alert.phase === "firing"
    ? `<p class="firing" role="alert"><strong>Alert.</strong> ${text}. Restart the price sidecar.</p>`
    : `<p>Watching: ${text}. No alert yet.</p>`;
}

function monthTable(months: readonly MonthStatus[]): string {
  const rows = months.map(({ month, counts, rate, tier }) =>
    row(month, [
      rate === undefined ? "–" : `${formatPercent(rate)} %`,
      tier ?? "–",
      String(counts.good),
      String(counts.bad),
      String(counts.unknown),
    ]),
  );
  return table("Months (UTC)", ["Month", "Success", "Tier", "Good", "Bad", "Unknown"], rows);
}

function sourceTable(sources: readonly SourceStatus[]): string {
  const rows = sources.map(({ name, up, problem, lastGoodMs }) =>
    row(name, [up ? "up" : "down", escapeHtml(problem), time(lastGoodMs)]),
  );
  return table("Sources", ["Source", "State", "Problem", "Last good look"], rows);
}

function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("");
  return `<table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function row(head: string, cells: readonly string[]): string {
  return `<tr><th scope="row">${escapeHtml(head)}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function time(ms: number | undefined): string {
  if (ms === undefined) return "never";
  const text = new Date(ms).toISOString();
  return `<time datetime="${text}">${text.slice(0, 19).replace("T", " ")} UTC</time>`;
}
