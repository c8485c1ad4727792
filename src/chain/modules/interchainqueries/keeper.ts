import { readUint64BigEndian, uint64BigEndian } from "../../../base/bytes.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import { Params } from "../../../proto/gen/neutron/interchainqueries/params.ts";
import { QueryResult } from "../../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../runtime/context.ts";
import type { KVStore } from "../../store/kv-store.ts";
import { invalidQueryId, noQueryResult } from "./errors.ts";
import {
  idOfKey,
  LAST_ID_KEY,
  MODULE_NAME,
  PARAMS_KEY,
  QUERY_PREFIX,
  queryKey,
  rangeOf,
  REMOVED_TX_QUERY_PREFIX,
  removedTxQueryKey,
  resultKey,
  submittedTxKey,
} from "./keys.ts";
import { ZERO_PARAMS } from "./params.ts";

/** Written where only a key's presence counts. */
const MARK = new Uint8Array(0);

function storeOf(context: Context): KVStore {
  return context.store(MODULE_NAME);
}

/** The parameters; all zero when none were ever stored. */
export function getParams(context: Context): Params {
  const bytes = storeOf(context).get(PARAMS_KEY);
  return bytes === undefined ? ZERO_PARAMS : Params.decode(bytes);
}

/** Replaces the parameters. Nothing is checked: zero and empty values have the meaning that README gives. */
export function setParams(context: Context, params: Params): void {
  storeOf(context).set(PARAMS_KEY, Params.encode(params).finish());
}

/** The last id that was assigned; 0 before the first. */
export function getLastId(context: Context): bigint {
  const bytes = storeOf(context).get(LAST_ID_KEY);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}

/** Records an id as assigned. */
export function setLastId(context: Context, id: bigint): void {
  storeOf(context).set(LAST_ID_KEY, uint64BigEndian(id));
}

/** A query by id, or undefined. */
export function findQuery(context: Context, id: bigint): RegisteredQuery | undefined {
  const bytes = storeOf(context).get(queryKey(id));
  return bytes === undefined ? undefined : RegisteredQuery.decode(bytes);
}

/** A query by id; throws icq/1100 when there is none. */
export function getQuery(context: Context, id: bigint): RegisteredQuery {
  const query = findQuery(context, id);
  if (query === undefined) throw invalidQueryId(`there is no query with id: ${id}`);
  return query;
}

/** Whether a query is registered. */
export function hasQuery(context: Context, id: bigint): boolean {
  return storeOf(context).has(queryKey(id));
}

/** Writes a query's record. */
export function setQuery(context: Context, query: RegisteredQuery): void {
  storeOf(context).set(queryKey(query.id), RegisteredQuery.encode(query).finish());
}

/** All registered queries by ascending id. */
export function listQueries(context: Context): readonly RegisteredQuery[] {
  return [...storeOf(context).iterate(...rangeOf(QUERY_PREFIX))].map(([, value]) =>
    RegisteredQuery.decode(value),
  );
}

/** Deletes a query's record at once, and its result; what was delivered for a TX query is left to the end of the block. */
export function deleteQuery(context: Context, query: RegisteredQuery): void {
  const store = storeOf(context);
  store.delete(queryKey(query.id));
  if (query.queryType === "kv") store.delete(resultKey(query.id));
  else if (query.queryType === "tx") store.set(removedTxQueryKey(query.id), MARK);
}

/** The latest result of a KV query; throws icq/1115 when there is none. */
export function getResult(context: Context, id: bigint): QueryResult {
  const bytes = storeOf(context).get(resultKey(id));
  if (bytes === undefined) throw noQueryResult();
  return QueryResult.decode(bytes);
}

/**
 * Keeps a verified KV result, without proofs, block and callback flag, and notes its heights in the query's record.
 */
export function saveKvResult(context: Context, query: RegisteredQuery, result: QueryResult): void {
  const kept: QueryResult = {
    kvResults: result.kvResults.map((value) => ({ ...value, Proof: undefined })),
    block: undefined,
    height: result.height,
    revision: result.revision,
    allowKvCallbacks: false,
  };
  storeOf(context).set(resultKey(query.id), QueryResult.encode(kept).finish());
  const remote: Height = { revisionNumber: result.revision, revisionHeight: result.height };
  setQuery(context, {
    ...query,
    lastSubmittedResultLocalHeight: context.height,
    lastSubmittedResultRemoteHeight: remote,
  });
}

/** Whether a transaction (SHA-256 hash) was delivered for a query already. */
export function isSubmitted(context: Context, id: bigint, hash: Uint8Array): boolean {
  return storeOf(context).has(submittedTxKey(id, hash));
}

/** Marks a transaction as delivered. */
export function markSubmitted(context: Context, id: bigint, hash: Uint8Array): void {
  storeOf(context).set(submittedTxKey(id, hash), MARK);
}

/** Marks a TX query as removed, so that the end of a block deletes what was delivered for it. */
export function markRemoved(context: Context, id: bigint): void {
  storeOf(context).set(removedTxQueryKey(id), MARK);
}

/** Ids of removed TX queries that are not cleaned up yet, ascending; at most `limit` of them when it is not 0. */
export function listRemoved(context: Context, limit: bigint): readonly bigint[] {
  const ids: bigint[] = [];
  for (const [key] of storeOf(context).iterate(...rangeOf(REMOVED_TX_QUERY_PREFIX))) {
    ids.push(idOfKey(key));
    if (BigInt(ids.length) === limit) break;
  }
  return ids;
}
