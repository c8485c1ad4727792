import { type BackoffOptions, backoffMs } from "../../platform/base/waits.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";

/** The reason why a query has no new result. */
export interface QueryFailure {
  readonly code: QueryFailureCode;
  /** For people. May contain heights, so it differs between attempts. */
  readonly reason: string;
}

/**
 * Codes of {@link QueryFailure}, as they appear in JSON, logs and metrics. The first four last until the remote state
 * changes: ICS-23 has no proof for them.
 */
export const QUERY_FAILURE_CODES = [
  "no-such-store",
  "empty-value",
  "empty-store",
  "absence-not-provable",
  "invalid-proof",
  "read-failed",
  "too-large",
  "rejected",
  "not-included",
  "bad-filter",
  "over-budget",
  "pruned",
] as const;

type QueryFailureCode = (typeof QUERY_FAILURE_CODES)[number];

/** A served query and the outcome of its last cycles. Immutable: the functions below return a new state. */
export interface QueryState {
  readonly query: RegisteredQuery;
  /**
   * Local height from which this relayer must serve the query: that of its last change or, for a TX query, of the first
   * read. 0 for a KV query that has not changed since the first read: the chain then knows when it became due.
   */
  readonly sinceHeight: bigint;
  /** Failures since the last result. */
  readonly failures: number;
  /** Time of the next attempt, monotonic ms, so that a clock jump cannot stop a query. 0: immediately. */
  readonly notBeforeMs: number;
  /** The last failure; undefined after a result. */
  readonly error: QueryFailure | undefined;
  /** Results included since the relayer started. */
  readonly results: number;
  /** Whether an operator requested an immediate cycle, even when the query is not due. */
  readonly isRequested: boolean;
}

/** Values of {@link statusOf}, as they appear in JSON and metrics. */
export const QUERY_STATUSES = ["answered", "pending", "backing_off"] as const;

/** One of {@link QUERY_STATUSES}. */
export type QueryStatus = (typeof QUERY_STATUSES)[number];

/** Returns "backing_off" after a failure, "pending" before the first result, and "answered" otherwise. */
export function statusOf({ error, query }: QueryState): QueryStatus {
  if (error !== undefined) return "backing_off";
  return query.lastLocalHeight === 0n ? "pending" : "answered";
}

/**
 * Returns the state after the query was read from the chain. Retains failures and backoff only when the question is
 * unchanged. `localHeight` is the latest local height.
 */
export function refreshed(
  known: QueryState | undefined,
  query: RegisteredQuery,
  localHeight: bigint,
): QueryState {
  if (known === undefined || !sameQuestion(known.query, query)) {
    const sinceHeight = known === undefined && query.type === "kv" ? 0n : localHeight;
    const results = known?.results ?? 0;
    const unanswered = { failures: 0, notBeforeMs: 0, error: undefined, isRequested: false };
    return { query, sinceHeight, results, ...unanswered };
  }
  const { lastLocalHeight, lastRemoteHeight } = known.query;
  // A result may be included while the query is being read. The response is then older than the known heights, which
  // stay. Known heights above the local height date from before a reset of the chain and are dropped.
  if (lastLocalHeight <= query.lastLocalHeight || lastLocalHeight > localHeight) return { ...known, query };
  return { ...known, query: { ...query, lastLocalHeight, lastRemoteHeight } };
}

/** Whether the chain rejected the last result. The next one is sent in a transaction apart from other queries. */
export function wasRejected({ error }: QueryState): boolean {
  return error?.code === "rejected" || error?.code === "not-included";
}

/** Returns the state after a failure. The backoff doubles with each failure. `at.nowMs` is monotonic. */
export function failed(
  state: QueryState,
  error: QueryFailure,
  at: { readonly nowMs: number; readonly backoff: BackoffOptions; readonly random: () => number },
): QueryState {
  const delayMs = backoffMs(state.failures, at.backoff, at.random);
  const notBeforeMs = at.nowMs + delayMs;
  return { ...state, error, failures: state.failures + 1, notBeforeMs, isRequested: false };
}

/** Returns the state of a query that is due immediately, even while it backs off. */
export function requested(state: QueryState): QueryState {
  return { ...state, notBeforeMs: 0, isRequested: true };
}

/** Returns the state after an included KV result of the remote height `at.remote`. */
export function answered(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly remote: RegisteredQuery["lastRemoteHeight"] },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight, lastRemoteHeight: at.remote };
  return { ...state, ...SUCCEEDED, query, results: state.results + 1 };
}

/** Returns the state after a complete search for transactions, `at.results` of which were relayed. */
export function searched(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly results: number },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight };
  const results = state.results + at.results;
  return { ...state, ...SUCCEEDED, query, results };
}

/** Returns the state after another relayer sent a result. The query itself has the height at which the next one is due. */
export function outrun(state: QueryState): QueryState {
  return { ...state, ...SUCCEEDED };
}

const SUCCEEDED = { failures: 0, notBeforeMs: 0, error: undefined, isRequested: false } as const;

/**
 * Whether a query needs a result: it has none, or `updatePeriod` local blocks have passed since the last one, or an
 * operator wants one. Its backoff must be over. `nowMs` is monotonic.
 */
export function isDue(state: QueryState, localHeight: bigint, nowMs: number): boolean {
  if (nowMs < state.notBeforeMs) return false;
  const { type, lastLocalHeight, updatePeriod } = state.query;
  // A KV result that is sent now is included in the next block at the earliest, so compare that block. A search is
  // recorded with the height at which it ran.
  const atHeight = type === "kv" ? localHeight + 1n : localHeight;
  return state.isRequested || lastLocalHeight === 0n || atHeight >= lastLocalHeight + updatePeriod;
}

/** Whether connection, type, keys, filter and period are equal. */
export function sameQuestion(a: RegisteredQuery, b: RegisteredQuery): boolean {
  return question(a) === question(b);
}

function question(query: RegisteredQuery): string {
  const keys = query.keys.map(({ path, key }) => [path, Buffer.from(key).toString("hex")]);
  return JSON.stringify([
    query.connectionId,
    query.type,
    keys,
    query.transactionsFilter,
    query.updatePeriod.toString(),
  ]);
}
