import type { ProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { ParamsModuleOptions } from "../../runtime/params-module.ts";
import type { IbcKeeper as Keeper } from "../ibc/keeper.ts";
import type { ContractKeeper } from "../wasm/types.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { errorsOf, type ModuleError, GrpcCode, QueryError } from "../../runtime/errors.ts";
import { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type {
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueriesResponse,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { QueryResult } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { concat, readUint64BigEndian, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  messageCodec,
  uint64Codec,
} from "../../store/collections.ts";

export interface InterchainqueriesOptions extends ParamsModuleOptions {
  /** Denomination of the deposit in the default parameters. */
  readonly denom: string;
}

/** Bank methods that the module calls. Each method throws `ModuleError` if the balance is too small. */
interface BankKeeper {
  readonly sendFromAccountToModule: (
    context: Context,
    sender: string,
    moduleName: string,
    coins: readonly Coin[],
  ) => void;
  readonly sendFromModuleToAccount: (
    context: Context,
    moduleName: string,
    recipient: string,
    coins: readonly Coin[],
  ) => void;
}

/** Methods for clients and connections that the module calls. */
export type IbcKeeper = Pick<
  Keeper,
  "connectionIdError" | "connectionClientId" | "clientLatestHeight" | "consensusRoot" | "updateClient"
>;

export interface InterchainqueriesDeps {
  readonly bank: BankKeeper;
  readonly contracts: ContractKeeper;
  readonly ibc: IbcKeeper;
}

/** Dependencies of the message handlers: the options, other modules' keepers and the proof verifier. */
export interface Keepers extends InterchainqueriesOptions, InterchainqueriesDeps {
  readonly proofs: ProofVerifier;
}

/** Name of the module, its store and its escrow account. */
export const MODULE_NAME = "interchainqueries";

/**
 * The module's limits and query deposit. As in Go, all parameters are zero until genesis sets them. The README explains the meaning
 * of zero.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x05),
  type: Params,
  defaults: {
    querySubmitTimeout: 0n,
    queryDeposit: [],
    txQueryRemovalLimit: 0n,
    maxKvQueryKeysCount: 0n,
    maxTransactionsFilters: 0n,
  },
});

/** Returns a new chain's parameters (chain-extension-modules.md, "Limits"). `denom` is the chain's native denom. */
export function defaultParams(denom: string): Params {
  return {
    querySubmitTimeout: 1_036_800n,
    queryDeposit: [{ denom, amount: "1000000" }],
    txQueryRemovalLimit: 10_000n,
    maxKvQueryKeysCount: 32n,
    maxTransactionsFilters: 32n,
  };
}

// The module's errors, under their Go names (chain-extension-modules.md, "Errors"). ErrProtoMarshal (1108) is not defined, because
// the generated encoders can encode every record that a handler builds.
const register = errorsOf(MODULE_NAME);
export const ErrInvalidQueryID = register(1100, "invalid query id");
export const ErrEmptyResult = register(1101, "empty result");
export const ErrInvalidClientID = register(1102, "invalid client id");
export const ErrInvalidUpdatePeriod = register(1103, "invalid update period");
export const ErrInvalidConnectionID = register(1104, "invalid connection id");
export const ErrInvalidQueryType = register(1105, "invalid query type");
export const ErrInvalidTransactionsFilter = register(1106, "invalid transactions filter");
export const ErrInvalidSubmittedResult = register(1107, "invalid result");
export const ErrProtoUnmarshal = register(1109, "failed to unmarshal protobuf bytes");
export const ErrInvalidType = register(1110, "invalid type");
export const ErrInternal = register(1111, "internal error");
export const ErrInvalidProof = register(1112, "merkle proof is invalid");
export const ErrInvalidHeader = register(1113, "header is invalid");
export const ErrInvalidHeight = register(1114, "height is invalid");
export const ErrNoQueryResult = register(1115, "no query result");
export const ErrNotContract = register(1116, "not a contract");
export const ErrEmptyKeys = register(1117, "keys are empty");
export const ErrEmptyKeyPath = register(1118, "key path is empty");
export const ErrEmptyKeyID = register(1119, "key id is empty");
export const ErrTooManyKVQueryKeys = register(1120, "too many keys");
export const ErrUnexpectedQueryTypeGenesis = register(1121, "unexpected query type");

/** Wraps an error as "words: text: text". The error's text appears twice, because the Go code wraps the error in its own message. */
export function wrapTwice(words: string, error: ModuleError): ModuleError {
  return error.wrap(`${words}: ${error.message}`);
}

/** Empty value, used for store entries whose key contains all information. */
const MARK = new Uint8Array(0);

/** A transaction that was delivered for a TX query. `hash` is the transaction's SHA-256. */
interface SubmittedTx {
  readonly queryId: bigint;
  readonly hash: Uint8Array;
}

const submittedTxCodec: Codec<SubmittedTx> = {
  encode: ({ queryId, hash }) => concat(uint64BigEndian(queryId), hash),
  decode: (bytes) => ({ queryId: readUint64BigEndian(bytes), hash: bytes.subarray(8) }),
};

// Ids in keys are 8 bytes, big-endian.

/** The last assigned query id. Not stored before the first registration. */
export const lastId = createItem(MODULE_NAME, Uint8Array.of(0x64), uint64Codec);
/** Registered queries, stored under `0x01 | query id`. */
export const queries = createMap(
  MODULE_NAME,
  Uint8Array.of(0x01),
  uint64Codec,
  messageCodec<RegisteredQuery>(RegisteredQuery),
);
/** Latest results of KV queries, without proofs, stored under `0x02 | query id`. */
export const results = createMap(
  MODULE_NAME,
  Uint8Array.of(0x02),
  uint64Codec,
  messageCodec<QueryResult>(QueryResult),
);
/** Transactions delivered to the owners of TX queries, stored under `0x03 | query id | hash` with empty values. */
export const submittedTxs = createMap(MODULE_NAME, Uint8Array.of(0x03), submittedTxCodec, bytesCodec);
/** Removed TX queries whose submitted transactions have not been deleted yet, stored under `0x04 | query id` with empty values. */
export const removedTxQueries = createMap(MODULE_NAME, Uint8Array.of(0x04), uint64Codec, bytesCodec);

/** Assigns and returns the next query id. */
export function nextId(context: Context): bigint {
  const id = (lastId.get(context) ?? 0n) + 1n;
  lastId.set(context, id);
  return id;
}

/** Returns a query by id, or throws ErrInvalidQueryID for an unknown id. */
export function getQuery(context: Context, id: bigint): RegisteredQuery {
  const query = queries.get(context, id);
  if (query === undefined) throw ErrInvalidQueryID(`there is no query with id: ${id}`);
  return query;
}

export function setQuery(context: Context, query: RegisteredQuery): void {
  queries.set(context, query.id, query);
}

/**
 * Deletes a query's record and KV result. A TX query can have more submitted transactions than one message should delete, so the
 * query is only marked as removed. `cleanUpRemovedQueries` then deletes the transactions at the end of later blocks.
 */
export function deleteQuery(context: Context, query: RegisteredQuery): void {
  queries.delete(context, query.id);
  if (query.queryType === "kv") results.delete(context, query.id);
  else markRemoved(context, query.id);
}

/** Returns a KV query's latest result, or throws ErrNoQueryResult if no result is stored. */
export function getResult(context: Context, id: bigint): QueryResult {
  const result = results.get(context, id);
  if (result === undefined) throw ErrNoQueryResult();
  return result;
}

/**
 * Stores a verified KV result without its proofs, block and callback flag. Sets the local and remote heights in the query's
 * record.
 */
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

/** Records that a transaction was delivered to its query's owner. */
export function markSubmitted(context: Context, tx: SubmittedTx): void {
  submittedTxs.set(context, tx, MARK);
}

/** Marks a TX query as removed, so that later blocks delete its submitted transactions. */
export function markRemoved(context: Context, id: bigint): void {
  removedTxQueries.set(context, id, MARK);
}

/**
 * Deletes the submitted transactions of removed TX queries, in ascending order of query id. A block deletes at most
 * `tx_query_removal_limit` transactions and visits at most the same number of queries. A limit of 0 means no limit.
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

/** Deletes up to `budget` of a query's transactions, and returns how many were deleted. */
function deleteSubmittedTxs(context: Context, id: bigint, budget: bigint | undefined): bigint {
  const entries = takeFirst(submittedTxs.entries(context, uint64BigEndian(id)), budget);
  for (const [tx] of entries) submittedTxs.delete(context, tx);
  const deleted = BigInt(entries.length);
  // As in Go, the query stays marked as removed if the budget is used up, even if none of its transactions is left.
  if (deleted !== budget) removedTxQueries.delete(context, id);
  return deleted;
}

/**
 * Returns the first `count` elements, or all if `count` is undefined. Does not read beyond the last returned element, and
 * collects all elements before the caller deletes any.
 */
function takeFirst<T>(elements: Iterable<T>, count: bigint | undefined): readonly T[] {
  const taken: T[] = [];
  for (const element of elements) {
    taken.push(element);
    if (BigInt(taken.length) === count) break;
  }
  return taken;
}

/** Lists queries in ascending order of id, filtered by owners and connection. An empty filter matches every query. */
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
