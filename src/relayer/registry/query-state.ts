import { type BackoffOptions, backoffMs } from "../../base/backoff.ts";
import type { RegisteredQuery } from "./registered-query.ts";

/** Why a query has no fresh result: a closed list of codes, and words for a person. */
export interface QueryFailure {
  readonly code: QueryFailureCode;
  readonly reason: string;
}

/** The kinds of {@link QueryFailure}. The first four can't be answered as the remote state is; the others may pass. */
export const QUERY_FAULT_CODES = [
  "no-such-store",
  "empty-value",
  "empty-store",
  "absence-not-provable",
  "proof-refused",
  "read-failed",
  "not-newer",
  "too-large",
  "rejected",
  "not-included",
  "bad-filter",
] as const;

type QueryFailureCode = (typeof QUERY_FAULT_CODES)[number];

/** Where one query stands. Immutable; each step gives a new one. */
export interface QueryState {
  readonly query: RegisteredQuery;
  /** Failures since the last result. */
  readonly failures: number;
  /** Not before this wall-clock time, ms. 0: at once. */
  readonly notBeforeMs: number;
  readonly error: QueryFailure | undefined;
  /** Results included since the relayer started. */
  readonly results: number;
}

/**
 * A query that was just read from the chain. A known one keeps its failures only if nothing about the question changed.
 * What was read may be older than what an included result told meanwhile: the later heights stay, unless they lie ahead
 * of `localHeight`, as those of a chain that was started over do.
 */
export function refreshed(
  known: QueryState | undefined,
  query: RegisteredQuery,
  localHeight: bigint,
): QueryState {
  if (known === undefined || !sameQuestion(known.query, query))
    return { query, failures: 0, notBeforeMs: 0, error: undefined, results: known?.results ?? 0 };
  const { lastLocalHeight, lastRemoteHeight } = known.query;
  if (lastLocalHeight <= query.lastLocalHeight || lastLocalHeight > localHeight) return { ...known, query };
  return { ...known, query: { ...query, lastLocalHeight, lastRemoteHeight } };
}

/** Whether its last result was refused: the next one had better not travel with those of others. */
export function isSuspect({ error }: QueryState): boolean {
  return error?.code === "rejected" || error?.code === "not-included";
}

/** After a failure: held back for a time that doubles with each one. */
export function failed(
  state: QueryState,
  error: QueryFailure,
  at: { readonly nowMs: number; readonly backoff: BackoffOptions; readonly random: () => number },
): QueryState {
  const wait = backoffMs(state.failures, at.backoff, at.random);
  return { ...state, error, failures: state.failures + 1, notBeforeMs: at.nowMs + wait };
}

/** After an included KV result of this remote height. */
export function answered(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly remote: RegisteredQuery["lastRemoteHeight"] },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight, lastRemoteHeight: at.remote };
  return { query, failures: 0, notBeforeMs: 0, error: undefined, results: state.results + 1 };
}

/** After a search for transactions that went through, with `results` of them relayed. */
export function searched(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly results: number },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight };
  return { query, failures: 0, notBeforeMs: 0, error: undefined, results: state.results + at.results };
}

/**
 * Whether a query wants a result at this local height and time: never answered, or `updatePeriod` blocks since. What is
 * sent now is in the next block at the earliest, so a KV result is due one block before it may be there.
 */
export function isDue(state: QueryState, localHeight: bigint, nowMs: number): boolean {
  if (nowMs < state.notBeforeMs) return false;
  const { type, lastLocalHeight, updatePeriod } = state.query;
  const counted = type === "kv" ? localHeight + 1n : localHeight;
  return lastLocalHeight === 0n || counted >= lastLocalHeight + updatePeriod;
}

/** Whether both ask the same: connection, type, keys, filter and period. */
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
