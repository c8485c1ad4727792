import { TxResponse } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import type { PageRequest } from "../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { AuthInfo, Tx, TxBody, TxRaw } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { sha256, upperHex } from "../../../platform/base/bytes.ts";
import { minInt } from "../../../platform/base/integers.ts";
import { formatRfc3339Ns, NS_PER_SECOND } from "../../../platform/base/time.ts";
import {
  ErrInvalidHeight,
  ErrInvalidRequest,
  GrpcCode,
  ModuleError,
  QueryError,
} from "../../chain/runtime/errors.ts";
import { decodeTx } from "../../chain/runtime/tx.ts";
import { MempoolError, type MempoolErrorFacts, PageError } from "../base/errors.ts";
import { goHexDecode } from "../base/go-decoding.ts";
import type { NodeView, SearchPage, StoredTx } from "../base/node-view.ts";
import { MAX_QUERY_LENGTH, QueryLanguageError } from "../query-language/parse-query.ts";
import { nodeMethods, type ServiceContext } from "./node-method.ts";
import { protoBlock, protoBlockId } from "./node-services.ts";

/**
 * Methods of `cosmos.tx.v1beta1.Service`, except Simulate, which the application serves, and the two unused amino methods.
 */
export const TX_METHODS = nodeMethods<typeof wire>("cosmos.tx.v1beta1.Service", wire, {
  GetTx: ({ hash }, context) => getTx(hash, context),
  GetTxsEvent: searchTxs,
  BroadcastTx: (request, { view }) => ({ txResponse: broadcast(request, view) }),
  GetBlockWithTxs: getBlockWithTxs,
  TxDecode: ({ txBytes }, { chainName }) => {
    if (txBytes.length === 0) throw new QueryError(GrpcCode.InvalidArgument, "invalid empty tx bytes");
    return { tx: decodeFullTx(txBytes, chainName) };
  },
  TxEncode: ({ tx }) => {
    if (tx === undefined) throw new QueryError(GrpcCode.InvalidArgument, "invalid empty tx");
    return { txBytes: encodeTx(tx) };
  },
});

function encodeTx({ body, authInfo, signatures }: Tx): Uint8Array {
  return TxRaw.encode({
    bodyBytes: body === undefined ? new Uint8Array() : TxBody.encode(body).finish(),
    authInfoBytes: authInfo === undefined ? new Uint8Array() : AuthInfo.encode(authInfo).finish(),
    signatures,
  }).finish();
}

const DEFAULT_LIMIT = 100n;

/** Returns a block and a page of its transactions. Entries of the block that are not transactions are omitted. */
function getBlockWithTxs(
  { height, pagination }: wire.GetBlockWithTxsRequest,
  { view, chainName }: ServiceContext,
): wire.GetBlockWithTxsResponse {
  const { latestHeight } = view.status();
  const stored = view.block(height);
  if (stored === undefined) {
    throw ErrInvalidHeight(
      `requested height ${height} but height must not be less than 1 or greater than the current height ${latestHeight}`,
    );
  }
  return {
    txs: pageOf(stored.txs, pagination).flatMap((tx) => decodeIfTx({ tx }, chainName) ?? []),
    blockId: protoBlockId(stored.blockId),
    block: protoBlock(stored),
    pagination: { nextKey: new Uint8Array(), total: BigInt(stored.txs.length) },
  };
}

/** Returns at most `limit` entries from `offset` on. With `reverse`, the offset counts from the end of the block. */
function pageOf(txs: readonly Uint8Array[], page: PageRequest | undefined): readonly Uint8Array[] {
  const offset = page?.offset ?? 0n;
  const limit = page === undefined || page.limit === 0n ? DEFAULT_LIMIT : page.limit;
  const count = BigInt(txs.length);
  if (offset >= count && count !== 0n) {
    throw ErrInvalidRequest(
      `out of range: cannot paginate ${count} txs with offset ${offset} and limit ${limit}`,
    );
  }
  const ordered = page?.reverse === true ? txs.toReversed() : txs;
  return ordered.slice(Number(offset), Number(minInt(offset + limit, count)));
}

const DEFAULT_PAGE_SIZE = 100n;
/** CometBFT's maximum page size. The service silently reduces a larger limit to this size. */
const MAX_PAGE_SIZE = 100n;

/** Returns the transaction with this hash, in upper- or lower-case hex. Throws `QueryError`. */
function getTx(hash: string, context: ServiceContext): wire.GetTxResponse {
  if (hash === "") throw new QueryError(GrpcCode.InvalidArgument, "tx hash cannot be empty");
  const stored = context.view.tx(decodeHash(hash));
  if (stored === undefined) throw new QueryError(GrpcCode.NotFound, `tx not found: ${hash}`);
  const tx = decodeFullTx(stored.tx, context.chainName);
  return { tx, txResponse: storedTxResponse(stored, tx, blockTimeNs(context.view, stored.height)) };
}

function decodeHash(hash: string): Uint8Array {
  try {
    return goHexDecode(hash);
  } catch (thrown) {
    throw new QueryError(GrpcCode.Unknown, thrown instanceof Error ? thrown.message : "not hex");
  }
}

/**
 * Returns a page of the transactions that match a query in CometBFT's query language. Throws `QueryError`.
 *
 * With vote extensions enabled, the first entry in a block is not a transaction. As on the deployed chain, searches omit entries
 * that are not transactions, but include them in the total. A page may therefore have fewer transactions than its limit.
 */
function searchTxs(request: wire.GetTxsEventRequest, context: ServiceContext): wire.GetTxsEventResponse {
  const { items, total } = search(request, context.view);
  const txs: Tx[] = [];
  const txResponses: TxResponse[] = [];
  let bytes = 0;
  for (const stored of items) {
    const tx = decodeIfTx(stored, context.chainName);
    if (tx === undefined) continue;
    txs.push(tx);
    const response = storedTxResponse(stored, tx, blockTimeNs(context.view, stored.height));
    txResponses.push(response);
    bytes += stored.tx.length + TxResponse.encode(response).finish().length;
    if (bytes > MAX_PAGE_BYTES) {
      const text = `grpc: received message larger than max (${bytes} vs. ${MAX_PAGE_BYTES})`;
      throw new QueryError(GrpcCode.ResourceExhausted, text);
    }
  }
  return {
    txs,
    txResponses,
    pagination: undefined,
    total: BigInt(total),
  };
}

/**
 * Maximum size of a page in bytes, because grpc-go clients reject larger messages by default and formatting a large page as JSON is slow.
 */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

function search(request: wire.GetTxsEventRequest, view: NodeView): SearchPage<StoredTx> {
  const { query, page, limit, orderBy } = request;
  if (query === "") throw searchError("query cannot be empty");
  if (query.length > MAX_QUERY_LENGTH)
    throw searchError("failed to search for txs: maximum query length exceeded");
  try {
    return view.searchTxs({
      query,
      order: orderBy === wire.OrderBy.ORDER_BY_DESC ? "desc" : "asc",
      page: page === 0n ? 1 : Number(page),
      perPage: Number(limit === 0n ? DEFAULT_PAGE_SIZE : minInt(limit, MAX_PAGE_SIZE)),
    });
  } catch (thrown) {
    if (thrown instanceof QueryLanguageError || thrown instanceof PageError) {
      throw searchError(`failed to search for txs: ${thrown.message}`);
    }
    throw thrown;
  }
}

function searchError(text: string): QueryError {
  return new QueryError(GrpcCode.Internal, text);
}

/** Decodes a block entry, or returns undefined if the entry is not a transaction. */
function decodeIfTx(entry: Pick<StoredTx, "tx">, chainName: string): wire.GetTxResponse["tx"] {
  try {
    return decodeFullTx(entry.tx, chainName);
  } catch (thrown) {
    if (thrown instanceof ModuleError) return undefined;
    throw thrown;
  }
}

function blockTimeNs(view: NodeView, height: bigint): bigint {
  const block = view.block(height);
  if (block === undefined) throw new QueryError(GrpcCode.Unknown, `height ${height} is not available`);
  return block.header.timeNs;
}

/** SDK error codes for transactions rejected by the mempool before CheckTx (`client/broadcast.go`). */
const MEMPOOL_CODES: Readonly<Record<MempoolErrorFacts["code"], number>> = {
  "tx-in-cache": 19,
  "mempool-full": 20,
  "tx-too-large": 21,
};

/** Broadcasts a transaction. As in the SDK, mode sync returns the CheckTx result, and mode async returns only the hash. */
function broadcast({ txBytes, mode }: wire.BroadcastTxRequest, view: NodeView): TxResponse {
  if (txBytes.length === 0) throw new QueryError(GrpcCode.InvalidArgument, "invalid empty tx");
  if (mode !== wire.BroadcastMode.BROADCAST_MODE_SYNC && mode !== wire.BroadcastMode.BROADCAST_MODE_ASYNC) {
    throw new QueryError(
      GrpcCode.Unknown,
      "unsupported return type unspecified; supported types: sync, async",
    );
  }
  try {
    const { hash, check } = view.broadcast(txBytes);
    if (mode === wire.BroadcastMode.BROADCAST_MODE_ASYNC) return emptyTxResponse(hash);
    const { code, codespace, log, data } = check;
    return { ...emptyTxResponse(hash), code, codespace, data: upperHex(data), rawLog: log };
  } catch (thrown) {
    if (!(thrown instanceof MempoolError)) throw thrown;
    const code = MEMPOOL_CODES[thrown.facts.code];
    return { ...emptyTxResponse(sha256(txBytes)), codespace: "sdk", code };
  }
}

/** Decodes a transaction as strictly as the chain does. Throws `ModuleError` sdk/2. */
function decodeFullTx(bytes: Uint8Array, chainName: string): Tx {
  // Pass no message handlers, because handlers are only needed to look up a message's signers.
  const { body, authInfo, raw } = decodeTx(bytes, { chainName, handlers: new Map() });
  return { body, authInfo, signatures: raw.signatures };
}

/** Converts an executed transaction and its result to a `TxResponse`, with the block time as `timestamp`. */
function storedTxResponse(stored: StoredTx, tx: Tx, timeNs: bigint): TxResponse {
  const { code, codespace, log, data, gasWanted, gasUsed, events } = stored.result;
  return {
    height: stored.height,
    txhash: upperHex(stored.hash),
    codespace,
    code,
    data: upperHex(data),
    rawLog: log,
    logs: [],
    info: "",
    gasWanted,
    gasUsed,
    tx: { typeUrl: TYPE_URL.tx, value: Tx.encode(tx).finish() },
    timestamp: formatRfc3339Ns(wholeSeconds(timeNs)),
    events: events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
  };
}

function emptyTxResponse(hash: Uint8Array): TxResponse {
  return {
    height: 0n,
    txhash: upperHex(hash),
    codespace: "",
    code: 0,
    data: "",
    rawLog: "",
    logs: [],
    info: "",
    gasWanted: 0n,
    gasUsed: 0n,
    tx: undefined,
    timestamp: "",
    events: [],
  };
}

/** Rounds a time down to seconds, even before 1970, because the SDK's format (`time.RFC3339`) has no fractions. */
function wholeSeconds(timeNs: bigint): bigint {
  return timeNs - (((timeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND);
}
