import type { RelayerConfig } from "../config/relayer-config.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import type { HttpRoute } from "../../platform/http/http-route.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { DASHBOARDS, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { livePageRoutes } from "../../platform/web/live-page.ts";
import { type PageContent, timeText } from "../../platform/web/page-shell.ts";
import { ago, badge, type Column, dataTable, grouped } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import { blocksBehind } from "../api/status-json.ts";
import type { ConnectionStatus, EndpointStatus, QueryView, RelayerStatus } from "../health/relayer-status.ts";
import type { DeadLetter, Journal } from "../state/journal.ts";
import type { Activity, ActivitySample } from "./activity.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { costSection } from "./cost-section.ts";
import { factSection, mostSevere, isBlind, summarize, statusSection } from "./overview-section.ts";
import { parseQueriesView, querySection, selectQueries } from "./query-section.ts";
import { spendingSection } from "./spending-section.ts";
import { timelineSection, type TimelineView } from "./timeline-section.ts";

/** The data of the relayer's page. */
export interface RelayerPageInput {
  readonly status: RelayerStatus;
  readonly activity: Pick<Activity, "samples">;
  readonly costs: CostsView;
  readonly timeline: TimelineView;
  readonly deadLetters: readonly DeadLetter[];
  readonly resubmit: ResubmitAccess;
}

/**
 * Creates the content of the relayer's page, the most important first: is everything current, why not, the connections,
 * recent results, their cost, the queries that `view` selects, dead letters. Escapes texts from chains.
 */
export function relayerPage(input: RelayerPageInput, view: URLSearchParams): PageContent {
  const { status, activity } = input;
  const summary = summarize(status);
  const samples = activity.samples();
  const queriesView = parseQueriesView(view);
  const { length } = status.problems;
  return {
    title: `${length === 0 ? "" : `(${length}) `}${summary.headline} – relayer`,
    asOfMs: status.nowMs,
    sections: [
      { id: "verdict", label: "Status", content: statusSection(status, summary) },
      { id: "facts", label: "Values", content: factSection(status, samples) },
      { id: "connections", label: "Connections", content: connectionSection(status) },
      {
        id: "timeline",
        label: "Problems over time",
        content: timelineSection(input.timeline, status.nowMs),
      },
      { id: "activity", label: "Last hour", content: activitySection(samples) },
      { id: "cost", label: "Cost", content: costSection(status, samples) },
      { id: "spending", label: "Spending", content: spendingSection(input.costs, status.nowMs) },
      {
        id: "queries",
        label: "Queries",
        content: querySection(
          selectQueries(status.queries, queriesView),
          status.loaded ? status.queries.length : undefined,
          queriesView,
        ),
      },
      {
        id: "dead-letters",
        label: "Dead letters",
        content: deadLetterSection(input.deadLetters, input.resubmit),
      },
      { id: "endpoints", label: "Endpoints", content: endpointSection(status.endpoints) },
    ],
  };
}

interface PageDeps {
  readonly status: () => RelayerStatus;
  readonly activity: Activity;
  readonly costs: () => CostsView;
  readonly timeline: TimelineView;
  readonly journal: Pick<Journal, "deadLetters">;
  /** True if `POST /resubmit-txs` needs no token. */
  readonly openResubmit: boolean;
}

/** Creates the routes of the page. */
export function createRelayerPage(
  { status, activity, costs, timeline, journal, openResubmit }: PageDeps,
  { hasToken, links }: { readonly hasToken: boolean } & Pick<RelayerConfig, "links">,
  { build, clock }: Pick<DaemonContext, "build" | "clock">,
): readonly HttpRoute[] {
  const resubmit = openResubmit ? "open" : hasToken ? "token" : "nobody";
  return livePageRoutes(
    {
      frame: {
        heading: "Interchain-query relayer",
        version: build.version,
        startedAtMs: clock.nowMs(),
        links: [
          { path: "/api/status", text: "Status as JSON" },
          { path: "/api/queries", text: "queries" },
          { path: "/api/attempts", text: "attempts" },
          { path: "/api/spending", text: "spending" },
          { path: "/unsuccessful-txs", text: "dead letters" },
          { path: "/metrics", text: "metrics" },
          { path: "/readyz", text: "readiness" },
          ...pageLinks(links, "relayer", DASHBOARDS.relayer),
        ],
      },
      content: (view) =>
        relayerPage(
          {
            status: status(),
            activity,
            costs: costs(),
            timeline,
            deadLetters: journal.deadLetters(),
            resubmit,
          },
          view,
        ),
    },
    clock,
  );
}

type Samples = readonly (ActivitySample | undefined)[];

/** Results, transactions and gas of the last hour, by minute. */
function activitySection(samples: Samples): Html {
  const known = samples.filter((sample) => sample !== undefined);
  const sum = (read: (sample: ActivitySample) => number): number =>
    known.reduce((total, sample) => total + read(sample), 0);
  const plot = (title: string, summary: string, bar: (sample: ActivitySample) => Bar): Html =>
    barPlot({
      title,
      summary,
      bars: samples.map((sample) => sample && bar(sample)),
      from: "1 h ago",
      to: "now",
      format: (value) => grouped(Math.round(value)),
    });
  const gas = known.reduce((total, sample) => total + sample.gas, 0n);
  return html`<h2>Last hour</h2><div class="plots">${plot(
    "Results a minute",
    `${grouped(sum(({ included }) => included))} included, ${failedText(sum(({ failed }) => failed))}`,
    ({ included, failed }) => [
      { style: "good", value: included },
      { style: "bad", value: failed },
    ],
  )}${plot(
    "Transactions a minute",
    `${grouped(sum(({ transactions }) => transactions))} in blocks`,
    ({ transactions }) => [{ style: "plain", value: transactions }],
  )}${plot("Gas a minute", `${grouped(gas)} used`, (sample) => [{ style: "plain", value: Number(sample.gas) }])}</div>`;
}

function failedText(failed: number): string {
  if (failed === 0) return "none failed";
  return `${grouped(failed)} failed (red, on top)`;
}

/** Who may send dead letters again: everybody, bearers of the token, or nobody because no token is configured. */
type ResubmitAccess = "open" | "token" | "nobody";

/** Maximum number of dead letters on the page: the newest. */
const SHOWN = 20;

/** The transactions that are not retried automatically, each with a button that sends it again. */
function deadLetterSection(letters: readonly DeadLetter[], access: ResubmitAccess): Html {
  if (letters.length === 0)
    return html`<h2>Dead letters</h2><p>None. Every transaction of a TX query was delivered or is still being retried.</p>`;
  const columns: readonly Column<DeadLetter>[] = [
    { name: "query", cell: ({ queryId }) => html`query ${queryId}` },
    {
      name: "remote transaction",
      cell: ({ hash, remoteHeight }) => html`<code>${hash}</code><small>height ${remoteHeight}</small>`,
    },
    { name: "since", cell: ({ atMs }) => timeText(atMs) },
    { name: "reason", cell: ({ reason }) => reason },
    { name: "send again", cell: (letter) => action(letter, access) },
  ];
  const shown = letters.slice(0, SHOWN);
  const rest = letters.length - shown.length;
  return html`<h2>Dead letters</h2>
<p>${counted(letters.length, "transaction")} will not be sent again on ${letters.length === 1 ? "its" : "their"} own. Sending one again costs its fee, also when the contract rejects it again.</p>
${dataTable({ caption: "Newest first", columns, rows: shown, rowId: (letter) => `letter-${keyOf(letter)}` })}
${rest > 0 && html`<p>${counted(rest, "more dead letter")} in <a href="/unsuccessful-txs">JSON</a>.</p>`}`;
}

function action(letter: DeadLetter, access: ResubmitAccess): Html {
  const { queryId, hash } = letter;
  if (access === "nobody") return html`needs <code>http.token</code>`;
  const body = JSON.stringify({ txs: [{ query_id: Number(queryId), hash }] });
  return html`<button class="js" type="button" id="send-${keyOf(letter)}" data-post="/resubmit-txs" data-body="${body}" data-needs="${access}" data-done="Sent again: transaction ${hash.slice(0, 12)}… of query ${queryId}. If its contract rejected it, it is listed again with a new time." aria-label="Send again transaction ${hash.slice(0, 12)} of query ${queryId}">Send again</button><span class="no-js"><code>relaywatch relayer dead-letters resubmit ${queryId}/${hash}</code></span>`;
}

function keyOf({ queryId, hash }: DeadLetter): string {
  return `${queryId}-${hash}`;
}

/** One row per connection: remote chain, light client, lateness of its queries. */
function connectionSection(status: RelayerStatus): Html {
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
  return html`<h2>Connections</h2>${dataTable({ caption: counted(connections.length, "connection"), columns, rows: connections })}`;
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

/** The endpoints with an error, and a list of all endpoints, collapsed by default. */
function endpointSection(endpoints: readonly EndpointStatus[]): Html {
  const bad = endpoints.filter((endpoint) => reasonOf(endpoint) !== undefined);
  const unchecked = endpoints.filter(({ state }) => state === "unchecked").length;
  const sound = unchecked === 0 ? "all sound" : `${unchecked} not checked yet`;
  const title = `${counted(endpoints.length, "endpoint")}, ${bad.length === 0 ? sound : `${bad.length} not sound`}`;
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
