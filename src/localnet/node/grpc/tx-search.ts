import { ModuleError, QueryError } from "../../chain/runtime/errors.ts";
import {
  type GetTxResponse,
  type GetTxsEventRequest,
  type GetTxsEventResponse,
  OrderBy,
} from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { PageError } from "../errors.ts";
import type { NodeView, SearchPage, StoredTx } from "../node-view.ts";
import { MAX_QUERY_LENGTH } from "../query-language/parse-query.ts";
import { QueryLanguageError } from "../query-language/scanner.ts";
import { goHexDecode } from "../rpc/go-decoding.ts";
import { GRPC } from "./grpc-status.ts";
import type { ServiceContext } from "./node-method.ts";
import { decodeFullTx, storedTxResponse } from "./tx-response.ts";

const DEFAULT_LIMIT = 100n;
/** CometBFT's largest page. It reduces a larger limit without an error. */
const MAX_LIMIT = 100n;

/** Returns the transaction with this hash (hex, either case). Throws `QueryError`. */
export function getTx(hash: string, context: ServiceContext): GetTxResponse {
  if (hash === "") throw new QueryError(GRPC.invalidArgument, "tx hash cannot be empty");
  const stored = context.view.tx(decodeHash(hash));
  if (stored === undefined) throw new QueryError(GRPC.notFound, `tx not found: ${hash}`);
  const tx = decodeFullTx(stored.tx, context.chainName);
  return { tx, txResponse: storedTxResponse(stored, tx, blockTimeNs(context.view, stored.height)) };
}

function decodeHash(hash: string): Uint8Array {
  try {
    return goHexDecode(hash);
  } catch (thrown) {
    throw new QueryError(GRPC.unknown, thrown instanceof Error ? thrown.message : "not hex");
  }
}

/**
 * Returns one page of the transactions that match a query in CometBFT's language. Throws `QueryError`.
 *
 * With vote extensions on, the first entry of a block is no transaction. Like the deployed chain, the search leaves out
 * such entries but counts them in the total, so a page may hold fewer transactions than its limit.
 */
export function searchTxs(request: GetTxsEventRequest, context: ServiceContext): GetTxsEventResponse {
  const { items, total } = search(request, context.view);
  const decoded = items.flatMap((stored) => {
    const tx = decodeIfTx(stored, context.chainName);
    return tx === undefined ? [] : [{ stored, tx }];
  });
  return {
    txs: decoded.map(({ tx }) => tx),
    txResponses: decoded.map(({ stored, tx }) =>
      storedTxResponse(stored, tx, blockTimeNs(context.view, stored.height)),
    ),
    pagination: undefined,
    total: BigInt(total),
  };
}

function search(request: GetTxsEventRequest, view: NodeView): SearchPage<StoredTx> {
  const { query, page, limit, orderBy } = request;
  if (query === "") throw searchError("query cannot be empty");
  if (query.length > MAX_QUERY_LENGTH)
    throw searchError("failed to search for txs: maximum query length exceeded");
  try {
    return view.searchTxs({
      query,
      order: orderBy === OrderBy.ORDER_BY_DESC ? "desc" : "asc",
      page: page === 0n ? 1 : Number(page),
      perPage: Number(pageSize(limit)),
    });
  } catch (thrown) {
    if (thrown instanceof QueryLanguageError || thrown instanceof PageError) {
      throw searchError(`failed to search for txs: ${thrown.message}`);
    }
    throw thrown;
  }
}

function pageSize(limit: bigint): bigint {
  if (limit === 0n) return DEFAULT_LIMIT;
  return limit > MAX_LIMIT ? MAX_LIMIT : limit;
}

function searchError(text: string): QueryError {
  return new QueryError(GRPC.internal, text);
}

/** Decodes an entry of a block. Returns undefined when it is not a transaction. */
export function decodeIfTx(entry: Pick<StoredTx, "tx">, chainName: string): GetTxResponse["tx"] {
  try {
    return decodeFullTx(entry.tx, chainName);
  } catch (thrown) {
    if (thrown instanceof ModuleError) return undefined;
    throw thrown;
  }
}

function blockTimeNs(view: NodeView, height: bigint): bigint {
  const block = view.block(height);
  if (block === undefined) throw new QueryError(GRPC.unknown, `height ${height} is not available`);
  return block.header.timeNs;
}
