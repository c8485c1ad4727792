import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import type { PageContent } from "../../platform/web/page-shell.ts";
import {
  amount,
  badge,
  type Column,
  dataTable,
  type Fact,
  factGrid,
  grouped,
  statusBanner,
  type Tone,
} from "../../platform/web/parts.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { lateText } from "../health/lateness.ts";
import type { QueryView, RelayerStatus } from "../health/relayer-status.ts";
import { ascending } from "../../platform/base/order.ts";
import type { AttemptLog } from "../state/attempt.ts";
import { attemptSection } from "./activity.ts";

/** Columns by which the table can be sorted. The default column, "late", shows the most important queries first. */
export const SORTS = ["late", "id", "connection", "age", "owner"] as const;

type Sort = (typeof SORTS)[number];

const STATE_FILTERS = ["overdue", "late", "backing_off", "pending", "answered"] as const;

type StateFilter = (typeof STATE_FILTERS)[number];

/** The table's filter, sort order and page number, as parsed from the URL. */
type QueriesView = ReturnType<typeof parseQueriesView>;

interface QueriesPage {
  readonly rows: readonly QueryView[];
  /** Number of queries that match the filter. */
  readonly matching: number;
  /** Page number, from 1 to `pages`. */
  readonly page: number;
  readonly pages: number;
}

export const PAGE_ROWS = 50;
const MAX_SEARCH = 100;
/** Maximum number of queries for which the page shows no filter. */
const FEW = 10;

/** Parses the query parameters. Ignores unknown names and values, so that old links still work. */
export function parseQueriesView(parameters: URLSearchParams) {
  const sort = parameters.get("sort") ?? "";
  const page = Number(parameters.get("page") ?? "1");
  return {
    /** Lower-case text to find in a query's id, owner, connection, type or failure. An empty text matches all queries. */
    search: (parameters.get("search") ?? "").trim().slice(0, MAX_SEARCH).toLowerCase(),
    state: STATE_FILTERS.find((one) => one === parameters.get("state")),
    sort: SORTS.find((one) => one === sort.replace(/^-/, "")) ?? "late",
    /** True if the default order is reversed. */
    isReversed: sort.startsWith("-"),
    /** Page number, starting at 1. */
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** Returns the path and query string of a view. */
export function viewHref({ search, state, sort, isReversed, page }: QueriesView): string {
  const parameters = new URLSearchParams();
  if (search !== "") parameters.set("search", search);
  if (state !== undefined) parameters.set("state", state);
  if (sort !== "late" || isReversed) parameters.set("sort", `${isReversed ? "-" : ""}${sort}`);
  if (page > 1) parameters.set("page", `${page}`);
  return `/?${parameters.toString()}`;
}

/** Filters, sorts and paginates the queries. O(n log n). */
export function selectQueries(queries: readonly QueryView[], view: QueriesView): QueriesPage {
  const compare = COMPARE[view.sort];
  const matching = queries.filter((query) => isInState(query, view.state) && contains(query, view.search));
  const sorted = matching.toSorted((a, b) => (view.isReversed ? compare(b, a) : compare(a, b)) || byId(a, b));
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE_ROWS));
  const page = Math.min(view.page, pages);
  const rows = sorted.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
  return { rows, matching: sorted.length, page, pages };
}

type Compare = (a: QueryView, b: QueryView) => number;

const COMPARE: Readonly<Record<Sort, Compare>> = {
  // Sort overdue queries first. Queries that cannot get a result may be even later, but an operator cannot help them.
  late: (a, b) =>
    Number(b.lateness.isOverdue) - Number(a.lateness.isOverdue) ||
    ascending(b.lateness.blocks, a.lateness.blocks) ||
    Number(b.error !== undefined) - Number(a.error !== undefined),
  id: (a, b) => ascending(a.id, b.id),
  connection: (a, b) => ascending(a.connectionId, b.connectionId),
  // Sort queries without a result as the oldest.
  age: (a, b) => ascending(ageOf(b), ageOf(a)),
  owner: (a, b) => ascending(a.owner, b.owner),
};

function ageOf({ resultAge }: QueryView): bigint {
  return resultAge?.blocks ?? 1n << 64n;
}

function byId(a: QueryView, b: QueryView): number {
  return ascending(a.id, b.id);
}

function isInState({ state, lateness }: QueryView, wanted: StateFilter | undefined): boolean {
  if (wanted === undefined) return true;
  if (wanted === "overdue") return lateness.isOverdue;
  if (wanted === "late") return lateness.blocks > 0n;
  return state === wanted;
}

function contains({ id, owner, connectionId, type, error }: QueryView, search: string): boolean {
  if (search === "") return true;
  if (`${id}` === search) return true;
  return [owner, connectionId, type, error?.code ?? "", error?.reason ?? ""].some((text) =>
    text.toLowerCase().includes(search),
  );
}

/** Shows the query table with its filter. `total` is undefined until the query list has been read. */
export function querySection(page: QueriesPage, total: number | undefined, view: QueriesView): Html {
  if (total === undefined) return html`<h2>Queries</h2><p>The list of queries has not been read yet.</p>`;
  if (total === 0)
    return html`<h2>Queries</h2><p>No query is registered on these connections. The relayer follows the chain and serves the next one immediately.</p>`;
  const caption = captionOf(page, total);
  const table =
    page.matching === 0
      ? html`<p>No query matches. <a data-view href="/">Show all ${grouped(total)}</a>.</p>`
      : dataTable({
          caption,
          isCaptionHidden: true,
          columns: columnsOf(view),
          rows: page.rows,
          rowId: ({ id }) => `query-${id}`,
        });
  const needsFilter = total > FEW || page.matching < total;
  return html`<h2>Queries <small>${caption}</small></h2>${needsFilter && filterForm(view)}${table}${pager(page, view)}`;
}

function captionOf({ matching, page, pages }: QueriesPage, total: number): string {
  const of = matching === total ? grouped(total) : `${grouped(matching)} of ${grouped(total)}`;
  return pages === 1 ? of : `${of}, page ${page} of ${pages}`;
}

const STATE_TEXTS: Readonly<Record<(typeof STATE_FILTERS)[number], string>> = {
  overdue: "overdue",
  late: "late",
  backing_off: "backing off",
  pending: "no result yet",
  answered: "answered",
};

function filterForm({ search, state, sort, isReversed }: QueriesView): Html {
  return html`<form class="filters" method="get" action="/" role="search" aria-label="Filter queries">
<p><label for="search">Id, owner, connection, type or failure</label><input id="search" name="search" type="search" maxlength="100" value="${search}"></p>
<p><label for="state">State</label><select id="state" name="state"><option value="">all</option>${STATE_FILTERS.map(
    (one) => html`<option value="${one}"${one === state && html` selected`}>${STATE_TEXTS[one]}</option>`,
  )}</select></p>
${sort !== "late" || isReversed ? html`<input type="hidden" name="sort" value="${isReversed ? "-" : ""}${sort}">` : ""}
<p class="no-js"><button>Show</button></p></form>`;
}

function columnsOf(view: QueriesView): readonly Column<QueryView>[] {
  const sort = (name: Sort) => ({
    href: viewHref({ ...view, sort: name, isReversed: view.sort === name && !view.isReversed, page: 1 }),
    order: view.sort === name ? orderOf(view) : undefined,
  });
  return [
    {
      name: "query",
      sort: sort("id"),
      cell: ({ id, type }) => html`<a href="/queries/${id}">${id}</a> ${type.toUpperCase()}`,
    },
    { name: "state", cell: stateCell },
    { name: "late", isNumber: true, sort: sort("late"), cell: lateCell },
    { name: "last result", isNumber: true, sort: sort("age"), cell: ageCell },
    {
      name: "period",
      isNumber: true,
      isMinor: true,
      cell: ({ updatePeriod }) => counted(Number(updatePeriod), "block"),
    },
    { name: "connection", isMinor: true, sort: sort("connection"), cell: ({ connectionId }) => connectionId },
    { name: "owner", isMinor: true, sort: sort("owner"), cell: ownerCell },
  ];
}

/** Columns sorted in descending order by default. */
const GREATEST_FIRST: ReadonlySet<Sort> = new Set(["late", "age"] as const);

function orderOf({ sort, isReversed }: QueriesView): "ascending" | "descending" {
  return GREATEST_FIRST.has(sort) === isReversed ? "ascending" : "descending";
}

/** The tone and wording for each standing of a query. `sentence` completes a sentence that starts with "Query 7". */
const STANDINGS = {
  failing: { tone: "bad", word: "backing off", sentence: "fails" },
  overdue: { tone: "bad", word: "overdue", sentence: "is overdue" },
  pending: { tone: "unknown", word: "no result yet", sentence: "has no result yet" },
  requested: { tone: "warn", word: "requested", sentence: "is requested by an operator" },
  "remote-still": { tone: "warn", word: "no newer remote block", sentence: "waits for a new remote block" },
  due: { tone: "good", word: "due", sentence: "is current" },
  current: { tone: "good", word: "current", sentence: "is current" },
} as const satisfies Readonly<
  Record<string, { readonly tone: Tone; readonly word: string; readonly sentence: string }>
>;

/** Returns the most severe of the {@link STANDINGS} that apply to a query. */
export function standingOf({ error, lateness, state, isRequested }: QueryView): keyof typeof STANDINGS {
  if (error !== undefined) return "failing";
  if (lateness.isOverdue) return "overdue";
  if (state === "pending") return "pending";
  if (isRequested) return "requested";
  if (lateness.blocks === 0n) return "current";
  return lateness.unanswerable === undefined ? "due" : "remote-still";
}

/** Shows a query's state and, if the query is failing, the reason. */
function stateCell(view: QueryView): Html {
  const { tone, word } = STANDINGS[standingOf(view)];
  const { error, failures, retryInMs } = view;
  if (error === undefined) return badge(tone, word);
  const seconds = Math.ceil(retryInMs / 1_000);
  return html`${badge(tone, word)} <small>${error.code}: ${error.reason} (failures: ${failures}, next try in ${seconds} s)</small>`;
}

function lateCell({ lateness }: QueryView): Html | string {
  const { blocks, isOverdue, limit } = lateness;
  if (blocks === 0n) return "no";
  const text = lateText(lateness);
  return isOverdue ? html`<strong class="bad">${text}</strong><small>limit ${limit}</small>` : text;
}

/** Shows the time since the last result or, for a TX query, since the last search, even if the search found nothing. */
function ageCell({ resultAge }: Pick<QueryView, "resultAge">): string {
  if (resultAge === undefined) return "none yet";
  return `${resultAge.isAtLeast ? "over " : ""}${formatDuration(resultAge.ms)} ago`;
}

export function ownerCell({ owner }: Pick<QueryView, "owner">): Html {
  const text = owner.length > 20 ? `${owner.slice(0, 12)}…${owner.slice(-6)}` : owner;
  return html`<code title="${owner}">${text}</code>`;
}

function pager({ page, pages }: QueriesPage, view: QueriesView): Html {
  if (pages === 1) return html``;
  const link = (to: number, text: string): Html =>
    to < 1 || to > pages
      ? html`<span class="muted">${text}</span>`
      : html`<a data-view id="page-${text.toLowerCase()}" href="${viewHref({ ...view, page: to })}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages of queries">${link(page === 1 ? 0 : 1, "First")} ${link(page - 1, "Previous")} ${link(page + 1, "Next")} ${link(page === pages ? 0 : pages, "Last")}</nav>`;
}

interface QueryPageInput {
  readonly status: RelayerStatus;
  readonly view: QueryView;
  readonly query: RegisteredQuery;
  readonly attempts: Pick<AttemptLog, "find">;
}

/** Creates a query's page with the query's lateness and its reason, the last attempts, and the requested data. */
export async function queryPage({ status, view, query, attempts }: QueryPageInput): Promise<PageContent> {
  const { tone, sentence } = STANDINGS[standingOf(view)];
  const headline = `Query ${view.id} ${sentence}${view.error === undefined ? "" : `: ${view.error.code}`}`;
  return {
    title: `${headline} – relayer`,
    asOfMs: status.nowMs,
    sections: [
      { id: "verdict", label: "Status", content: statusBanner(tone, headline, reasonOf(view)) },
      { id: "facts", label: "Values", content: factGrid(factsOf(view, status)) },
      await attemptSection(attempts, status.account, view.id),
      { id: "question", label: "What it asks", content: questionOf(query) },
    ],
  };
}

export function noSuchQuery(id: string, nowMs: number): PageContent {
  const headline = "There is no such query here";
  const more = html`<p>This relayer does not serve a query ${id}. It may have been removed, or belong to another connection. <a href="/">All queries</a>.</p>`;
  return {
    title: `${headline} – relayer`,
    status: 404,
    asOfMs: nowMs,
    sections: [{ id: "verdict", label: "Status", content: statusBanner("unknown", headline, more) }],
  };
}

/** Explains why there is no newer result, and what happens next. */
function reasonOf({ error, failures, retryInMs, lateness }: QueryView): Html {
  const late =
    lateness.blocks > 0n &&
    html`<p>Due for ${lateText(lateness)}; overdue after ${counted(Number(lateness.limit), "block")}.</p>`;
  if (error === undefined) return html`${late}`;
  const seconds = Math.ceil(retryInMs / 1_000);
  return html`<p>${error.reason}</p><p>${counted(failures, "failure")} since the last result; next try in ${seconds} s.</p>${late}`;
}

function factsOf(view: QueryView, { account: { denom, unit } }: RelayerStatus): readonly Fact[] {
  const { type, resultAge, updatePeriod, lateness, connectionId, owner, cost, results } = view;
  const remote = view.lastRemoteHeight === undefined ? "" : `, of remote height ${view.lastRemoteHeight}`;
  const unchanged =
    view.unchangedSince === undefined ? "" : `, values unchanged since block ${view.unchangedSince}`;
  return [
    {
      name: type === "tx" ? "Last search" : "Last result",
      value: ageCell(view),
      detail: resultAge && `${counted(Number(resultAge.blocks), "block")} ago${remote}${unchanged}`,
    },
    {
      name: "Period",
      value: counted(Number(updatePeriod), "block"),
      detail: `next due at height ${lateness.dueHeight}`,
    },
    {
      name: "Results since the start",
      value: grouped(results),
      detail:
        cost === undefined
          ? "nothing was paid for it"
          : html`${grouped(cost.gas)} gas, ${amount(cost.fee, denom, unit)}`,
    },
    { name: "Connection", value: connectionId },
    { name: "Owner", value: html`<code>${owner}</code>`, isWide: true },
  ];
}

function questionOf({ id, type, keys, transactionsFilter, registeredAtHeight }: RegisteredQuery): Html {
  const since = registeredAtHeight === 0n ? "in the genesis" : `at height ${registeredAtHeight}`;
  return html`<h2>What it asks</h2><p>${badge("unknown", type.toUpperCase())} Registered ${since}. <a href="/api/queries/${id}">As JSON</a>.</p>${
    type === "tx"
      ? html`<p>Transactions that match <code>${transactionsFilter}</code></p>`
      : html`<ul>${keys.map(
          ({ path, key }) =>
            html`<li>store <code>${path}</code>, key <code>${Buffer.from(key).toString("hex")}</code></li>`,
        )}</ul>`
  }`;
}
