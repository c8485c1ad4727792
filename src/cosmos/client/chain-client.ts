import type { Comet38Client } from "@cosmjs/tendermint-rpc";
import type { BlockResults, decodeTxSearch } from "../comet/rpc-blocks.ts";

/** A proof operator as `abci_query` returns it. */
export interface ProofOp {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}

/** A read of one key of a store, with proof. `height` 0 means the latest height. */
export interface StoreRead {
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: bigint;
}

/** Response to a store read. */
export interface StoreResponse {
  /** 0 for success. Otherwise the application refused the query, and `log` says why. */
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly height: bigint;
  /** undefined when the key is absent; empty when the key exists with an empty value */
  readonly value: Uint8Array | undefined;
  /** proof operators from the store's tree up to the app hash */
  readonly proof: readonly ProofOp[];
  /** Name of the endpoint that responded. */
  readonly endpoint: string;
}

/** An endpoint that is more blocks behind the best one than this is used last. A smaller distance is chance. */
export const MAX_LAG = 5n;

/** The part of a node's status that the client uses. */
export interface NodeStatus {
  readonly chainId: string;
  readonly latestHeight: bigint;
  readonly latestTimeNs: bigint;
  /** lowest height that the node has not pruned */
  readonly earliestHeight: bigint;
  readonly catchingUp: boolean;
  /** Version of CometBFT or Tendermint; absent: it is not printed. */
  readonly version?: string;
}

/** The blocks `from` to `to`, both included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Height of a gRPC query: this one (0: the latest), or the latest one of a node that has reached `atLeast`. */
export type QueryHeight = bigint | { readonly atLeast: bigint };

/** Header, commit and validators of one height in CometBFT's protobuf encoding, as a light client needs them. */
export interface LightBlockBytes {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
  /** encoded `tendermint.types.SignedHeader` */
  readonly signedHeader: Uint8Array;
  /** encoded `tendermint.types.ValidatorSet` (with proposer and total power) */
  readonly validatorSet: Uint8Array;
}

/** A page of a search. */
export type SearchPage = ReturnType<typeof decodeTxSearch> & {
  /** Name of the endpoint that responded; absent in a chain of a test. */
  readonly endpoint?: string;
};

/** Parameters of `tx_search`. */
export interface TxSearchParams {
  readonly query: string;
  readonly prove?: boolean;
  readonly page?: number;
  readonly per_page?: number;
  readonly order_by?: string;
}

/** Searches for transactions. */
export interface TxSearcher {
  readonly txSearch: (params: TxSearchParams) => Promise<SearchPage>;
}

/** Reads of CosmJS' client, and readers of blocks and transactions that tolerate what they do not need. They have no signals. */
export type CometReads = Pick<Comet38Client, "commit" | "blockSearch"> &
  TxSearcher & {
    readonly blockResults: (height: number) => Promise<BlockResults & Pick<SearchPage, "endpoint">>;
    readonly block: (
      height: number,
    ) => Promise<{ readonly block: { readonly txs: readonly Uint8Array[] } } & Pick<SearchPage, "endpoint">>;
  };

/**
 * Reads from one chain over CometBFT RPC. Each call has a deadline. It rejects with `ClientError`, and with the signal's
 * reason on abort.
 */
export interface ChainClient {
  readonly comet: CometReads;
  /**
   * Searches over the endpoints that have all of these blocks: the response of a node that is behind, or has pruned blocks, does
   * not tell what it lacks. Rejects with `height-unavailable` when no endpoint has them. `check` returns what is wrong with a page,
   * or undefined; the next endpoint is then asked.
   */
  readonly cometWith: (blocks: BlockRange, check?: (page: SearchPage) => string | undefined) => TxSearcher;
  /** Reads the number of transactions in each of at most 20 blocks. */
  readonly txCounts: (blocks: BlockRange, signal: AbortSignal) => Promise<ReadonlyMap<bigint, number>>;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  /** Returns the lowest height that some endpoint has not pruned. Rejects when no endpoint responds. */
  readonly earliestHeight: (signal: AbortSignal) => Promise<bigint>;
  readonly readStore: (read: StoreRead, signal: AbortSignal) => Promise<StoreResponse>;
  /**
   * Runs a gRPC query over `abci_query`; takes the encoded request and returns the encoded response. Rejects with `abci`
   * when the application refuses, and with `height-unavailable` when every endpoint is below `atLeast`. `height` defaults to 0.
   */
  readonly grpcQuery: (
    path: string,
    request: Uint8Array,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<Uint8Array>;
  /**
   * Reads the light block of a height from one endpoint, and verifies its signatures; 0 means the latest height. `validators` is
   * the hash of the validator set that it must have; it must not reject. After a wrong block, the next endpoint is asked.
   */
  readonly lightBlock: (
    height: bigint,
    signal: AbortSignal,
    validators?: Promise<Uint8Array | undefined>,
  ) => Promise<LightBlockBytes>;
  /**
   * Reports that a response of this endpoint is proven to be wrong. Reads then prefer other endpoints for some time; when there
   * is no other, they go on with this one. Unknown names have no effect.
   */
  readonly distrust: (endpoint: string, reason: string) => void;
  /** Rejects all pending and later calls with `closed`. */
  readonly close: () => void;
}
