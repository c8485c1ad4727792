import { upperHex } from "../../../base/go-text.ts";
import { onAbort } from "../../../base/abort.ts";
import { equalBytes, toBase64 } from "../../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { sha256 } from "../../../base/sha256.ts";
import type { TxResult } from "../../../chain/abci.ts";
import type { NodeView, SearchRequest } from "../../node-view.ts";
import { MAX_QUERY_LENGTH, parseQuery } from "../../query-language/parse-query.ts";
import { resultBlockJson } from "../block-json.ts";
import type { RpcMethod } from "../method.ts";
import { toPerPage, toSearchPage } from "../paging.ts";
import type { Parameters } from "../parameters.ts";
import { resultTxJson, txResultJson } from "../result-json.ts";
import { internal } from "../rpc-error.ts";

/** Transactions: search, broadcast, mempool. */
export const TX_METHODS: Readonly<Record<string, RpcMethod>> = {
  tx: {
    parameters: [
      ["hash", "bytes"],
      ["prove", "bool"],
    ],
    call: (parameters, { view }) => {
      const hash = parameters.bytes("hash");
      const tx = view.tx(hash);
      if (tx === undefined) throw internal(`tx (${upperHex(hash)}) not found`);
      return resultTxJson(tx, parameters.flag("prove") ? view.block(tx.height)?.txs : undefined);
    },
  },
  tx_search: {
    parameters: [
      ["query", "string"],
      ["prove", "bool"],
      ["page", "int64"],
      ["per_page", "int64"],
      ["order_by", "string"],
    ],
    call: (parameters, { view }) => {
      const found = view.searchTxs(toSearch(parameters, "asc"));
      const prove = parameters.flag("prove");
      return {
        txs: found.items.map((tx) => resultTxJson(tx, prove ? view.block(tx.height)?.txs : undefined)),
        total_count: found.total.toString(),
      };
    },
  },
  block_search: {
    parameters: [
      ["query", "string"],
      ["page", "int64"],
      ["per_page", "int64"],
      ["order_by", "string"],
    ],
    call: (parameters, { view }) => {
      const found = view.searchBlocks(toSearch(parameters, "desc"));
      return { blocks: found.items.map(resultBlockJson), total_count: found.total.toString() };
    },
  },
  broadcast_tx_sync: {
    parameters: [["tx", "bytes"]],
    call: (parameters, { view }) => {
      const { hash, check } = view.broadcast(parameters.bytes("tx"));
      return broadcastJson(hash, check);
    },
  },
  broadcast_tx_async: {
    parameters: [["tx", "bytes"]],
    call: (parameters, { view }) => broadcastJson(view.broadcast(parameters.bytes("tx")).hash, NO_RESULT),
  },
  broadcast_tx_commit: {
    parameters: [["tx", "bytes"]],
    call: (parameters, { view, commitTimeoutMs }, signal) =>
      broadcastCommit(
        view,
        parameters.bytes("tx"),
        AbortSignal.any([signal, AbortSignal.timeout(commitTimeoutMs)]),
      ),
  },
  check_tx: {
    parameters: [["tx", "bytes"]],
    call: (parameters, { view }) => txResultJson(view.check(parameters.bytes("tx"))),
  },
  unconfirmed_txs: {
    parameters: [["limit", "int64"]],
    call: (parameters, { view }) => {
      const { txs, count, bytes } = view.unconfirmed(toPerPage(parameters.int64("limit")));
      return unconfirmedJson(txs.length, count, bytes, txs.map(toBase64));
    },
  },
  num_unconfirmed_txs: {
    parameters: [],
    call: (_parameters, { view }) => {
      const { count, bytes } = view.unconfirmed(0);
      return unconfirmedJson(count, count, bytes, null);
    },
  },
};

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

function toSearch(parameters: Parameters, defaultOrder: "asc" | "desc"): SearchRequest {
  const query = parameters.text("query");
  if (query.length > MAX_QUERY_LENGTH) throw internal("maximum query length exceeded");
  parseQuery(query);
  return {
    query,
    order: toOrder(parameters.text("order_by"), defaultOrder),
    page: toSearchPage(parameters.int64("page")),
    perPage: toPerPage(parameters.int64("per_page")),
  };
}

function toOrder(order: string, defaultOrder: "asc" | "desc"): "asc" | "desc" {
  if (order === "") return defaultOrder;
  if (order === "asc" || order === "desc") return order;
  throw internal("expected order_by to be either `asc` or `desc` or empty");
}

/** Broadcasts, then waits for the block that holds the transaction. */
async function broadcastCommit(view: NodeView, tx: Uint8Array, signal: AbortSignal): Promise<JsonObject> {
  const included = waitForTx(view, sha256(tx), signal);
  try {
    const { hash, check } = view.broadcast(tx);
    const checked = { check_tx: txResultJson(check), hash: upperHex(hash) };
    if (check.code !== 0) return { ...checked, tx_result: txResultJson(NO_RESULT), height: "0" };
    const { result, height } = await included.done;
    return { ...checked, tx_result: txResultJson(result), height: height.toString() };
  } finally {
    included.stop();
  }
}

interface Included {
  readonly result: TxResult;
  readonly height: bigint;
}

/** Watches blocks for a transaction; must be stopped. */
function waitForTx(
  view: NodeView,
  hash: Uint8Array,
  signal: AbortSignal,
): { readonly done: Promise<Included>; readonly stop: () => void } {
  let stop: (() => void) | undefined;
  const done = new Promise<Included>((resolve, reject) => {
    const stopBlocks = view.onBlock((block, results) => {
      const index = block.txs.findIndex((tx) => equalBytes(sha256(tx), hash));
      const result = results.txResults[index];
      if (result !== undefined) resolve({ result, height: results.height });
    });
    const expire = (): void => reject(internal("timed out waiting for tx to be included in a block"));
    const stopSignal = onAbort(signal, expire);
    stop = () => {
      stopBlocks();
      stopSignal();
    };
  });
  done.catch(() => {}); // when CheckTx refuses, nobody waits
  return { done, stop: () => stop?.() };
}
