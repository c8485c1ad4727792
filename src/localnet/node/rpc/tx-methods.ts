import { withDeadline } from "../../../platform/base/abort.ts";
import { equalBytes, toBase64, upperHex } from "../../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import { createDeferred } from "../../../platform/process/deferred.ts";
import type { TxResult } from "../../chain/runtime/abci.ts";
import type { SearchPage, SearchRequest, StoredTx } from "../base/node-view.ts";
import { MAX_QUERY_LENGTH, parseQuery } from "../query-language/parse-query.ts";
import {
  type CallTurn,
  internal,
  JsonText,
  method,
  type RpcContext,
  RpcError,
  type RpcMethod,
  toPerPage,
} from "./method.ts";
import { resultBlockJson, resultTxJson, txResultJson } from "./result-json.ts";

/** Methods for transactions: search, broadcast, mempool. */
export const TX_METHODS: Readonly<Record<string, RpcMethod>> = {
  tx: method({ hash: "bytes", prove: "bool" }, ({ hash, prove }, { view }) => {
    const tx = view.tx(hash);
    if (tx === undefined) throw internal(`tx (${upperHex(hash)}) not found`);
    return resultTxJson(tx, prove ? view.block(tx.height)?.txs : undefined);
  }),
  tx_search: method(
    { query: "string", prove: "bool", page: "int64", per_page: "int64", order_by: "string" },
    (search, { view }, { pause }) => {
      // Without order_by, CometBFT sorts transactions in ascending order and blocks (below) in descending order.
      const found = view.searchTxs(toSearch(search, "asc"));
      const toJson = (tx: StoredTx): JsonObject =>
        resultTxJson(tx, search.prove ? view.block(tx.height)?.txs : undefined);
      return printPage("txs", found, toJson, pause);
    },
  ),
  block_search: method(
    { query: "string", page: "int64", per_page: "int64", order_by: "string" },
    (search, { view }, { pause }) =>
      printPage("blocks", view.searchBlocks(toSearch(search, "desc")), resultBlockJson, pause),
  ),
  broadcast_tx_sync: method({ tx: "bytes" }, ({ tx }, { view }) => {
    const { hash, check } = view.broadcast(tx);
    return broadcastJson(hash, check);
  }),
  // CometBFT does not wait for CheckTx here and reports code 0 even for a transaction that it rejects.
  broadcast_tx_async: method({ tx: "bytes" }, ({ tx }, { view }) =>
    broadcastJson(view.broadcast(tx).hash, NO_RESULT),
  ),
  broadcast_tx_commit: method({ tx: "bytes" }, ({ tx }, context, { signal }) =>
    broadcastCommit(tx, context, signal),
  ),
  check_tx: method({ tx: "bytes" }, ({ tx }, { view }) => txResultJson(view.check(tx))),
  unconfirmed_txs: method({ limit: "int64" }, ({ limit }, { view }) => {
    const { txs, count, bytes } = view.unconfirmed(toPerPage(limit));
    return unconfirmedJson(txs.length, count, bytes, txs.map(toBase64));
  }),
  num_unconfirmed_txs: method({}, (_parameters, { view }) => {
    const { count, bytes } = view.unconfirmed(0);
    // CometBFT reports the total as n_txs although it lists none.
    return unconfirmedJson(count, count, bytes, null);
  }),
};

/** Length of a page above which a search fails. */
const MAX_PAGE_LENGTH = 33_554_432;

/** Prints a page item by item with pauses, because a page of full transactions takes seconds. */
async function printPage<T>(
  name: string,
  { items, total }: SearchPage<T>,
  toJson: (item: T) => JsonObject,
  pause: CallTurn["pause"],
): Promise<JsonText> {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(toJson(item));
    texts.push(text);
    length += text.length;
    if (length > MAX_PAGE_LENGTH) {
      throw new RpcError("server", `the page exceeds ${MAX_PAGE_LENGTH} bytes; use a smaller per_page`);
    }
    await pause();
  }
  return new JsonText(`{"${name}":[${texts.join(",")}],"total_count":"${total}"}`);
}

/** Go's zero value, printed for a result that does not exist or does not exist yet. */
const NO_RESULT: TxResult = {
  code: 0,
  codespace: "",
  log: "",
  data: new Uint8Array(),
  gasWanted: 0n,
  gasUsed: 0n,
  events: [],
};

function unconfirmedJson(shown: number, total: number, bytes: number, txs: JsonValue): JsonObject {
  return { n_txs: shown.toString(), total: total.toString(), total_bytes: bytes.toString(), txs };
}

function broadcastJson(hash: Uint8Array, check: TxResult): JsonObject {
  return {
    code: check.code,
    data: upperHex(check.data),
    log: check.log,
    codespace: check.codespace,
    hash: upperHex(hash),
  };
}

interface SearchParameters {
  readonly query: string;
  readonly page: bigint | undefined;
  readonly per_page: bigint | undefined;
  readonly order_by: string;
}

function toSearch(search: SearchParameters, defaultOrder: "asc" | "desc"): SearchRequest {
  const { query } = search;
  if (query.length > MAX_QUERY_LENGTH) throw internal("maximum query length exceeded");
  // CometBFT parses the query before order and page, so an invalid query is reported first.
  parseQuery(query);
  return {
    query,
    order: toOrder(search.order_by, defaultOrder),
    // The search checks the range. A page beyond 2^53 loses digits, but stays out of range.
    page: Number(search.page ?? 1n),
    perPage: toPerPage(search.per_page),
  };
}

function toOrder(order: string, defaultOrder: "asc" | "desc"): "asc" | "desc" {
  if (order === "") return defaultOrder;
  if (order === "asc" || order === "desc") return order;
  throw internal("expected order_by to be either `asc` or `desc` or empty");
}

/** Broadcasts a transaction, then waits for the block that includes it. */
async function broadcastCommit(
  tx: Uint8Array,
  { view, commitTimeoutMs }: RpcContext,
  signal: AbortSignal,
): Promise<JsonObject> {
  const inclusion = createDeferred<{ readonly result: TxResult; readonly height: bigint }>();
  // Like CometBFT, which subscribes first, listen before broadcasting: the next block may come immediately.
  const stopListening = view.onBlock((block, { height, txResults }) => {
    const result = txResults[block.txs.findIndex((each) => equalBytes(each, tx))];
    if (result !== undefined) inclusion.resolve({ result, height });
  });
  try {
    const { hash, check } = view.broadcast(tx);
    const checked = { check_tx: txResultJson(check), hash: upperHex(hash) };
    if (check.code !== 0) return { ...checked, tx_result: txResultJson(NO_RESULT), height: "0" };
    const { result, height } = await withDeadline(
      "broadcast_tx_commit",
      commitTimeoutMs,
      signal,
      () => inclusion.promise,
    ).catch(() => {
      // Applies at the deadline and when the node stops.
      throw internal("timed out waiting for tx to be included in a block");
    });
    return { ...checked, tx_result: txResultJson(result), height: height.toString() };
  } finally {
    stopListening();
  }
}
