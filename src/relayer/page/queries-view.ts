import type { QueryView } from "../api/status.ts";

/** Orders of the table. Each begins with what matters most. */
export const SORTS = ["late", "id", "connection", "age", "owner", "gas"] as const;

/** One of {@link SORTS}. */
export type Sort = (typeof SORTS)[number];

/** States that the table can be limited to. */
export const STATE_FILTERS = ["overdue", "late", "backing_off", "pending", "answered"] as const;

/** One of {@link STATE_FILTERS}. */
type StateFilter = (typeof STATE_FILTERS)[number];

/** What a reader wants to see of the queries: the parameters of the page's address. */
export interface QueriesView {
  /** In id, owner, connection, type or failure, lower case; empty: all. */
  readonly search: string;
  readonly state: StateFilter | undefined;
  readonly sort: Sort;
  /** Against the usual order. */
  readonly isReversed: boolean;
  /** From 1. */
  readonly page: number;
}

/** The part of the queries that is shown. */
export interface QueriesPage {
  readonly rows: readonly QueryView[];
  /** Number of queries that the filter selects. */
  readonly matching: number;
  /** The shown page: a page after the last one is the last one. */
  readonly page: number;
  readonly pages: number;
}

/** Queries on one page of the table. */
export const PAGE_ROWS = 50;
const MAX_SEARCH = 100;

/** Reads the parameters. Unknown names and values count as absent: an old link still shows the page. */
export function parseQueriesView(parameters: URLSearchParams): QueriesView {
  const sort = parameters.get("sort") ?? "";
  const page = Number(parameters.get("page") ?? "1");
  return {
    search: (parameters.get("search") ?? "").trim().slice(0, MAX_SEARCH).toLowerCase(),
    state: STATE_FILTERS.find((one) => one === parameters.get("state")),
    sort: SORTS.find((one) => one === sort.replace(/^-/, "")) ?? "late",
    isReversed: sort.startsWith("-"),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** The address of a view, relative to the page. */
export function viewHref({ search, state, sort, isReversed, page }: QueriesView): string {
  const parameters = new URLSearchParams();
  if (search !== "") parameters.set("search", search);
  if (state !== undefined) parameters.set("state", state);
  if (sort !== "late" || isReversed) parameters.set("sort", `${isReversed ? "-" : ""}${sort}`);
  if (page > 1) parameters.set("page", `${page}`);
  return `/?${parameters.toString()}`;
}

/** Selects, sorts and cuts the queries. O(n log n). */
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
  // Overdue ones first: what has no possible result may be later, and nobody can help it.
  late: (a, b) =>
    Number(b.lateness.isOverdue) - Number(a.lateness.isOverdue) ||
    order(b.lateness.blocks, a.lateness.blocks) ||
    Number(b.error !== undefined) - Number(a.error !== undefined),
  id: (a, b) => order(a.id, b.id),
  connection: (a, b) => order(a.connectionId, b.connectionId),
  // A query without a result is older than all.
  age: (a, b) => order(ageOf(b), ageOf(a)),
  owner: (a, b) => order(a.owner, b.owner),
  gas: (a, b) => order(b.cost?.gas ?? 0n, a.cost?.gas ?? 0n),
};

function ageOf({ resultAge }: QueryView): bigint {
  return resultAge?.blocks ?? 1n << 64n;
}

function byId(a: QueryView, b: QueryView): number {
  return order(a.id, b.id);
}

function order<T extends bigint | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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
