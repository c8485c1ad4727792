import { escapeHtml } from "../../ops/html.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { MonthStatus, SourceStatus, WatchdogStatus } from "../status.ts";
import type { AlertStatus } from "./alert-json.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0}caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ccc;vertical-align:top}
.firing{border-left:.5rem solid #b00020;padding:.5rem 1rem;background:#fdecee}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}.firing{background:#3a1218}th,td{border-color:#444}}`;

/** Content security policy of the page: it may load nothing but its own style. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Renders the status of all validators as a web page without scripts. The page reloads every 5 s. */
export function statusPage(all: readonly WatchdogStatus[]): string {
  // Chain ids, pairs and error texts come from other hosts. All of them are escaped.
  const chains = [...new Set(all.map(chainName))].join(", ");
  const several = all.length > 1;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>${chains}: oracle watchdog</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Oracle watchdog: ${chains}</h1>
${all.map((status) => validatorSection(status, several)).join("\n")}
<p><a href="/api/status">Status as JSON</a>, <a href="/metrics">metrics</a>.</p>
</main>
</body>
</html>
`;
}

function chainName({ chainId }: WatchdogStatus): string {
  return escapeHtml(chainId ?? "no chain yet");
}

function validatorSection(status: WatchdogStatus, several: boolean): string {
  const heading = several ? `<h2>${escapeHtml(status.validator)}, ${chainName(status)}</h2>\n` : "";
  return `${heading}<p>${headline(status.current)}</p>
${alertList(status.alerts)}
${monthTable(status.months)}
${sourceTable(status.sources)}
${detailTable(status)}`;
}

function headline({ month, rate, tier }: MonthStatus): string {
  if (rate === undefined || tier === undefined) return `No block of ${month} has been counted yet.`;
  return `Success rate of ${month}: <strong>${formatPercent(rate)} %</strong>, reward tier: <strong>${tier}</strong>.`;
}

function alertList(alerts: readonly AlertStatus[]): string {
  const shown = alerts.map(alertParagraph).filter((paragraph) => paragraph !== "");
  return shown.length === 0 ? "<p>No alert.</p>" : shown.join("\n");
}

/** Returns the alert as a paragraph; empty for an inactive alert. */
function alertParagraph({ rule, state }: AlertStatus): string {
  if (state === undefined) return "";
  const { title, action } = rule.condition;
  const text = `${escapeHtml(title)} since ${time(state.sinceMs)}: ${escapeHtml(state.reason)}.`;
  if (state.phase === "pending") return `<p>Pending: ${text} The alert does not fire yet.</p>`;
  if (state.phase === "resolved") return `<p>Resolved: ${text}</p>`;
  const quiet = state.quietReason === undefined ? "" : ` Not notified: ${escapeHtml(state.quietReason)}.`;
  return `<p class="firing" role="alert"><strong>Alert, ${rule.severity}.</strong> ${text} ${escapeHtml(action)}${quiet}</p>`;
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
  const several = new Set(sources.map(({ node }) => node ?? "")).size > 2;
  const rows = sources.map(({ name, node, up, error, lastSuccessMs }) =>
    row(several && node !== undefined ? `${node}: ${name}` : name, [
      up ? "up" : "down",
      escapeHtml(error),
      time(lastSuccessMs),
    ]),
  );
  return table("Sources", ["Source", "State", "Error", "Last success"], rows);
}

function detailTable({ pairs, pending, polledAtMs }: WatchdogStatus): string {
  const waiting = [...pending]
    .filter(([, count]) => count > 0)
    .map(([channel, count]) => `${channel}: ${count}`)
    .join(", ");
  return table(
    "Details",
    ["Value", "Now"],
    [
      row("Pairs with a price", [escapeHtml(`${pairs.length} ${pairs.join(", ")}`)]),
      row("Pending notifications", [escapeHtml(waiting === "" ? "0" : waiting)]),
      row("Last poll", [time(polledAtMs)]),
    ],
  );
}

function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("");
  return `<table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** `cells` are HTML. */
function row(head: string, cells: readonly string[]): string {
  return `<tr><th scope="row">${escapeHtml(head)}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function time(ms: number | undefined): string {
  if (ms === undefined) return "never";
  const text = new Date(ms).toISOString();
  return `<time datetime="${text}">${text.slice(0, 19).replace("T", " ")} UTC</time>`;
}
