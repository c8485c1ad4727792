import { DAY_MS } from "../../platform/base/time.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import {
  ago,
  amount,
  badge,
  type Fact,
  factGrid,
  grouped,
  reloadNotice,
  type Tone,
  statusBanner,
  type Column,
  dataTable,
} from "../../platform/web/parts.ts";
import type { QueryView, RelayerStatus, ConnectionStatus, EndpointStatus } from "../health/relayer-status.ts";
import { latestOf, lateText } from "../health/lateness.ts";
import {
  isDemandAboveMarket,
  isFresh,
  type MarketStatus,
  priceRatio,
  priceText,
} from "../forecast/market-view.ts";
import { degradations } from "../health/problem-hold.ts";
import type { Problem, ProblemCode } from "../health/problems.ts";
import { problemRunbook } from "../monitoring/relayer-alerts.ts";
import type { ActivitySample } from "./activity.ts";
import { standingOf } from "./query-section.ts";
import { blocksBehind } from "../api/status-json.ts";

export interface Summary {
  readonly tone: Tone;
  readonly headline: string;
}

/** Headlines for problems, most severe first. Causes precede their consequences. */
const HEADLINES: readonly { readonly codes: readonly ProblemCode[]; readonly headline: string }[] = [
  { codes: ["local-not-followed"], headline: "The relayer cannot see the local chain" },
  { codes: ["lease-unknown"], headline: "It is not known whether any process sends" },
  { codes: ["account-cannot-pay", "store-not-writable", "not-sending"], headline: "Nothing is sent" },
  { codes: ["local-no-new-block"], headline: "The local chain has no new block" },
  { codes: ["client-expired", "client-frozen"], headline: "A light client cannot prove anything" },
  { codes: ["remote-unreachable"], headline: "A remote chain cannot be reached" },
  { codes: ["endpoints-refuse"], headline: "No endpoint of a remote chain can do what is needed" },
  { codes: ["remote-no-new-block", "remote-catching-up"], headline: "A remote chain has no new block" },
  { codes: ["queries-overdue"], headline: "Results are overdue" },
  { codes: ["client-expires-soon"], headline: "A light client expires soon" },
  { codes: ["cycle-failed"], headline: "A connection fails" },
  { codes: ["queries-failing"], headline: "Overdue queries fail at each try" },
  {
    codes: ["account-unknown", "client-unknown"],
    headline: "The relayer cannot see everything that it depends on",
  },
];

function mostSevere(problems: readonly Problem[]): Problem | undefined {
  return problems.toSorted((a, b) => rank(a) - rank(b))[0];
}

function rank({ code }: Problem): number {
  const found = HEADLINES.findIndex(({ codes }) => codes.includes(code));
  return found < 0 ? HEADLINES.length : found;
}

/** Summarizes problems and queries. The tone is not "good" until all initial reads have finished. */
export function summarize({ problems, queries, gate, market, deadLetters }: RelayerStatus): Summary {
  if (problems.length > 0) {
    const code = mostSevere(problems)?.code;
    const found = HEADLINES.find(({ codes }) => code !== undefined && codes.includes(code));
    return found === undefined
      ? { tone: "unknown", headline: "Starting: not everything has been read yet" }
      : { tone: "bad", headline: found.headline };
  }
  if (gate.role === "standby") return { tone: "good", headline: "Standby: another process has the lease" };
  if (market !== undefined && isFresh(market) && isDemandAboveMarket(market))
    return { tone: "warn", headline: "Demand is above what the fee market bears" };
  if (deadLetters > 0)
    return {
      tone: "warn",
      headline: `${counted(deadLetters, "transaction")} not delivered: see the dead letters`,
    };
  const failing = queries.filter(({ error }) => error !== undefined).length;
  if (failing > 0)
    return {
      tone: "warn",
      headline: `Current, except ${counted(failing, "query", "queries")} that cannot be served`,
    };
  if (queries.length === 0) return { tone: "good", headline: "In order: there is no query to serve" };
  if (queries.every(({ state }) => state === "pending"))
    return { tone: "unknown", headline: "Starting: no query has a result yet" };
  return { tone: "good", headline: "In order: every result is current" };
}

/** Shows the summary, the problems with their reasons, and other conditions that need attention. */
export function statusSection(status: RelayerStatus, { tone, headline }: Summary): Html {
  const items = [
    ...status.problems.map(problemItem),
    ...degradations(status).map(
      ({ code, text, page }) => html`<li><strong><a href="${page}">${code}</a></strong>: ${text}</li>`,
    ),
  ];
  const more = html`${items.length > 0 && html`<ul class="problems">${items}</ul>`}${reloadNotice(status.config)}`;
  return statusBanner(tone, headline, more);
}

function problemItem({ code, text }: Problem): Html {
  const url = problemRunbook(code);
  return html`<li><strong>${code}</strong>: ${text}${url !== undefined && html` <a href="${url}">Runbook</a>`}</li>`;
}

/** Returns true if the local chain cannot be read. Lateness and results in flight are then unknown. */
function isBlind({ problems }: Pick<RelayerStatus, "problems">): boolean {
  return problems.some(({ code }) => code === "local-not-followed");
}

/** Shows the four key numbers: current queries, results, balance and gas price. */
export function factSection(status: RelayerStatus, samples: readonly (ActivitySample | undefined)[]): Html {
  const known = samples.filter((sample) => sample !== undefined);
  const included = known.reduce((sum, sample) => sum + sample.included, 0);
  const failed = known.reduce((sum, sample) => sum + sample.failed, 0);
  return factGrid([
    queriesFact(status),
    {
      name: "Results in the last hour",
      value: grouped(included),
      detail: failed === 0 ? "no failed attempt" : counted(failed, "failed attempt"),
    },
    balanceFact(status),
    priceFact(status.market),
  ]);
}

/** Shows how many queries are current, and which query has been due the longest. */
function queriesFact(status: RelayerStatus): Fact {
  const { queries, gate, loaded, market } = status;
  if (!loaded) return queryFact("not read yet", "the list of queries", "unknown");
  const all = counted(queries.length, "query", "queries");
  if (isBlind(status)) return queryFact(all, "their lateness is unknown without the local chain", "unknown");
  // A standby reads the leader's results only occasionally.
  if (gate.role === "standby") return queryFact(all, "the process with the lease knows how late they are");
  if (queries.length === 0) return queryFact("none", "no query is registered");
  const counts = { current: 0, overdue: 0, failing: 0, pending: 0 };
  for (const query of queries) counts[countedAs(query)] += 1;
  const texts = [
    `${grouped(counts.current)} current`,
    ...(["overdue", "failing", "pending"] as const)
      .filter((kind) => counts[kind] > 0)
      .map((kind) => `${grouped(counts[kind])} ${kind === "pending" ? "without a result yet" : kind}`),
  ];
  const latest = latestOf(queries);
  // If the fee market makes results late on average, "none late" holds only at this moment.
  const isAbove = market !== undefined && isFresh(market) && market.forecast.lateBlocks > 0;
  const late =
    latest === undefined
      ? `none late${isAbove ? " at this moment" : ""}`
      : `query ${latest.id} has been due longest, for ${lateText(latest.lateness)}`;
  return queryFact(
    texts.join(", "),
    late,
    counts.overdue > 0 ? "bad" : counts.failing > 0 ? "warn" : undefined,
  );
}

/**
 * Returns the category under which a query is counted. "overdue" takes precedence over "failing", because only an overdue query is
 * a problem.
 */
function countedAs(query: QueryView): "current" | "overdue" | "failing" | "pending" {
  const standing = query.lateness.isOverdue ? "overdue" : standingOf(query);
  return standing === "overdue" || standing === "failing" || standing === "pending" ? standing : "current";
}

function queryFact(value: string, detail: string, tone?: Tone): Fact {
  return { name: "Queries", value, detail, tone };
}

function balanceTone({ account: { daysLeft }, problems }: RelayerStatus): Tone | undefined {
  if (problems.some(({ code }) => code === "account-cannot-pay")) return "bad";
  return daysLeft !== undefined && daysLeft < 1 ? "warn" : undefined;
}

function balanceFact(status: RelayerStatus): Fact {
  const { balance, denom, daysLeft, unit } = status.account;
  const days =
    daysLeft === undefined
      ? "no fee has been paid yet"
      : `enough for ${daysLeft < 365 ? formatDuration(daysLeft * DAY_MS) : "more than a year"} at the current rate`;
  return {
    name: "Balance",
    value: balance === undefined ? "not known yet" : amount(balance, denom, unit),
    detail: days,
    tone: balance === undefined ? "unknown" : balanceTone(status),
    // A balance in base units needs more space.
    isWide: unit === undefined,
  };
}

/** Shows the gas price as a multiple of its minimum. */
export function priceFact(market: MarketStatus | undefined): Fact {
  if (market === undefined)
    return {
      name: "Gas price",
      value: "no fee market",
      detail: "or it has not been read yet",
      tone: "unknown",
    };
  const { price, minimum, ceiling, cap, denom } = market;
  const text = `${priceText(price)} ${denom}`;
  if (!isFresh(market))
    return { name: "Gas price", value: text, detail: `read ${ago(market.sinceReadMs)}`, tone: "unknown" };
  return {
    name: "Gas price",
    value: minimum > 0n ? `${priceRatio(price, minimum)} × minimum` : text,
    detail: minimum > 0n ? text : "no minimum",
    tone: price > cap ? "bad" : price > ceiling ? "warn" : undefined,
  };
}

/** Describes the local chain and this process's role in one line. */
function localLine({ local, connected, gate }: RelayerStatus): Html {
  const { height, sinceBlockMs, error } = local;
  const head =
    height === undefined ? "no block read yet" : `height ${height}, newest block ${ago(sinceBlockMs)}`;
  const events = connected ? "events by WebSocket" : "no WebSocket, so the height is polled";
  const role = gate.role === "unknown" ? badge("unknown", "role not known") : `role: ${gate.role}`;
  return html`Local chain: ${head}; ${connected ? events : html`<span class="warn">${events}</span>`}; ${role}${
    error !== undefined && html`; <span class="bad">${error}</span>`
  }`;
}

/** Shows one row per connection with its remote chain, its light client, and its queries' lateness. */
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

/** Returns true if one of the connection's cycles may have succeeded. The absence of an error does not prove success. */
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

/** Shows all endpoints, with failing endpoints first. */
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
