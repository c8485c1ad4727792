import type { QueryRequest, QueryResponse, TxResult, ValidatorPower } from "../chain/abci.ts";
import type { ChainEvent } from "../chain/runtime/events.ts";
import type { BlockId, Commit, Header, ValidatorSet } from "../comet/block-types.ts";

/** A committed block as it is stored. It carries no evidence. */
export interface StoredBlock {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  /** The commit of the block before; at the first height an empty one of height 0. */
  readonly lastCommit: Commit;
  readonly blockId: BlockId;
  /** Length of the encoded block (`encodeBlock`). */
  readonly sizeBytes: number;
}

/** What executing a block gave. */
export interface StoredResults {
  readonly height: bigint;
  readonly txResults: readonly TxResult[];
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  /** State after this block; it stands in the header of the next height. */
  readonly appHash: Uint8Array;
}

/** An executed transaction: `hash` is the SHA-256 of `tx`, `index` its place in the block. */
export interface StoredTx {
  readonly hash: Uint8Array;
  readonly height: bigint;
  readonly index: number;
  readonly tx: Uint8Array;
  readonly result: TxResult;
}

/** A search in the event query language. Pages count from 1. */
export interface SearchRequest {
  readonly query: string;
  readonly order: "asc" | "desc";
  readonly page: number;
  readonly perPage: number;
}

/** One page of what a search found, and how many there are in all. */
export interface SearchPage<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Who the chain and node are, and how far they came. Times are ns since the Unix epoch. */
export interface NodeStatus {
  readonly chainId: string;
  readonly moniker: string;
  /** Version of the application, e.g. "6.0.3". */
  readonly appVersion: string;
  readonly latestHeight: bigint;
  readonly latestHash: Uint8Array;
  /** State after the latest block. */
  readonly latestAppHash: Uint8Array;
  readonly latestTimeNs: bigint;
  readonly earliestHeight: bigint;
}

/** What CheckTx said of a broadcast transaction; with code 0 it waits in the mempool. */
export interface BroadcastResult {
  readonly hash: Uint8Array;
  readonly check: TxResult;
}

/**
 * A running chain as its faces (RPC, REST, gRPC, control) see it. Synchronous reads of committed state; heights that
 * are not there give undefined. Everything returned is shared: receivers do not change it.
 */
export interface NodeView {
  readonly status: () => NodeStatus;
  /** ABCI query: gRPC paths and stores, any kept height. Failures are answers. */
  readonly query: (request: QueryRequest) => QueryResponse;
  readonly simulate: (tx: Uint8Array) => TxResult;
  /** gRPC query paths that the application answers. */
  readonly queryPaths: () => readonly string[];
  readonly block: (height: bigint) => StoredBlock | undefined;
  readonly blockByHash: (hash: Uint8Array) => StoredBlock | undefined;
  readonly results: (height: bigint) => StoredResults | undefined;
  /** The commit for a height: from the next block, or the one seen for the latest. */
  readonly commit: (height: bigint) => Commit | undefined;
  /** Validators that sign a height (1 … latest + 1), with proposer and priorities. */
  readonly validators: (height: bigint) => ValidatorSet | undefined;
  readonly tx: (hash: Uint8Array) => StoredTx | undefined;
  /** Throws `QueryLanguageError` on a bad query, `PageError` on a page that is not there. */
  readonly searchTxs: (request: SearchRequest) => SearchPage<StoredTx>;
  readonly searchBlocks: (request: SearchRequest) => SearchPage<StoredBlock>;
  /** Checks a transaction and keeps it for a block. Throws `MempoolError` when it is known, too large, or the pool is full. */
  readonly broadcast: (tx: Uint8Array) => BroadcastResult;
  /** CheckTx without keeping it. */
  readonly check: (tx: Uint8Array) => TxResult;
  /** Transactions that wait for a block. */
  readonly unconfirmed: (limit: number) => {
    readonly count: number;
    readonly bytes: number;
    readonly txs: readonly Uint8Array[];
  };
  /** Calls back after every committed block, in order, until the returned function is called. The callback must not throw. */
  readonly onBlock: (listener: (block: StoredBlock, results: StoredResults) => void) => () => void;
}

/** A server that shows a node to the world. */
export interface NodeServer {
  readonly name: string;
  /** Opens the port and resolves with the bound one. Rejects with `PortInUseError` or `ListenError`. */
  readonly listen: () => Promise<number>;
  /** Stops listening and ends what is open, within a second. */
  readonly close: () => Promise<void>;
}

/** Makes a server of a node's view: how REST and gRPC faces are attached to a node. */
export type ServerFactory = (view: NodeView) => NodeServer;
