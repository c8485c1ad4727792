import type { BlockId, Commit, Header, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import type { QueryRequest, QueryResponse, TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import { sha256, toHex, utf8 } from "../../../platform/base/bytes.ts";

/** A committed block without its evidence, which the node does not store. */
export interface StoredBlock {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  /** Commit for the previous block or, in the first block, an empty commit with height 0. */
  readonly lastCommit: Commit;
  readonly blockId: BlockId;
  /** Length in bytes of the block as encoded by `encodeBlock`. */
  readonly sizeBytes: number;
}

/** A block's results, as returned by FinalizeBlock. */
export interface StoredResults {
  readonly height: bigint;
  readonly txResults: readonly TxResult[];
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  /** Hash of the state after this block, which the next block's header contains. */
  readonly appHash: Uint8Array;
}

/** An executed transaction. `hash` is the SHA-256 hash of `tx`, and `index` is the transaction's position in the block. */
export interface StoredTx {
  readonly hash: Uint8Array;
  readonly height: bigint;
  readonly index: number;
  readonly tx: Uint8Array;
  readonly result: TxResult;
}

/** A search in CometBFT's event query language, with pages numbered from 1. */
export interface SearchRequest {
  readonly query: string;
  readonly order: "asc" | "desc";
  readonly page: number;
  readonly perPage: number;
}

/** A page of search results. `total` counts the results on all pages. */
export interface SearchPage<T> {
  /** Results on this page, which are decoded lazily and can be iterated only once. */
  readonly items: Iterable<T>;
  readonly total: number;
}

/** The identity of the chain and the node, and the latest block's height, time and hashes. */
export interface NodeStatus {
  readonly chainId: string;
  readonly moniker: string;
  /** The application's version, such as "6.0.3". */
  readonly appVersion: string;
  readonly latestHeight: bigint;
  readonly latestHash: Uint8Array;
  /** Hash of the state after the latest block. */
  readonly latestAppHash: Uint8Array;
  readonly latestTimeNs: bigint;
  /** Lowest height whose block is available, or the initial height before the first block. */
  readonly earliestHeight: bigint;
}

/** A broadcast transaction's hash and CheckTx result. If the result's code is 0, the transaction is in the mempool. */
export interface BroadcastResult {
  readonly hash: Uint8Array;
  readonly check: TxResult;
}

/** Functions that handle `abci_query` requests, keyed by path. */
export type NodeQueries = ReadonlyMap<string, (request: QueryRequest) => QueryResponse>;

/**
 * A node's interface for its servers (RPC, REST, gRPC, control). Reads are synchronous and return committed state, or undefined for
 * an unknown height or hash. Returned objects are shared and must not be modified.
 */
export interface NodeView {
  readonly status: () => NodeStatus;
  /** Runs an ABCI query on a gRPC path or a store at any stored height. A failed query returns an error code instead of throwing. */
  readonly query: (request: QueryRequest) => QueryResponse;
  readonly simulate: (tx: Uint8Array) => TxResult;
  /** Returns the gRPC query paths that the application supports. */
  readonly queryPaths: () => readonly string[];
  /** Returns the type URLs of the messages that the application executes. */
  readonly messageTypes: () => readonly string[];
  readonly block: (height: bigint) => StoredBlock | undefined;
  readonly blockByHash: (hash: Uint8Array) => StoredBlock | undefined;
  readonly results: (height: bigint) => StoredResults | undefined;
  /** Returns the commit for a block. The commit is read from the next block or, for the latest block, from the validators' votes. */
  readonly commit: (height: bigint) => Commit | undefined;
  /**
   * Returns a height's validator set with the proposer and the priorities. The height can be at most one above the latest block's
   * height.
   */
  readonly validators: (height: bigint) => ValidatorSet | undefined;
  readonly tx: (hash: Uint8Array) => StoredTx | undefined;
  /** Searches transactions. Throws `QueryLanguageError` for an invalid query, and `PageError` if the page is out of range. */
  readonly searchTxs: (request: SearchRequest) => SearchPage<StoredTx>;
  /** Searches blocks. Throws like `searchTxs`. */
  readonly searchBlocks: (request: SearchRequest) => SearchPage<StoredBlock>;
  /** Adds a transaction to the mempool. Throws `MempoolError` if the transaction is a duplicate or too large, or if the mempool is full. */
  readonly broadcast: (tx: Uint8Array) => BroadcastResult;
  /** Runs CheckTx without adding the transaction to the mempool. */
  readonly check: (tx: Uint8Array) => TxResult;
  /** Returns the number and total size of pending transactions, and the first `limit` transactions. */
  readonly unconfirmed: (limit: number) => {
    readonly count: number;
    readonly bytes: number;
    readonly txs: readonly Uint8Array[];
  };
  /** Calls `listener` after every committed block, in height order. Returns a function that removes the listener. */
  readonly onBlock: (listener: (block: StoredBlock, results: StoredResults) => void) => () => void;
}

/**
 * Returns a node id in CometBFT's format (40 hex digits). The id is a hash of the chain id and the moniker, because a node without
 * peers needs no node key.
 */
export function nodeId(chainId: string, moniker: string): string {
  return toHex(sha256(utf8(`node ${chainId} ${moniker}`)).subarray(0, 20));
}

/** CometBFT release whose RPC this node implements. Clients derive the protocol version from this release. */
export const COMET_VERSION = "0.38.17";

/** P2P channel ids that CometBFT advertises, each of which is one byte in hex. */
export const P2P_CHANNELS = "40202122233038606100";

/** P2P protocol version that {@link COMET_VERSION} uses. */
export const P2P_VERSION = 8n;
