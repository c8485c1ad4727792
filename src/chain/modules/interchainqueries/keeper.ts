import { concat, readUint64BigEndian, uint64BigEndian } from "../../../base/bytes.ts";
import { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import { Params } from "../../../proto/gen/neutron/interchainqueries/params.ts";
import { QueryResult } from "../../../proto/gen/neutron/interchainqueries/tx.ts";
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
import { invalidQueryId, noQueryResult } from "./errors.ts";
import * as keys from "./keys.ts";
import { ZERO_PARAMS } from "./params.ts";

/** Written where only a key's presence counts. */
const MARK = new Uint8Array(0);

/** A transaction (SHA-256 hash) that was delivered for a query. */
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

/** The last id that was assigned; nothing before the first. */
export const lastId = createItem(MODULE_NAME, keys.LAST_ID_KEY, uint64Codec);
/** Registered queries. */
export const queries = createMap(
  MODULE_NAME,
  keys.QUERY_PREFIX,
  uint64Codec,
  messageCodec<RegisteredQuery>(RegisteredQuery),
);
/** The latest result of each KV query, without proofs. */
export const results = createMap(
  MODULE_NAME,
  keys.RESULT_PREFIX,
  uint64Codec,
  messageCodec<QueryResult>(QueryResult),
);
/** Transactions that were delivered to the owners of TX queries. */
export const submittedTxs = createMap(MODULE_NAME, keys.SUBMITTED_TX_PREFIX, submittedTxCodec, bytesCodec);
/** TX queries that were removed and whose submitted transactions wait for deletion. */
export const removedTxQueries = createMap(MODULE_NAME, keys.REMOVED_TX_QUERY_PREFIX, uint64Codec, bytesCodec);

/** The parameters; all zero when none were ever stored. */
export function getParams(context: Context): Params {
  return paramsItem.get(context) ?? ZERO_PARAMS;
}

/** Replaces the parameters. Nothing is checked: zero and empty values have the meaning that README gives. */
export function setParams(context: Context, params: Params): void {
  paramsItem.set(context, params);
}

/** Assigns the next id. */
export function nextId(context: Context): bigint {
  const id = (lastId.get(context) ?? 0n) + 1n;
  lastId.set(context, id);
  return id;
}

/** A query by id; throws icq/1100 when there is none. */
export function getQuery(context: Context, id: bigint): RegisteredQuery {
  const query = queries.get(context, id);
  if (query === undefined) throw invalidQueryId(`there is no query with id: ${id}`);
  return query;
}

/** Writes a query under its id. */
export function setQuery(context: Context, query: RegisteredQuery): void {
  queries.set(context, query.id, query);
}

/** Deletes a query's record at once, and its result; what a TX query left is marked for the end of the block. */
export function deleteQuery(context: Context, query: RegisteredQuery): void {
  queries.delete(context, query.id);
  if (query.queryType === "kv") results.delete(context, query.id);
  else markRemoved(context, query.id);
}

/** The latest result of a KV query; throws icq/1115 when there is none. */
export function getResult(context: Context, id: bigint): QueryResult {
  const result = results.get(context, id);
  if (result === undefined) throw noQueryResult();
  return result;
}

/** Keeps a verified KV result, without proofs, block and callback flag, and notes both heights in the query's record. */
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

/** Whether a transaction was delivered already. */
export function isSubmitted(context: Context, tx: SubmittedTx): boolean {
  return submittedTxs.has(context, tx);
}

/** Remembers a transaction as delivered. */
export function markSubmitted(context: Context, tx: SubmittedTx): void {
  submittedTxs.set(context, tx, MARK);
}

/** Marks a TX query as removed, so that the ends of blocks delete what was delivered for it. */
export function markRemoved(context: Context, id: bigint): void {
  removedTxQueries.set(context, id, MARK);
}
