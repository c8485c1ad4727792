import type { ManualClock } from "../../support/manual-clock.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { toBase64, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import type {
  ChainClient,
  CometReads,
  LightBlockBytes,
  StoreResponse,
} from "../../../src/cosmos/client/chain-client.ts";
import { createCometReads } from "../../../src/cosmos/client/create-chain-client.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { unreachable } from "../../../src/platform/base/errors.ts";
import { resultsHash } from "../../../src/cosmos/comet/block-hashes.ts";
import { createIavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";
import type { IavlView } from "../../../src/cosmos/merkle/iavl/view.ts";
import { simpleMapProof, simpleMapRoot } from "../../../src/cosmos/merkle/simple-map.ts";
import { dataHash, simpleProofs } from "../../../src/cosmos/merkle/simple-tree.ts";
import { encodeHeader, encodeValidators } from "./sim-header.ts";

/** A simulated fault of the connection to a remote chain. */
export type RemoteFault =
  | "down"
  | "halts"
  | "hangs"
  | "lags"
  | "searches hang"
  | "catching up"
  /** the results of blocks are not stored */
  | "discards results"
  /** the results of blocks are refused by a limit of requests */
  | "limits requests"
  /** two of the four validators are replaced in each block */
  | "rotates validators";

interface SimTx {
  readonly bytes: Uint8Array;
  readonly code: number;
  readonly recipient: string;
}

interface SimBlock {
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
  readonly txs: readonly SimTx[];
  readonly header: Uint8Array;
  /** Addresses of its validators. All have the same power, and all sign. */
  readonly validators: readonly Uint8Array[];
}

/** A remote chain in memory. Proofs are real; headers have no signatures. */
export interface SimRemote {
  readonly chainId: string;
  readonly client: ChainClient;
  readonly height: () => bigint;
  readonly block: (height: bigint) => SimBlock | undefined;
  /** Makes a block. `txs` are pairs of recipient and result code. */
  readonly tick: (txs: readonly (readonly [string, number])[]) => void;
  readonly set: (fault: RemoteFault, isOn: boolean) => void;
  /** Returns the value of a key after the block `height`; undefined when it is absent. */
  readonly valueAt: (key: Uint8Array, height: bigint) => Uint8Array | undefined;
  /** Returns the hashes (lower-case hex) of the successful transactions to this recipient, in the order of the chain. */
  readonly succeeded: (recipient: string) => readonly string[];
  /** Starts again at height 0 with other state and the same chain id. */
  readonly reset: () => void;
  /** Called before each read of a light block, which fails with its error. A test may replace it. */
  beforeLightBlock: (signal: AbortSignal) => Promise<void>;
}

const TIMEOUT_MS = 10_000;
const LAG = 6n;
const KEYS = 6;

/** Returns key number `index` of the store "bank". Keys from {@link KEYS} on are absent. */
export function bankKey(index: number): Uint8Array {
  return utf8(`key${index}`);
}

/** The state after a block of a chain. */
interface SimStateAt {
  readonly view: IavlView;
  /** As the view's, computed once for each key. */
  readonly proof: (key: Uint8Array) => Uint8Array;
}

/** The states after the blocks of a chain, from block 1 on. */
type SimStates = (height: bigint) => SimStateAt;

/** By chain id and `changeEvery`: a state depends on nothing else than these and its height, so equal chains of all simulations share it. */
const allStates = new Map<string, SimStates>();

function statesOf(chainId: string, changeEvery: bigint): SimStates {
  const key = `${chainId} ${changeEvery}`;
  const found = allStates.get(key) ?? createStates(chainId, changeEvery);
  allStates.set(key, found);
  return found;
}

function createStates(chainId: string, changeEvery: bigint): SimStates {
  const tree = createIavlTree();
  const states: SimStateAt[] = [];
  return (height) => {
    for (let at = BigInt(states.length) + 1n; at <= height; at++) {
      for (let index = 0; index < KEYS; index++)
        tree.set(bankKey(index), utf8(`${chainId} ${(at + BigInt(index)) / changeEvery} ${index}`));
      states.push(stateAt(tree.at(tree.commit().version)));
    }
    return states[Number(height) - 1] ?? unreachable(`no state at ${height}`);
  };
}

function stateAt(view: IavlView | undefined): SimStateAt {
  if (view === undefined) return unreachable("no view of a commit");
  const proofs = new Map<string, Uint8Array>();
  return {
    view,
    proof: (key) => {
      const name = toHex(key);
      const proof = proofs.get(name) ?? view.proof(key);
      proofs.set(name, proof);
      return proof;
    },
  };
}

/** Creates a chain at height 0. Each value changes once in `changeEvery` blocks, each key in another block. */
export function createSimRemote(
  chainId: string,
  clock: ManualClock,
  { callMs, changeEvery }: { readonly callMs: number; readonly changeEvery: bigint },
): SimRemote {
  const faults = new Set<RemoteFault>();
  let resets = 0;
  const states = statesOf(chainId, changeEvery);
  let upperProofs = new Map<bigint, Uint8Array | undefined>();
  let blocks = new Map<bigint, SimBlock>();
  let txCount = 0;
  let validatorCount = 4;
  const succeeded = new Map<string, string[]>();
  const height = (): bigint => BigInt(blocks.size);
  const visible = (): bigint => {
    const at = height() - (faults.has("lags") ? LAG : 0n);
    return at > 0n ? at : 0n;
  };
  const storeRoots = (at: bigint) => [
    { name: "bank", hash: states(at).view.rootHash },
    { name: "resets", hash: sha256(utf8(`${chainId} ${resets}`)) },
  ];
  const appHashAfter = (at: bigint): Uint8Array =>
    at === 0n ? new Uint8Array(32) : simpleMapRoot(storeRoots(at));
  const upperProof = (at: bigint): Uint8Array | undefined => {
    const proof = upperProofs.get(at) ?? simpleMapProof(storeRoots(at), "bank");
    upperProofs.set(at, proof);
    return proof;
  };
  const tick: SimRemote["tick"] = (added) => {
    if (faults.has("halts")) return;
    const at = height() + 1n;
    const txs = added.map(([recipient, code]) => ({
      bytes: utf8(`${chainId} ${resets} ${txCount++}`),
      code,
      recipient,
    }));
    for (const tx of txs) {
      const list = succeeded.get(tx.recipient) ?? [];
      if (tx.code === 0) list.push(toHex(sha256(tx.bytes)));
      succeeded.set(tx.recipient, list);
    }
    const timeNs = BigInt(clock.nowMs()) * 1_000_000n;
    const appHash = appHashAfter(at - 1n);
    if (faults.has("rotates validators")) validatorCount += 2;
    const validators = [1, 2, 3, 4].map((back) =>
      sha256(utf8(`${chainId} validator ${validatorCount - back}`)).subarray(0, 20),
    );
    const header = encodeHeader(validators, {
      chainId,
      height: at,
      timeNs,
      appHash,
      dataHash: dataHash(txs.map(({ bytes }) => bytes)),
      lastResultsHash: resultsHash((blocks.get(at - 1n)?.txs ?? []).map(toResult)),
    });
    blocks.set(at, { timeNs, appHash, txs, header, validators });
  };
  const respond = async <T>(signal: AbortSignal, read: () => T, isSearch = false): Promise<T> => {
    if (faults.has("hangs") || (isSearch && faults.has("searches hang"))) {
      await clock.sleep(TIMEOUT_MS, signal);
      throw new ClientError(
        { code: "timeout", endpoint: "sim", method: "x", afterMs: TIMEOUT_MS },
        "no response",
      );
    }
    await clock.sleep(callMs, signal);
    if (faults.has("down"))
      throw new ClientError({ code: "unreachable", endpoint: "sim", reason: "down" }, "sim is unreachable");
    return read();
  };
  const blockAt = (at: bigint): SimBlock => {
    const block = at <= visible() ? blocks.get(at) : undefined;
    if (block === undefined) throw noSuchHeight(at);
    return block;
  };
  const open = new AbortController();
  /** A client over this node, which does not respond while it is below the height `atLeast`. */
  const cometAt = (atLeast: bigint): CometReads => {
    const call = (method: string, params: JsonObject): Promise<unknown> =>
      respond(
        open.signal,
        () => {
          if (visible() < atLeast) throw noSuchHeight(atLeast);
          if (method === "block_results" && faults.has("discards results"))
            throw rpcError(method, "node is not persisting abci responses");
          if (method === "block_results" && faults.has("limits requests"))
            throw rpcError(method, "request rate exceeded");
          return cometResponse(method, params, { blockAt, visible });
        },
        true,
      );
    return createCometReads(
      { call, read: async ({ method, params, decode }) => decode(await call(method, params), "sim") },
      open.signal,
    );
  };
  const client: ChainClient = {
    comet: cometAt(0n),
    cometWith: ({ to }) => cometAt(to),
    txCounts: ({ from, to }, signal) =>
      respond(signal, () => {
        const heights = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
        return new Map(heights.map((at) => [at, blockAt(at).txs.length]));
      }),
    status: (signal) =>
      respond(signal, () => ({
        chainId,
        latestHeight: visible(),
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: faults.has("catching up"),
      })),
    earliestHeight: (signal) => respond(signal, () => 1n),
    readStore: ({ store, key, height: at }, signal) =>
      respond(signal, (): StoreResponse => {
        const error = { endpoint: "sim", codespace: "sdk", height: 0n, value: undefined, proof: [] };
        if (store !== "bank") return { ...error, code: 4, log: `no such store: ${store}` };
        const state = at > 0n && at <= visible() ? states(at) : undefined;
        const upper = state && upperProof(at);
        if (state === undefined || upper === undefined) return { ...error, code: 18, log: "no such height" };
        const proof = [
          { type: "ics23:iavl", key, data: state.proof(key) },
          { type: "ics23:simple", key: utf8("bank"), data: upper },
        ];
        return {
          endpoint: "sim",
          code: 0,
          codespace: "",
          log: "",
          height: at,
          value: state.view.get(key),
          proof,
        };
      }),
    lightBlock: async (at, signal) => {
      await remote.beforeLightBlock(signal);
      return respond(signal, (): LightBlockBytes => {
        const { timeNs, appHash, header, validators } = blockAt(at);
        return {
          height: at,
          timeNs,
          appHash,
          signedHeader: header,
          validatorSet: encodeValidators(validators),
        };
      });
    },
    grpcQuery: () => Promise.reject(new Error("the relayer sends no gRPC query to a remote chain")),
    distrust: () => {},
    close: () => open.abort(new Error("the client is closed")),
  };
  const remote: SimRemote = {
    chainId,
    client,
    height,
    block: (at) => blocks.get(at),
    tick,
    set: (fault, isOn) => void (isOn ? faults.add(fault) : faults.delete(fault)),
    valueAt: (key, at) => (at > 0n && at <= height() ? states(at).view.get(key) : undefined),
    succeeded: (recipient) => succeeded.get(recipient) ?? [],
    reset: () => {
      resets += 1;
      [upperProofs, blocks] = [new Map(), new Map()];
      succeeded.clear();
    },
    beforeLightBlock: async () => {},
  };
  return remote;
}

function noSuchHeight(height: bigint): ClientError {
  return rpcError("commit", `height ${height} must be less than or equal to the current blockchain height`);
}

function rpcError(method: string, data: string): ClientError {
  return new ClientError({ code: "rpc", endpoint: "sim", method, rpcCode: -32603, data }, data);
}

function toResult({ code, bytes }: SimTx) {
  return { code, data: bytes, gasWanted: 10n, gasUsed: 5n };
}

interface CometChain {
  readonly blockAt: (height: bigint) => SimBlock;
  readonly visible: () => bigint;
}

/** Answers the two calls that go through CosmJS, in CometBFT's JSON. */
function cometResponse(method: string, params: unknown, chain: CometChain): unknown {
  const get = (name: string): string => `${Reflect.get(Object(params), name)}`;
  if (method === "block_results") {
    const block = chain.blockAt(BigInt(get("height")));
    return {
      height: get("height"),
      txs_results: block.txs.map(resultJson),
      validator_updates: [],
      finalize_block_events: [],
      app_hash: "",
    };
  }
  if (method !== "tx_search") throw new Error(`unexpected call ${method}`);
  return search(get("query"), Number(get("page")), Number(get("per_page")), chain);
}

function search(query: string, page: number, perPage: number, chain: CometChain): unknown {
  const match =
    /^tx\.height>=(\d+) AND tx\.height<=(\d+)(?: AND transfer\.recipient='(\w+)')?(?: AND tx\.hash='(\w+)')?$/.exec(
      query,
    );
  if (match === null) throw rpcError("tx_search", `the indexer does not support ${query}`);
  const [, from = "", to = "", recipient, wanted] = match;
  const found: unknown[] = [];
  for (let at = BigInt(from); at <= BigInt(to) && at <= chain.visible(); at++) {
    const { txs } = chain.blockAt(at);
    const { proofs, root } = simpleProofs(txs.map(({ bytes }) => sha256(bytes)));
    for (const [index, tx] of txs.entries()) {
      const hash = toHex(sha256(tx.bytes)).toUpperCase();
      if (recipient !== undefined && tx.recipient !== recipient) continue;
      if (wanted !== undefined && hash !== wanted) continue;
      const proof = proofs[index];
      found.push({
        hash,
        height: at.toString(),
        index,
        tx_result: resultJson(tx),
        tx: toBase64(tx.bytes),
        proof: {
          root_hash: toHex(root).toUpperCase(),
          data: toBase64(tx.bytes),
          proof: {
            total: `${txs.length}`,
            index: `${index}`,
            leaf_hash: toBase64(proof?.leafHash ?? new Uint8Array()),
            aunts: proof?.aunts.map(toBase64) ?? [],
          },
        },
      });
    }
  }
  return { txs: found.slice((page - 1) * perPage, page * perPage), total_count: `${found.length}` };
}

function resultJson(tx: SimTx): unknown {
  const attributes = [{ key: "recipient", value: tx.recipient, index: true }];
  return {
    code: tx.code,
    data: toBase64(tx.bytes),
    log: "",
    info: "",
    gas_wanted: "10",
    gas_used: "5",
    events: [{ type: "transfer", attributes }],
    codespace: "",
  };
}
