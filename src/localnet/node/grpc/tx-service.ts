import { ErrInvalidHeight, ErrInvalidRequest, QueryError } from "../../chain/runtime/errors.ts";
import type { PageRequest } from "../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import {
  BroadcastTxRequest,
  BroadcastTxResponse,
  GetBlockWithTxsRequest,
  GetBlockWithTxsResponse,
  GetTxRequest,
  GetTxResponse,
  GetTxsEventRequest,
  GetTxsEventResponse,
  TxDecodeRequest,
  TxDecodeResponse,
  TxEncodeRequest,
  TxEncodeResponse,
} from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { AuthInfo, type Tx, TxBody, TxRaw } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { broadcast } from "./broadcast.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, nodeMethod, type ServiceContext } from "./node-method.ts";
import { protoBlock, protoBlockId } from "./proto-block.ts";
import { decodeIfTx, getTx, searchTxs } from "./tx-search.ts";
import { decodeFullTx } from "./tx-response.ts";

const SERVICE = "/cosmos.tx.v1beta1.Service";

/** The method that an `abci_query` cannot call. */
export const BROADCAST_PATH = `${SERVICE}/BroadcastTx`;

/**
 * `cosmos.tx.v1beta1.Service` without Simulate, which the application serves, and without the two methods for amino bytes,
 * which no tool of these chains calls.
 */
export const TX_METHODS: readonly NodeMethod[] = [
  nodeMethod(`${SERVICE}/GetTx`, GetTxRequest, GetTxResponse, ({ hash }, context) => getTx(hash, context)),
  nodeMethod(`${SERVICE}/GetTxsEvent`, GetTxsEventRequest, GetTxsEventResponse, searchTxs),
  {
    ...nodeMethod(BROADCAST_PATH, BroadcastTxRequest, BroadcastTxResponse, (request, { view }) => ({
      txResponse: broadcast(request, view),
    })),
    stateless: true,
  },
  nodeMethod(`${SERVICE}/GetBlockWithTxs`, GetBlockWithTxsRequest, GetBlockWithTxsResponse, getBlockWithTxs),
  nodeMethod(`${SERVICE}/TxDecode`, TxDecodeRequest, TxDecodeResponse, ({ txBytes }, { chainName }) => {
    if (txBytes.length === 0) throw new QueryError(GRPC.invalidArgument, "invalid empty tx bytes");
    return { tx: decodeFullTx(txBytes, chainName) };
  }),
  nodeMethod(`${SERVICE}/TxEncode`, TxEncodeRequest, TxEncodeResponse, ({ tx }) => {
    if (tx === undefined) throw new QueryError(GRPC.invalidArgument, "invalid empty tx");
    return { txBytes: encodeTx(tx) };
  }),
];

function encodeTx({ body, authInfo, signatures }: Tx): Uint8Array {
  return TxRaw.encode({
    bodyBytes: body === undefined ? new Uint8Array() : TxBody.encode(body).finish(),
    authInfoBytes: authInfo === undefined ? new Uint8Array() : AuthInfo.encode(authInfo).finish(),
    signatures,
  }).finish();
}

const DEFAULT_LIMIT = 100n;

/** Returns a block and one page of its transactions, without entries that are not transactions. */
function getBlockWithTxs(
  { height, pagination }: GetBlockWithTxsRequest,
  { view, chainName }: ServiceContext,
): GetBlockWithTxsResponse {
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

/** The entries between offset and offset + limit. With `reverse` both count from the end of the block. */
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
  const end = offset + limit > count ? count : offset + limit;
  return ordered.slice(Number(offset), Number(end));
}
