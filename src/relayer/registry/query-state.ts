import { type BackoffOptions, backoffMs } from "../../platform/base/waits.ts";
import { equalBytes } from "../../platform/base/bytes.ts";
import { minInt } from "../../platform/base/integers.ts";
import { isNewer, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";

export interface QueryFailure {
  readonly code: QueryFailureCode;
  /** Human-readable description, which may differ between attempts because it may contain heights. */
  readonly reason: string;
}

/**
 * Codes of {@link QueryFailure}, as they appear in JSON, logs and metrics. The first four persist until the remote state changes,
 * because ICS-23 cannot prove the current state.
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

/** A read that led to no new result because its values equal the last result's values. */
interface UnchangedRead {
  readonly at: RemoteHeight;
  /** Height of the local block that would have included a result from this read. */
  readonly localHeight: bigint;
  /** Age, in local blocks, at which the last result is too old even if its values are unchanged. */
  readonly maxAge: bigint;
}

/** A KV result that this process sent. */
export interface SentResult {
  readonly at: RemoteHeight;
  /** Hash of the keys and values, which serves to detect unchanged values. */
  readonly hash: string;
  /** Local height of the first in an unbroken series of results with these values; undefined until this result is included. */
  readonly sinceHeight: bigint | undefined;
  /** The last later read that found the same values as this result; undefined if there is none. */
  readonly again: UnchangedRead | undefined;
}

/** A served query and the outcome of its last cycles. States are immutable, so the functions in this file return a new state. */
export interface QueryState {
  readonly query: RegisteredQuery;
  /**
   * Local height from which this relayer must serve the query: the height of the query's last change or, for a TX query, of the
   * first read. The height is 0 for a KV query without a change since the first read, because the chain's data shows when the query
   * became due.
   */
  readonly sinceHeight: bigint;
  /** Number of failures since the last result. */
  readonly failures: number;
  /** Monotonic time of the next attempt, ms; 0 for an immediate attempt. On the monotonic clock, a clock jump cannot stop a query. */
  readonly notBeforeMs: number;
  /** The query's last failure, which a success clears. */
  readonly error: QueryFailure | undefined;
  /** Number of results that blocks have included since the relayer started. */
  readonly results: number;
  /** True if an operator requested an immediate cycle, even if the query is not due. */
  readonly isRequested: boolean;
  /** The last included KV result and newer results without an outcome; empty unless unchanged values are skipped. */
  readonly sent: readonly SentResult[];
}

/** Values of {@link statusOf}, as they appear in JSON and metrics. */
export const QUERY_STATUSES = ["answered", "pending", "backing_off"] as const;

export type QueryStatus = (typeof QUERY_STATUSES)[number];

/** Returns "backing_off" after a failure, "pending" before the first result, and "answered" otherwise. */
export function statusOf({ error, query }: QueryState): QueryStatus {
  if (error !== undefined) return "backing_off";
  return query.lastLocalHeight === 0n ? "pending" : "answered";
}

/**
 * Returns a query's state after the query has been read at the latest local height, `localHeight`. Retains failures and backoff
 * only if the query's registration is unchanged.
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
    return { query, sinceHeight, results, sent: [], ...unanswered };
  }
  const { lastLocalHeight, lastRemoteHeight } = known.query;
  // If a block included a result during the read, the response is older than the known heights, so keep the known heights. A
  // known height above the local height is from before a chain reset, so drop it.
  if (lastLocalHeight <= query.lastLocalHeight || lastLocalHeight > localHeight) return { ...known, query };
  return { ...known, query: { ...query, lastLocalHeight, lastRemoteHeight } };
}

/** Returns true if the chain rejected the last result. The submitter then sends the next result in a separate transaction. */
export function wasRejected({ error }: QueryState): boolean {
  return error?.code === "rejected" || error?.code === "not-included";
}

/** Returns the state after a failure, with a backoff that doubles with each failure. `at.nowMs` is monotonic. */
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

/** Returns the state after a block included a KV result for remote height `at.remote`. */
export function answered(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly remote: RegisteredQuery["lastRemoteHeight"] },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight, lastRemoteHeight: at.remote };
  return { ...state, ...SUCCEEDED, query, sent: sentAfter(state, at), results: state.results + 1 };
}

function sentAfter(
  { query, sent }: QueryState,
  { localHeight, remote }: Parameters<typeof answered>[1],
): readonly SentResult[] {
  const before = sent.find(({ sinceHeight }) => sinceHeight !== undefined);
  return sent.flatMap((one) => {
    if (!isSame(one.at, remote)) return isNewer(one.at, remote) ? [one] : [];
    // The query may have been read from the chain before this outcome was known.
    const isNext = isSame(one.at, query.lastRemoteHeight) || before === lastSent({ query, sent });
    const isEqual = isNext && before?.hash === one.hash;
    return [{ ...one, sinceHeight: isEqual ? before.sinceHeight : localHeight }];
  });
}

/** Returns the chain's last result, if this process sent it. */
function lastSent({ query, sent }: Pick<QueryState, "query" | "sent">): SentResult | undefined {
  return sent.find(({ at }) => isSame(at, query.lastRemoteHeight));
}

function isSame(a: RemoteHeight, b: RemoteHeight | undefined): boolean {
  return a.revision === b?.revision && a.height === b.height;
}

/** Returns the state after a KV result has been passed to the submitter. */
export function handedOver(state: QueryState, result: Pick<SentResult, "at" | "hash">): QueryState {
  return { ...state, sent: [...state.sent, { ...result, sinceHeight: undefined, again: undefined }] };
}

/** Returns the state after the KV result for remote height `remote` was given up because no block included the result. */
export function notIncluded(state: QueryState, remote: RemoteHeight): QueryState {
  return { ...state, sent: state.sent.filter(({ at }) => !isSame(at, remote)) };
}

/**
 * Returns the state after a read whose values need not be sent, or undefined if the values must be sent. The values must be sent
 * if:
 *
 * - the values differ from the last result's values;
 * - the last result is unknown;
 * - the last result will be `maxAge` blocks old in block `read.localHeight`;
 * - an operator requested a result.
 *
 * The last result is the newest result without an outcome or, if there is none, the chain's last result.
 */
export function unchangedBy(
  state: QueryState,
  read: UnchangedRead & Pick<SentResult, "hash">,
): QueryState | undefined {
  const { query, sent, isRequested } = state;
  const pending = sent.findLast(
    ({ at, sinceHeight }) => sinceHeight === undefined && isNewer(at, query.lastRemoteHeight),
  );
  const last = pending ?? lastSent(state);
  // A result that is not yet in a block will be one update period old before the next result is due.
  const age = pending === undefined ? read.localHeight - query.lastLocalHeight : query.updatePeriod;
  if (isRequested || last?.hash !== read.hash || age >= read.maxAge) return undefined;
  const { at, localHeight, maxAge } = read;
  // A second read of the same remote block means that a result is required (`lastReadHeight`), so the values must be sent.
  if (isSame(at, last.again?.at)) return undefined;
  const again = { at, localHeight, maxAge };
  return { ...state, ...SUCCEEDED, sent: sent.map((one) => (one === last ? { ...one, again } : one)) };
}

/** Returns the last read that found the query's last result unchanged; undefined if there is none. */
export function unchangedReadOf(state: Pick<QueryState, "query" | "sent">): UnchangedRead | undefined {
  return lastSent(state)?.again;
}

/** Returns the local height since which all results have had the last read's values; undefined if the last read found new values. */
export function unchangedSince(state: QueryState): bigint | undefined {
  const last = lastSent(state);
  return last?.again === undefined || state.sent.at(-1) !== last ? undefined : last.sinceHeight;
}

/**
 * Returns the local height at which the last result becomes too old although its values are unchanged; undefined if the values have
 * changed.
 */
export function requiredHeight(state: QueryState): bigint | undefined {
  const read = unchangedReadOf(state);
  return read && state.query.lastLocalHeight + read.maxAge;
}

/** Returns the remote height that a read for local block `height` must exceed. */
export function lastReadHeight(state: QueryState, height: bigint): RemoteHeight | undefined {
  const required = requiredHeight(state);
  return required === undefined || height >= required
    ? state.query.lastRemoteHeight
    : unchangedReadOf(state)?.at;
}

/** Returns the local height at which a query with a result must be read again, for its next result or to detect a change. */
export function dueHeightOf(state: QueryState): bigint {
  const { lastLocalHeight, updatePeriod } = state.query;
  const read = unchangedReadOf(state);
  return read === undefined
    ? lastLocalHeight + updatePeriod
    : minInt(read.localHeight + updatePeriod, lastLocalHeight + read.maxAge);
}

/** Returns the query as if the last read with unchanged values had delivered a result. */
export function asAnswered(state: QueryState): RegisteredQuery {
  const { query } = state;
  return unchangedReadOf(state) === undefined
    ? query
    : { ...query, lastLocalHeight: dueHeightOf(state) - query.updatePeriod };
}

/** Returns the state after a complete transaction search that relayed `at.results` transactions. */
export function searched(
  state: QueryState,
  at: { readonly localHeight: bigint; readonly results: number },
): QueryState {
  const query = { ...state.query, lastLocalHeight: at.localHeight };
  const results = state.results + at.results;
  return { ...state, ...SUCCEEDED, query, results };
}

/** Returns the state after another relayer has sent a result. The chain's copy of the query shows when the next result is due. */
export function outrun(state: QueryState): QueryState {
  return { ...state, ...SUCCEEDED };
}

const SUCCEEDED = { failures: 0, notBeforeMs: 0, error: undefined, isRequested: false } as const;

/**
 * Returns true if a query must be read. The query's backoff must be over, and one of these cases must apply:
 * - the query has no result;
 * - `updatePeriod` local blocks have passed since the last result or unchanged read;
 * - an operator requested a result.
 *
 * `nowMs` is monotonic.
 */
export function isDue(state: QueryState, localHeight: bigint, nowMs: number): boolean {
  if (nowMs < state.notBeforeMs) return false;
  const { type, lastLocalHeight } = state.query;
  // For a KV query, use the next block, which is the first that can include a result. A TX search is recorded with the height at
  // which it ran.
  const atHeight = type === "kv" ? localHeight + 1n : localHeight;
  return state.isRequested || lastLocalHeight === 0n || atHeight >= dueHeightOf(state);
}

/** Returns true if two registrations have the same connection, type, keys, filter and period. */
export function sameQuestion(a: RegisteredQuery, b: RegisteredQuery): boolean {
  return (
    a === b ||
    (a.connectionId === b.connectionId &&
      a.type === b.type &&
      a.updatePeriod === b.updatePeriod &&
      a.transactionsFilter === b.transactionsFilter &&
      a.keys.length === b.keys.length &&
      a.keys.every(({ path, key }, index) => {
        const other = b.keys[index];
        return other !== undefined && path === other.path && equalBytes(key, other.key);
      }))
  );
}
