import { commitToJson, headerToJson, validatorToJson } from "../../../cosmos/comet/rpc-json.ts";
import { totalPower } from "../../../cosmos/comet/validator-set.ts";
import { toBase64, upperHex } from "../../../platform/base/bytes.ts";
import { maxInt } from "../../../platform/base/integers.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../../platform/base/time.ts";
import { consensusParamsToJson, encodeGenesis, genesisToJson } from "../base/genesis-doc.ts";
import { COMET_VERSION, nodeId, P2P_CHANNELS, P2P_VERSION, type StoredBlock } from "../base/node-view.ts";
import {
  internal,
  method,
  type RoundState,
  type RpcContext,
  type RpcMethod,
  toHeight,
  toPage,
  toPerPage,
} from "./method.ts";
import {
  blockMetaJson,
  blockResultsJson,
  bytesJson,
  publicKeyJson,
  queryResponseJson,
  resultBlockJson,
} from "./result-json.ts";

/** CometBFT's chunk size. */
const GENESIS_CHUNK_BYTES = 16_777_216;

/** CometBFT's fixed limit for the method `blockchain`. */
const MAX_BLOCK_METAS = 20n;

/** Methods for the state of the node, the chain and the application. */
export const CHAIN_METHODS: Readonly<Record<string, RpcMethod>> = {
  health: method({}, () => ({})),
  status: method({}, (_parameters, context) => statusJson(context)),
  net_info: method({}, () => ({ listening: true, listeners: ["Listener(@)"], n_peers: "0", peers: [] })),
  abci_info: method({}, (_parameters, { view }) => {
    const { appVersion, latestHeight, latestAppHash } = view.status();
    return {
      response: {
        data: "relaywatch",
        version: appVersion,
        last_block_height: latestHeight.toString(),
        last_block_app_hash: bytesJson(latestAppHash),
      },
    };
  }),
  abci_query: method(
    { path: "string", data: "hex", height: "int64", prove: "bool" },
    ({ path, data, height = 0n, prove }, { router }) => ({
      response: queryResponseJson(router.query({ path, data, height, prove })),
    }),
  ),
  consensus_params: method({ height: "int64" }, (requested, { view, genesis }) => {
    const { latestHeight, earliestHeight } = view.status();
    const height = toHeight(requested.height, latestHeight + 1n, earliestHeight);
    return {
      block_height: height.toString(),
      consensus_params: consensusParamsToJson(genesis.consensusParams),
    };
  }),
  consensus_state: method({}, (_parameters, context) => ({
    round_state: roundStateJson(context.roundState()),
  })),
  genesis: method({}, (_parameters, { genesis }) => {
    if (encodeGenesis(genesis).length > GENESIS_CHUNK_BYTES) {
      throw internal("genesis response is large, please use the genesis_chunked API instead");
    }
    return { genesis: genesisToJson(genesis) };
  }),
  genesis_chunked: method({ chunk: "int64" }, ({ chunk = 0n }, { genesis }) =>
    genesisChunk(encodeGenesis(genesis), chunk),
  ),
};

/** Methods for blocks, headers, commits and validators. */
export const BLOCK_METHODS: Readonly<Record<string, RpcMethod>> = {
  block: method({ height: "int64" }, ({ height }, context) => resultBlockJson(blockAt(height, context))),
  block_by_hash: method({ hash: "bytes" }, ({ hash }, { view }) => resultBlockJson(view.blockByHash(hash))),
  header: method({ height: "int64" }, ({ height }, context) => ({
    header: headerToJson(blockAt(height, context).header),
  })),
  header_by_hash: method({ hash: "hex" }, ({ hash }, { view }) => {
    const block = view.blockByHash(hash);
    return { header: block === undefined ? null : headerToJson(block.header) };
  }),
  block_results: method({ height: "int64" }, ({ height }, context) => {
    const { header } = blockAt(height, context);
    const results = context.view.results(header.height);
    if (results === undefined) throw internal(`could not find results for height #${header.height}`);
    return blockResultsJson(results, context.genesis.consensusParams);
  }),
  commit: method({ height: "int64" }, ({ height }, context) => {
    const { header } = blockAt(height, context);
    const commit = context.view.commit(header.height);
    if (commit === undefined) throw internal(`could not find commit at height ${header.height}`);
    return {
      signed_header: { header: headerToJson(header), commit: commitToJson(commit) },
      // A commit from the next block is canonical. The latest block has only the commit that this node saw.
      canonical: header.height < context.view.status().latestHeight,
    };
  }),
  validators: method({ height: "int64", page: "int64", per_page: "int64" }, (requested, { view }) => {
    const { latestHeight, earliestHeight } = view.status();
    // The set for the next height is already known. CometBFT also returns that set when no height is given.
    const height = toHeight(requested.height, latestHeight + 1n, earliestHeight);
    const validators = view.validators(height)?.validators ?? [];
    const perPage = toPerPage(requested.per_page);
    const page = toPage(requested.page, validators.length, perPage);
    const shown = validators.slice((page - 1) * perPage, page * perPage);
    return {
      block_height: height.toString(),
      validators: shown.map(validatorToJson),
      count: shown.length.toString(),
      total: validators.length.toString(),
    };
  }),
  blockchain: method(
    { minHeight: "int64", maxHeight: "int64" },
    ({ minHeight = 0n, maxHeight = 0n }, { view }) => {
      const { latestHeight: latest, earliestHeight: earliest } = view.status();
      const range = toMetaRange(minHeight, maxHeight, { latest, earliest });
      const metas = [];
      for (let height = range.max; height >= range.min; height--) {
        const block = view.block(height);
        if (block !== undefined) metas.push(blockMetaJson(block));
      }
      return { last_height: latest.toString(), block_metas: metas };
    },
  ),
};

function genesisChunk(document: Uint8Array, chunk: bigint): JsonObject {
  const count = Math.ceil(document.length / GENESIS_CHUNK_BYTES);
  // CometBFT prints the number of the last chunk here, not the number of chunks.
  if (chunk < 0n || chunk >= BigInt(count))
    throw internal(`there are ${count - 1} chunks, ${chunk} is invalid`);
  const start = Number(chunk) * GENESIS_CHUNK_BYTES;
  return {
    chunk: chunk.toString(),
    total: count.toString(),
    data: toBase64(document.subarray(start, start + GENESIS_CHUNK_BYTES)),
  };
}

function statusJson(context: RpcContext): JsonObject {
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
      pub_key: publicKeyJson(signer?.publicKey ?? new Uint8Array()),
      voting_power: (signer?.power ?? 0n).toString(),
    },
  };
}

/** The node has no peers. The P2P fields are filled in only because clients require them. */
function nodeInfoJson({ view, rpcAddress }: RpcContext): JsonObject {
  const { chainId, moniker } = view.status();
  return {
    protocol_version: { p2p: P2P_VERSION.toString(), block: "11", app: "0" },
    id: nodeId(chainId, moniker),
    listen_addr: "tcp://127.0.0.1:0",
    network: chainId,
    version: COMET_VERSION,
    channels: P2P_CHANNELS,
    moniker,
    other: { tx_index: "on", rpc_address: rpcAddress() },
  };
}

/** Returns the `round_state` for `consensus_state`. It shows no votes, because all validators vote in one step. */
function roundStateJson(state: RoundState): JsonObject {
  const { validators } = state;
  // CometBFT's bit array: one underscore per missing vote, then voted and total power.
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

/** Returns the block at the requested height, or by default the latest block. */
function blockAt(requested: bigint | undefined, context: RpcContext): StoredBlock {
  const { latestHeight, earliestHeight } = context.view.status();
  const height = toHeight(requested, latestHeight, earliestHeight);
  const block = context.view.block(height);
  if (block === undefined) throw internal(`could not find block at height ${height}`);
  return block;
}

/** Returns up to 20 heights for `blockchain`, like CometBFT's `filterMinMax`. 0 means the chain's limit. Throws `RpcError`. */
function toMetaRange(
  minHeight: bigint,
  maxHeight: bigint,
  chain: { readonly latest: bigint; readonly earliest: bigint },
): { readonly min: bigint; readonly max: bigint } {
  if (minHeight < 0n || maxHeight < 0n) throw internal("heights must be non-negative");
  const max = maxHeight === 0n || maxHeight > chain.latest ? chain.latest : maxHeight;
  const lowest = maxInt(minHeight === 0n ? 1n : minHeight, chain.earliest);
  const min = maxInt(lowest, max - MAX_BLOCK_METAS + 1n);
  if (min > max) throw internal(`min height ${min} can't be greater than max height ${max}`);
  return { min, max };
}
