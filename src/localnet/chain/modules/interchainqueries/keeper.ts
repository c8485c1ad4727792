import { concat, readUint64BigEndian, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { QueryResult } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../runtime/context.ts";
import type { Codec } from "../../store/collections.ts";
import {
  bytesCodec,
  createItem,
  createMap,
  messageCodec,
  rememberingCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { ErrInvalidQueryID, ErrNoQueryResult } from "./errors.ts";
import * as keys from "./keys.ts";
import { ZERO_PARAMS } from "./params.ts";

/** Value of entries of which only the key matters. */
const MARK = new Uint8Array(0);

/** A transaction that was delivered for a TX query. `hash` is its SHA-256. */
export interface SubmittedTx {
  readonly queryId: bigint;
  readonly hash: Uint8Array;
}

const submittedTxCodec: Codec<SubmittedTx> = {
  encode: ({ queryId, hash }) => concat(uint64BigEndian(queryId), hash),
  decode: (bytes) => ({ queryId: readUint64BigEndian(bytes), hash: bytes.subarray(8) }),
};

const { MODULE_NAME } = keys;
const paramsItem = createItem(MODULE_NAME, keys.PARAMS_KEY, rememberingCodec(messageCodec(Params)));

/** The last assigned id; absent before the first registration. */
export const lastId = createItem(MODULE_NAME, keys.LAST_ID_KEY, uint64Codec);
/** Registered queries by id. */
export const queries = createMap(
  MODULE_NAME,
  keys.QUERY_PREFIX,
  uint64Codec,
  messageCodec<RegisteredQuery>(RegisteredQuery),
);
/** Latest results of KV queries by query id, without proofs. */
export const results = createMap(
  MODULE_NAME,
  keys.RESULT_PREFIX,
  uint64Codec,
  messageCodec<QueryResult>(QueryResult),
);
/** Transactions that were delivered to the owners of TX queries. Values are empty. */
export const submittedTxs = createMap(MODULE_NAME, keys.SUBMITTED_TX_PREFIX, submittedTxCodec, bytesCodec);
/** Ids of removed TX queries whose submitted transactions await deletion. Values are empty. */
export const removedTxQueries = createMap(MODULE_NAME, keys.REMOVED_TX_QUERY_PREFIX, uint64Codec, bytesCodec);

/** Returns the parameters; all zero before any were stored, as in Go. */
export function getParams(context: Context): Params {
  return paramsItem.get(context) ?? ZERO_PARAMS;
}

/** Replaces the parameters without checks. The README lists the meaning of zero and empty values. */
export function setParams(context: Context, params: Params): void {
  paramsItem.set(context, params);
}

/** Assigns and returns the next id. */
export function nextId(context: Context): bigint {
  const id = (lastId.get(context) ?? 0n) + 1n;
  lastId.set(context, id);
  return id;
}

/** Returns a query by id. Throws ErrInvalidQueryID when it does not exist. */
export function getQuery(context: Context, id: bigint): RegisteredQuery {
  const query = queries.get(context, id);
  if (query === undefined) throw ErrInvalidQueryID(`there is no query with id: ${id}`);
  return query;
}

export function setQuery(context: Context, query: RegisteredQuery): void {
  queries.set(context, query.id, query);
}

/**
 * Deletes a query's record and KV result. The submitted transactions of a TX query may be too many for one message; the
 * query is marked, and `cleanUpRemovedQueries` deletes them at the ends of blocks.
 */
export function deleteQuery(context: Context, query: RegisteredQuery): void {
  queries.delete(context, query.id);
  if (query.queryType === "kv") results.delete(context, query.id);
  else markRemoved(context, query.id);
}

/** Returns the latest result of a KV query. Throws ErrNoQueryResult when none is stored. */
export function getResult(context: Context, id: bigint): QueryResult {
  const result = results.get(context, id);
  if (result === undefined) throw ErrNoQueryResult();
  return result;
}

/** Stores a verified KV result without proofs, block and callback flag. Sets both heights in the query's record. */
export function saveKvResult(context: Context, query: RegisteredQuery, result: QueryResult): void {
  results.set(context, query.id, {
    kvResults: result.kvResults.map((value) => ({ ...value, Proof: undefined })),
    block: undefined,
    height: result.height,
    revision: result.revision,
    allowKvCallbacks: false,
  });
  setQuery(context, {
    ...query,
    lastSubmittedResultLocalHeight: context.height,
    lastSubmittedResultRemoteHeight: { revisionNumber: result.revision, revisionHeight: result.height },
  });
}

/** Whether a transaction was already delivered for its query. */
export function isSubmitted(context: Context, tx: SubmittedTx): boolean {
  return submittedTxs.has(context, tx);
}

/** Stores the mark of a delivered transaction. */
export function markSubmitted(context: Context, tx: SubmittedTx): void {
  submittedTxs.set(context, tx, MARK);
}

/** Marks a TX query as removed. */
export function markRemoved(context: Context, id: bigint): void {
  removedTxQueries.set(context, id, MARK);
}
