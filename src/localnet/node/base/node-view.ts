import type { BlockId, Commit, Header, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import type { QueryRequest, QueryResponse, TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import { sha256, toHex, utf8 } from "../../../platform/base/bytes.ts";

/** A committed block. It contains no evidence. */
export interface StoredBlock {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  /** The commit for the previous block. The first block has an empty commit with height 0. */
  readonly lastCommit: Commit;
  readonly blockId: BlockId;
  /** Length of the encoded block (`encodeBlock`). */
  readonly sizeBytes: number;
}

/** The results of a block (FinalizeBlock). */
export interface StoredResults {
  readonly height: bigint;
  readonly txResults: readonly TxResult[];
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  /** Hash of the state after this block. The next block's header contains it. */
  readonly appHash: Uint8Array;
}

/** An executed transaction. `hash` is the SHA-256 of `tx`; `index` is its position in the block. */
export interface StoredTx {
  readonly hash: Uint8Array;
  readonly height: bigint;
  readonly index: number;
  readonly tx: Uint8Array;
  readonly result: TxResult;
}

/** A search in CometBFT's event query language. Page numbers start at 1. */
export interface SearchRequest {
  readonly query: string;
  readonly order: "asc" | "desc";
  readonly page: number;
  readonly perPage: number;
}

/** One page of search results. `total` counts the items on all pages. */
export interface SearchPage<T> {
  /** The page's items, each decoded only when the iteration reaches it. Can be iterated only once. */
  readonly items: Iterable<T>;
  readonly total: number;
}

/** The identity of the chain and the node, and the latest block. */
export interface NodeStatus {
  readonly chainId: string;
  readonly moniker: string;
  /** The application's version, e.g. "6.0.3". */
  readonly appVersion: string;
  readonly latestHeight: bigint;
  readonly latestHash: Uint8Array;
  /** Hash of the state after the latest block. */
  readonly latestAppHash: Uint8Array;
  readonly latestTimeNs: bigint;
  /** Height of the lowest readable block or, before the first block, the initial height. */
  readonly earliestHeight: bigint;
}

/** Hash and CheckTx result of a broadcast transaction. If the code is 0, the transaction is in the mempool. */
export interface BroadcastResult {
  readonly hash: Uint8Array;
  readonly check: TxResult;
}

/** `abci_query` handlers by path. */
export type NodeQueries = ReadonlyMap<string, (request: QueryRequest) => QueryResponse>;

/**
 * What a chain's servers (RPC, REST, gRPC, control) can read and do. All reads are synchronous, show committed state, and return
 * undefined for an unknown height or hash. Returned objects are shared and must not be modified.
 */
export interface NodeView {
  readonly status: () => NodeStatus;
  /** Runs an ABCI query on a gRPC path or a store, at any stored height. An error is part of the response. */
  readonly query: (request: QueryRequest) => QueryResponse;
  readonly simulate: (tx: Uint8Array) => TxResult;
  /** Returns the gRPC query paths that the application supports. */
  readonly queryPaths: () => readonly string[];
  /** Returns the type URLs of the messages that the application executes. */
  readonly messageTypes: () => readonly string[];
  readonly block: (height: bigint) => StoredBlock | undefined;
  readonly blockByHash: (hash: Uint8Array) => StoredBlock | undefined;
  readonly results: (height: bigint) => StoredResults | undefined;
  /** Returns the commit for a block. It comes from the next block or, for the latest block, from the votes. */
  readonly commit: (height: bigint) => Commit | undefined;
  /** Returns the validators that sign a block, with proposer and priorities. They are known up to one block above the latest. */
  readonly validators: (height: bigint) => ValidatorSet | undefined;
  readonly tx: (hash: Uint8Array) => StoredTx | undefined;
  /** Searches transactions. Throws `QueryLanguageError` for an invalid query, and `PageError` if the page is out of range. */
  readonly searchTxs: (request: SearchRequest) => SearchPage<StoredTx>;
  /** Searches blocks. Throws like `searchTxs`. */
  readonly searchBlocks: (request: SearchRequest) => SearchPage<StoredBlock>;
  /** Adds a transaction to the mempool. Throws `MempoolError` if it is cached or too large, or if the mempool is full. */
  readonly broadcast: (tx: Uint8Array) => BroadcastResult;
  /** Runs CheckTx without adding the transaction to the mempool. */
  readonly check: (tx: Uint8Array) => TxResult;
  /** Returns the number and total size of the pending transactions, and the first `limit` of them. */
  readonly unconfirmed: (limit: number) => {
    readonly count: number;
    readonly bytes: number;
    readonly txs: readonly Uint8Array[];
  };
  /** Calls `listener` after every committed block, in height order. Returns a function that removes the listener. */
  readonly onBlock: (listener: (block: StoredBlock, results: StoredResults) => void) => () => void;
}

/** Returns an id in CometBFT's format (40 hex digits). It is a hash of the names, because a node without peers needs no key. */
export function nodeId(chainId: string, moniker: string): string {
  return toHex(sha256(utf8(`node ${chainId} ${moniker}`)).subarray(0, 20));
}

/** CometBFT release whose RPC this node implements. Clients use it to choose their protocol version. */
export const COMET_VERSION = "0.38.17";

/** The P2P channel ids that CometBFT announces, each one byte in hex. */
export const P2P_CHANNELS = "40202122233038606100";

/** P2P protocol version that {@link COMET_VERSION} uses. */
export const P2P_VERSION = 8n;
