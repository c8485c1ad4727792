import type { Comet38Client } from "@cosmjs/tendermint-rpc";
import type { BlockResults, decodeTxSearch } from "../comet/rpc-blocks.ts";
import type { MessageFns } from "../proto/message-fns.ts";

/** A proof operator, as returned by `abci_query`. */
export interface ProofOp {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}

/** A request to read one store key with a proof, at the given `height` (0 for the latest height). */
export interface StoreRead {
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: bigint;
}

export interface StoreResponse {
  /** ABCI response code, which is 0 on success. Any other code means that the application rejected the query for the reason in `log`. */
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly height: bigint;
  /** The key's value. Undefined if the key does not exist. Empty if the key exists and its value is empty. */
  readonly value: Uint8Array | undefined;
  /** Proof operators from the store's tree up to the app hash. */
  readonly proof: readonly ProofOp[];
  /** Name of the endpoint that responded. */
  readonly endpoint: string;
}

/** An endpoint that is more than this number of blocks behind the best endpoint is tried last. A smaller lag is normal. */
export const MAX_LAG = 5n;
/** If a chain's height drops by more than this number of blocks, the chain was reset. A smaller drop means that an endpoint is behind. */
export const RESET_DISTANCE = 20n;

/** The parts of a node's status that the client uses. */
export interface NodeStatus {
  readonly chainId: string;
  readonly latestHeight: bigint;
  readonly latestTimeNs: bigint;
  /** Lowest height that the node has not pruned. */
  readonly earliestHeight: bigint;
  readonly catchingUp: boolean;
  /** CometBFT or Tendermint version, or undefined if the node does not report its version. */
  readonly version?: string;
}

/** The blocks from `from` to `to`, inclusive. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Height for a gRPC query: an exact height (0 for the latest), or the latest height of a node that has reached `atLeast`. */
export type QueryHeight = bigint | { readonly atLeast: bigint };

/** Header, commit and validators at one height in CometBFT's protobuf encoding, as required by a light client. */
export interface LightBlockBytes {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
  /** Encoded `tendermint.types.SignedHeader`. */
  readonly signedHeader: Uint8Array;
  /** Encoded `tendermint.types.ValidatorSet` (with proposer and total power). */
  readonly validatorSet: Uint8Array;
}

export type SearchPage = ReturnType<typeof decodeTxSearch> & {
  /** Name of the endpoint that responded, or undefined in tests. */
  readonly endpoint?: string;
};

export interface TxSearchParams {
  readonly query: string;
  readonly prove?: boolean;
  readonly page?: number;
  readonly per_page?: number;
  readonly order_by?: string;
}

export interface TxSearcher {
  readonly txSearch: (params: TxSearchParams) => Promise<SearchPage>;
}

/**
 * CosmJS's methods `commit` and `blockSearch`, and readers that decode only the fields that are needed. As in CosmJS, the methods
 * have no parameter for an abort signal.
 */
export type CometReads = Pick<Comet38Client, "commit" | "blockSearch"> &
  TxSearcher & {
    readonly blockResults: (height: number) => Promise<BlockResults & Pick<SearchPage, "endpoint">>;
    readonly block: (
      height: number,
    ) => Promise<{ readonly block: { readonly txs: readonly Uint8Array[] } } & Pick<SearchPage, "endpoint">>;
  };

/** Reads one chain over CometBFT RPC. All calls have a deadline and reject with `ClientError` or, on abort, the signal's reason. */
export interface ChainClient {
  readonly comet: CometReads;
  /**
   * Returns a searcher that queries only endpoints with all of these blocks. Other endpoints are not queried, because a node that
   * is behind or has pruned blocks does not report which blocks are missing. The searcher rejects with `height-unavailable` if no
   * endpoint has all the blocks. `check` returns undefined for a valid page. If `check` returns a problem, the next endpoint is
   * tried.
   */
  readonly cometWith: (blocks: BlockRange, check?: (page: SearchPage) => string | undefined) => TxSearcher;
  /** Reads the number of transactions in each of up to 20 blocks. */
  readonly txCounts: (blocks: BlockRange, signal: AbortSignal) => Promise<ReadonlyMap<bigint, number>>;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  /** Returns the lowest height that at least one endpoint has not pruned, or rejects if no endpoint responds. */
  readonly earliestHeight: (signal: AbortSignal) => Promise<bigint>;
  readonly readStore: (read: StoreRead, signal: AbortSignal) => Promise<StoreResponse>;
  /**
   * Runs a gRPC query over `abci_query`. The request and the response are encoded messages. Rejects with `abci` if the application
   * refuses the query, and with `height-unavailable` if every endpoint is below `atLeast`. `height` defaults to 0, the latest
   * height.
   */
  readonly grpcQuery: (
    path: string,
    request: Uint8Array,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<Uint8Array>;
  /**
   * Reads the light block at a height from one endpoint and verifies its signatures. A height of 0 means the latest height.
   * `validators` resolves with the hash of the expected validator set, and must not reject. If the block is invalid, the next
   * endpoint is tried.
   */
  readonly lightBlock: (
    height: bigint,
    signal: AbortSignal,
    validators?: Promise<Uint8Array | undefined>,
  ) => Promise<LightBlockBytes>;
  /**
   * Reports that this endpoint returned a provably wrong response. Reads then try this endpoint last for at least five minutes. An
   * unknown endpoint name has no effect.
   */
  readonly distrust: (endpoint: string, reason: string) => void;
  /** Closes the client, so that all pending and later calls reject with `closed`. */
  readonly close: () => void;
}

type Encoded<Requests> = {
  readonly [Rpc in keyof Requests]: { readonly request: MessageFns<Requests[Rpc]> };
};
type Decoded<Responses> = {
  readonly [Rpc in keyof Responses]: { readonly response: MessageFns<Responses[Rpc]> };
};

/** Returns a function that runs gRPC queries of a generated service; see `ChainClient.grpcQuery`. */
export function queriesOf<Requests, Responses>(
  client: Pick<ChainClient, "grpcQuery">,
  service: { readonly name: string; readonly methods: Encoded<Requests> & Decoded<Responses> },
) {
  const requests: Encoded<Requests> = service.methods;
  const responses: Decoded<Responses> = service.methods;
  return async <Rpc extends keyof Requests & keyof Responses & string>(
    rpc: Rpc,
    message: Requests[Rpc],
    signal: AbortSignal,
    height?: QueryHeight,
  ): Promise<Responses[Rpc]> => {
    const request = requests[rpc].request.encode(message).finish();
    const response = await client.grpcQuery(`/${service.name}/${rpc}`, request, signal, height);
    return responses[rpc].response.decode(response);
  };
}
