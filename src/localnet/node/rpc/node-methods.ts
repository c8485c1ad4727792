import { commitToJson, headerToJson, validatorToJson } from "../../../cosmos/comet/rpc-json.ts";
import { totalPower } from "../../../cosmos/comet/validator-set.ts";
import { toBase64, upperHex, equalBytes } from "../../../platform/base/bytes.ts";
import { maxInt } from "../../../platform/base/integers.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../../platform/base/time.ts";
import { consensusParamsToJson, encodeGenesis, genesisToJson } from "../base/genesis-doc.ts";
import * as nodeView from "../base/node-view.ts";
import * as rpc from "./method.ts";
import * as resultJson from "./result-json.ts";
import { withDeadline } from "../../../platform/base/abort.ts";
import { createDeferred } from "../../../platform/process/deferred.ts";
import type { TxResult } from "../../chain/runtime/abci.ts";
import { MAX_QUERY_LENGTH, parseQuery } from "../query-language/parse-query.ts";

/** Chunk size for the genesis document, as in CometBFT. */
const GENESIS_CHUNK_BYTES = 16_777_216;

/** Maximum number of blocks returned by `blockchain`, as in CometBFT. */
const MAX_BLOCK_METAS = 20n;

/** RPC methods that return the state of the node, the chain and the application. */
export const CHAIN_METHODS: Readonly<Record<string, rpc.RpcMethod>> = {
  health: rpc.method({}, () => ({})),
  status: rpc.method({}, (_parameters, context) => statusJson(context)),
  net_info: rpc.method({}, () => ({ listening: true, listeners: ["Listener(@)"], n_peers: "0", peers: [] })),
  abci_info: rpc.method({}, (_parameters, { view }) => {
    const { appVersion, latestHeight, latestAppHash } = view.status();
    return {
      response: {
        data: "relaywatch",
        version: appVersion,
        last_block_height: latestHeight.toString(),
        last_block_app_hash: resultJson.bytesJson(latestAppHash),
      },
    };
  }),
  abci_query: rpc.method(
    { path: "string", data: "hex", height: "int64", prove: "bool" },
    ({ path, data, height = 0n, prove }, { router }) => ({
      response: resultJson.queryResponseJson(router.query({ path, data, height, prove })),
    }),
  ),
  consensus_params: rpc.method({ height: "int64" }, (requested, { view, genesis }) => {
    const { latestHeight, earliestHeight } = view.status();
    const height = rpc.toHeight(requested.height, latestHeight + 1n, earliestHeight);
    return {
      block_height: height.toString(),
      consensus_params: consensusParamsToJson(genesis.consensusParams),
    };
  }),
  consensus_state: rpc.method({}, (_parameters, context) => ({
    round_state: roundStateJson(context.roundState()),
  })),
  genesis: rpc.method({}, (_parameters, { genesis }) => {
    if (encodeGenesis(genesis).length > GENESIS_CHUNK_BYTES) {
      throw rpc.internal("genesis response is large, please use the genesis_chunked API instead");
    }
    return { genesis: genesisToJson(genesis) };
  }),
  genesis_chunked: rpc.method({ chunk: "int64" }, ({ chunk = 0n }, { genesis }) =>
    genesisChunk(encodeGenesis(genesis), chunk),
  ),
};

/** RPC methods that return blocks, headers, commits and validators. */
export const BLOCK_METHODS: Readonly<Record<string, rpc.RpcMethod>> = {
  block: rpc.method({ height: "int64" }, ({ height }, context) =>
    resultJson.resultBlockJson(blockAt(height, context)),
  ),
  block_by_hash: rpc.method({ hash: "bytes" }, ({ hash }, { view }) =>
    resultJson.resultBlockJson(view.blockByHash(hash)),
  ),
  header: rpc.method({ height: "int64" }, ({ height }, context) => ({
    header: headerToJson(blockAt(height, context).header),
  })),
  header_by_hash: rpc.method({ hash: "hex" }, ({ hash }, { view }) => {
    const block = view.blockByHash(hash);
    return { header: block === undefined ? null : headerToJson(block.header) };
  }),
  block_results: rpc.method({ height: "int64" }, ({ height }, context) => {
    const { header } = blockAt(height, context);
    const results = context.view.results(header.height);
    if (results === undefined) throw rpc.internal(`could not find results for height #${header.height}`);
    return resultJson.blockResultsJson(results, context.genesis.consensusParams);
  }),
  commit: rpc.method({ height: "int64" }, ({ height }, context) => {
    const { header } = blockAt(height, context);
    const commit = context.view.commit(header.height);
    if (commit === undefined) throw rpc.internal(`could not find commit at height ${header.height}`);
    return {
      signed_header: { header: headerToJson(header), commit: commitToJson(commit) },
      // A block's canonical commit is in the next block. The latest block's commit is therefore not canonical yet.
      canonical: header.height < context.view.status().latestHeight,
    };
  }),
  validators: rpc.method({ height: "int64", page: "int64", per_page: "int64" }, (requested, { view }) => {
    const { latestHeight, earliestHeight } = view.status();
    // Like CometBFT, default to the next height, whose validator set is already known.
    const height = rpc.toHeight(requested.height, latestHeight + 1n, earliestHeight);
    const validators = view.validators(height)?.validators ?? [];
    const perPage = rpc.toPerPage(requested.per_page);
    const page = rpc.toPage(requested.page, validators.length, perPage);
    const shown = validators.slice((page - 1) * perPage, page * perPage);
    return {
      block_height: height.toString(),
      validators: shown.map(validatorToJson),
      count: shown.length.toString(),
      total: validators.length.toString(),
    };
  }),
  blockchain: rpc.method(
    { minHeight: "int64", maxHeight: "int64" },
    ({ minHeight = 0n, maxHeight = 0n }, { view }) => {
      const { latestHeight: latest, earliestHeight: earliest } = view.status();
      const range = toMetaRange(minHeight, maxHeight, { latest, earliest });
      const metas = [];
      for (let height = range.max; height >= range.min; height--) {
        const block = view.block(height);
        if (block !== undefined) metas.push(resultJson.blockMetaJson(block));
      }
      return { last_height: latest.toString(), block_metas: metas };
    },
  ),
};

function genesisChunk(document: Uint8Array, chunk: bigint): JsonObject {
  const count = Math.ceil(document.length / GENESIS_CHUNK_BYTES);
  // Like CometBFT, print the number of the last chunk instead of the number of chunks.
  if (chunk < 0n || chunk >= BigInt(count))
    throw rpc.internal(`there are ${count - 1} chunks, ${chunk} is invalid`);
  const start = Number(chunk) * GENESIS_CHUNK_BYTES;
  return {
    chunk: chunk.toString(),
    total: count.toString(),
    data: toBase64(document.subarray(start, start + GENESIS_CHUNK_BYTES)),
  };
}

function statusJson(context: rpc.RpcContext): JsonObject {
  const { view } = context;
  const status = view.status();
  const earliest = view.block(status.earliestHeight);
  const signer = view.validators(status.latestHeight + 1n)?.validators[0];
  return {
    node_info: nodeInfoJson(context),
    sync_info: {
      latest_block_hash: upperHex(status.latestHash),
      latest_app_hash: upperHex(status.latestAppHash),
      latest_block_height: status.latestHeight.toString(),
      latest_block_time: formatRfc3339Ns(status.latestTimeNs),
      earliest_block_hash: upperHex(earliest?.blockId.hash ?? new Uint8Array()),
      earliest_app_hash: upperHex(earliest?.header.appHash ?? new Uint8Array()),
      earliest_block_height: (earliest?.header.height ?? 0n).toString(),
      earliest_block_time: formatRfc3339Ns(earliest?.header.timeNs ?? status.latestTimeNs),
      catching_up: false,
    },
    validator_info: {
      address: upperHex(signer?.address ?? new Uint8Array()),
      pub_key: resultJson.publicKeyJson(signer?.publicKey ?? new Uint8Array()),
      voting_power: (signer?.power ?? 0n).toString(),
    },
  };
}

/** Returns the node's `node_info`, with the P2P fields, which clients require although the node has no peers. */
function nodeInfoJson({ view, rpcAddress }: rpc.RpcContext): JsonObject {
  const { chainId, moniker } = view.status();
  return {
    protocol_version: { p2p: nodeView.P2P_VERSION.toString(), block: "11", app: "0" },
    id: nodeView.nodeId(chainId, moniker),
    listen_addr: "tcp://127.0.0.1:0",
    network: chainId,
    version: nodeView.COMET_VERSION,
    channels: nodeView.P2P_CHANNELS,
    moniker,
    other: { tx_index: "on", rpc_address: rpcAddress() },
  };
}

/**
 * Formats the `round_state` that `consensus_state` returns. The round state never contains votes, because all validators vote in a
 * single step.
 */
function roundStateJson(state: rpc.RoundState): JsonObject {
  const { validators } = state;
  // Format the bit array as CometBFT does: an underscore for each missing vote, the power that voted, and the total power.
  const bits = `BA{${validators.length}:${"_".repeat(validators.length)}} 0/${totalPower(validators)} = 0.00`;
  const votes = validators.map(() => "nil-Vote");
  return {
    "height/round/step": `${state.height}/0/1`,
    start_time: formatRfc3339Ns(state.startTimeNs),
    proposal_block_hash: "",
    locked_block_hash: "",
    valid_block_hash: "",
    height_vote_set: [
      { round: 0, prevotes: votes, prevotes_bit_array: bits, precommits: votes, precommits_bit_array: bits },
    ],
    proposer: {
      address: upperHex(state.proposerAddress),
      index: validators.findIndex(({ address }) => upperHex(address) === upperHex(state.proposerAddress)),
    },
  };
}

/** Returns the block at the requested height, or the latest block by default. */
function blockAt(requested: bigint | undefined, context: rpc.RpcContext): nodeView.StoredBlock {
  const { latestHeight, earliestHeight } = context.view.status();
  const height = rpc.toHeight(requested, latestHeight, earliestHeight);
  const block = context.view.block(height);
  if (block === undefined) throw rpc.internal(`could not find block at height ${height}`);
  return block;
}

/** Returns at most 20 heights for `blockchain`, like CometBFT's `filterMinMax`, where a bound of 0 means no limit. Throws `RpcError`. */
function toMetaRange(
  minHeight: bigint,
  maxHeight: bigint,
  chain: { readonly latest: bigint; readonly earliest: bigint },
): { readonly min: bigint; readonly max: bigint } {
  if (minHeight < 0n || maxHeight < 0n) throw rpc.internal("heights must be non-negative");
  const max = maxHeight === 0n || maxHeight > chain.latest ? chain.latest : maxHeight;
  const lowest = maxInt(minHeight === 0n ? 1n : minHeight, chain.earliest);
  const min = maxInt(lowest, max - MAX_BLOCK_METAS + 1n);
  if (min > max) throw rpc.internal(`min height ${min} can't be greater than max height ${max}`);
  return { min, max };
}

/** RPC methods that search, broadcast and check transactions, and list the mempool. */
export const TX_METHODS: Readonly<Record<string, rpc.RpcMethod>> = {
  tx: rpc.method({ hash: "bytes", prove: "bool" }, ({ hash, prove }, { view }) => {
    const tx = view.tx(hash);
    if (tx === undefined) throw rpc.internal(`tx (${upperHex(hash)}) not found`);
    return resultJson.resultTxJson(tx, prove ? view.block(tx.height)?.txs : undefined);
  }),
  tx_search: rpc.method(
    { query: "string", prove: "bool", page: "int64", per_page: "int64", order_by: "string" },
    (search, { view }, { pause }) => {
      // Without order_by, sort transactions in ascending order but blocks in descending order, like CometBFT.
      const found = view.searchTxs(toSearch(search, "asc"));
      const toJson = (tx: nodeView.StoredTx): JsonObject =>
        resultJson.resultTxJson(tx, search.prove ? view.block(tx.height)?.txs : undefined);
      return printPage("txs", found, toJson, pause);
    },
  ),
  block_search: rpc.method(
    { query: "string", page: "int64", per_page: "int64", order_by: "string" },
    (search, { view }, { pause }) =>
      printPage("blocks", view.searchBlocks(toSearch(search, "desc")), resultJson.resultBlockJson, pause),
  ),
  broadcast_tx_sync: rpc.method({ tx: "bytes" }, ({ tx }, { view }) => {
    const { hash, check } = view.broadcast(tx);
    return broadcastJson(hash, check);
  }),
  // Like CometBFT, which does not wait for CheckTx here, report code 0 even if the transaction is rejected.
  broadcast_tx_async: rpc.method({ tx: "bytes" }, ({ tx }, { view }) =>
    broadcastJson(view.broadcast(tx).hash, NO_RESULT),
  ),
  broadcast_tx_commit: rpc.method({ tx: "bytes" }, ({ tx }, context, { signal }) =>
    broadcastCommit(tx, context, signal),
  ),
  check_tx: rpc.method({ tx: "bytes" }, ({ tx }, { view }) => resultJson.txResultJson(view.check(tx))),
  unconfirmed_txs: rpc.method({ limit: "int64" }, ({ limit }, { view }) => {
    const { txs, count, bytes } = view.unconfirmed(rpc.toPerPage(limit));
    return unconfirmedJson(txs.length, count, bytes, txs.map(toBase64));
  }),
  num_unconfirmed_txs: rpc.method({}, (_parameters, { view }) => {
    const { count, bytes } = view.unconfirmed(0);
    // Like CometBFT, report the total as n_txs, although the response lists no transactions.
    return unconfirmedJson(count, count, bytes, null);
  }),
};

/** Maximum length of a page of search results, in characters. A search fails if its page is longer. */
const MAX_PAGE_LENGTH = 33_554_432;

/** Formats a page of search results. Pauses between items, because it may take seconds to format large transactions. */
async function printPage<T>(
  name: string,
  { items, total }: nodeView.SearchPage<T>,
  toJson: (item: T) => JsonObject,
  pause: rpc.CallTurn["pause"],
): Promise<rpc.JsonText> {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(toJson(item));
    texts.push(text);
    length += text.length;
    if (length > MAX_PAGE_LENGTH) {
      throw new rpc.RpcError("server", `the page exceeds ${MAX_PAGE_LENGTH} bytes; use a smaller per_page`);
    }
    await pause();
  }
  return new rpc.JsonText(`{"${name}":[${texts.join(",")}],"total_count":"${total}"}`);
}

/** Go's zero value, which responses contain if there is no transaction result (yet). */
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

function toSearch(search: SearchParameters, defaultOrder: "asc" | "desc"): nodeView.SearchRequest {
  const { query } = search;
  if (query.length > MAX_QUERY_LENGTH) throw rpc.internal("maximum query length exceeded");
  // Parse the query before the order and page, because CometBFT reports invalid queries first.
  parseQuery(query);
  return {
    query,
    order: toOrder(search.order_by, defaultOrder),
    // Convert without a check, because the search rejects a page that is out of range, such as any page above 2^53.
    page: Number(search.page ?? 1n),
    perPage: rpc.toPerPage(search.per_page),
  };
}

function toOrder(order: string, defaultOrder: "asc" | "desc"): "asc" | "desc" {
  if (order === "") return defaultOrder;
  if (order === "asc" || order === "desc") return order;
  throw rpc.internal("expected order_by to be either `asc` or `desc` or empty");
}

/** Broadcasts a transaction and waits for the block that includes it. */
async function broadcastCommit(
  tx: Uint8Array,
  { view, commitTimeoutMs }: rpc.RpcContext,
  signal: AbortSignal,
): Promise<JsonObject> {
  const inclusion = createDeferred<{ readonly result: TxResult; readonly height: bigint }>();
  // Like CometBFT, start listening before broadcasting, because the next block may arrive immediately.
  const stopListening = view.onBlock((block, { height, txResults }) => {
    const result = txResults[block.txs.findIndex((each) => equalBytes(each, tx))];
    if (result !== undefined) inclusion.resolve({ result, height });
  });
  try {
    const { hash, check } = view.broadcast(tx);
    const checked = { check_tx: resultJson.txResultJson(check), hash: upperHex(hash) };
    if (check.code !== 0) return { ...checked, tx_result: resultJson.txResultJson(NO_RESULT), height: "0" };
    const { result, height } = await withDeadline(
      "broadcast_tx_commit",
      commitTimeoutMs,
      signal,
      () => inclusion.promise,
    ).catch(() => {
      // Report a timeout both at the deadline and if the node is stopping.
      throw rpc.internal("timed out waiting for tx to be included in a block");
    });
    return { ...checked, tx_result: resultJson.txResultJson(result), height: height.toString() };
  } finally {
    stopListening();
  }
}
