import { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type {
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueriesResponse,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { QueryResult } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { concat, readUint64BigEndian, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  messageCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { ErrInvalidQueryID, ErrNoQueryResult } from "./errors.ts";
import { MODULE_NAME, moduleParams } from "./params.ts";

/** Value of entries in which only the key matters. */
const MARK = new Uint8Array(0);

/** A transaction delivered for a TX query. `hash` is its SHA-256. */
export interface SubmittedTx {
  readonly queryId: bigint;
  readonly hash: Uint8Array;
}

const submittedTxCodec: Codec<SubmittedTx> = {
  encode: ({ queryId, hash }) => concat(uint64BigEndian(queryId), hash),
  decode: (bytes) => ({ queryId: readUint64BigEndian(bytes), hash: bytes.subarray(8) }),
};

// Ids in keys are 8 bytes, big-endian.

/** The last assigned id; absent before the first registration. */
export const lastId = createItem(MODULE_NAME, Uint8Array.of(0x64), uint64Codec);
/** Registered queries by id: `0x01 | id`. */
export const queries = createMap(
  MODULE_NAME,
  Uint8Array.of(0x01),
  uint64Codec,
  messageCodec<RegisteredQuery>(RegisteredQuery),
);
/** Latest results of KV queries, without proofs: `0x02 | query id`. */
export const results = createMap(
  MODULE_NAME,
  Uint8Array.of(0x02),
  uint64Codec,
  messageCodec<QueryResult>(QueryResult),
);
/** Transactions delivered to the owners of TX queries: `0x03 | query id | hash`. Values are empty. */
export const submittedTxs = createMap(MODULE_NAME, Uint8Array.of(0x03), submittedTxCodec, bytesCodec);
/** Removed TX queries whose submitted transactions await deletion: `0x04 | id`. Values are empty. */
export const removedTxQueries = createMap(MODULE_NAME, Uint8Array.of(0x04), uint64Codec, bytesCodec);

/** Assigns and returns the next id. */
export function nextId(context: Context): bigint {
  const id = (lastId.get(context) ?? 0n) + 1n;
  lastId.set(context, id);
  return id;
}

/** Returns a query by id. Throws ErrInvalidQueryID if it does not exist. */
export function getQuery(context: Context, id: bigint): RegisteredQuery {
  const query = queries.get(context, id);
  if (query === undefined) throw ErrInvalidQueryID(`there is no query with id: ${id}`);
  return query;
}

export function setQuery(context: Context, query: RegisteredQuery): void {
  queries.set(context, query.id, query);
}

/**
 * Deletes a query's record and KV result. A TX query may have too many submitted transactions to delete in one message, so the
 * query is marked, and `cleanUpRemovedQueries` deletes the transactions at the end of subsequent blocks.
 */
export function deleteQuery(context: Context, query: RegisteredQuery): void {
  queries.delete(context, query.id);
  if (query.queryType === "kv") results.delete(context, query.id);
  else markRemoved(context, query.id);
}

/** Returns a KV query's latest result. Throws ErrNoQueryResult if none is stored. */
export function getResult(context: Context, id: bigint): QueryResult {
  const result = results.get(context, id);
  if (result === undefined) throw ErrNoQueryResult();
  return result;
}

/** Stores a verified KV result without its proofs, block and callback flag, and sets both heights in the query's record. */
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

/** Marks a transaction as delivered. */
export function markSubmitted(context: Context, tx: SubmittedTx): void {
  submittedTxs.set(context, tx, MARK);
}

/** Marks a TX query as removed. */
export function markRemoved(context: Context, id: bigint): void {
  removedTxQueries.set(context, id, MARK);
}

/**
 * Deletes the submitted transactions of removed TX queries, in ascending order of query id. One block deletes at most
 * `tx_query_removal_limit` transactions and visits at most that many queries; 0 means no limit.
 */
export function cleanUpRemovedQueries(context: Context): void {
  const { txQueryRemovalLimit: limit } = moduleParams.get(context);
  let budget = limit === 0n ? undefined : limit;
  for (const id of takeFirst(removedIds(context), budget)) {
    const deleted = deleteSubmittedTxs(context, id, budget);
    if (budget === undefined) continue;
    budget -= deleted;
    if (budget === 0n) return;
  }
}

function* removedIds(context: Context): IterableIterator<bigint> {
  for (const [id] of removedTxQueries.entries(context)) yield id;
}

/** Deletes up to `budget` of a query's transactions. Returns the number deleted. */
function deleteSubmittedTxs(context: Context, id: bigint, budget: bigint | undefined): bigint {
  const entries = takeFirst(submittedTxs.entries(context, uint64BigEndian(id)), budget);
  for (const [tx] of entries) submittedTxs.delete(context, tx);
  const deleted = BigInt(entries.length);
  // As in Go, the mark remains if the budget is used up, even if no transaction is left. A later block deletes the mark.
  if (deleted !== budget) removedTxQueries.delete(context, id);
  return deleted;
}

/** Returns the first `count` elements, or all of them. Collects elements before deletion, and reads none beyond the last. */
function takeFirst<T>(elements: Iterable<T>, count: bigint | undefined): readonly T[] {
  const taken: T[] = [];
  for (const element of elements) {
    taken.push(element);
    if (BigInt(taken.length) === count) break;
  }
  return taken;
}

/** Lists queries in ascending order of id, filtered by owners and connection. Empty filters match all. */
export function pageQueries(
  context: Context,
  { owners, connectionId, pagination }: QueryRegisteredQueriesRequest,
): QueryRegisteredQueriesResponse {
  const registeredQueries: RegisteredQuery[] = [];
  const matches = (query: RegisteredQuery): boolean =>
    (owners.length === 0 || owners.includes(query.owner)) &&
    (connectionId === "" || connectionId === query.connectionId);
  const page = wrapPagingErrors(() =>
    paginateFiltered(queries.range(context), pagination, (_key, value, onPage) => {
      const query = RegisteredQuery.decode(value);
      const isMatch = matches(query);
      if (isMatch && onPage) registeredQueries.push(query);
      return isMatch;
    }),
  );
  return { registeredQueries, pagination: page };
}

function wrapPagingErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof QueryError
      ? new QueryError(GrpcCode.Internal, `paginate: ${error.message}`)
      : error;
  }
}
