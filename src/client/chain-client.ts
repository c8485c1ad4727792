import type { Comet38Client } from "@cosmjs/tendermint-rpc";

/** A proof operator as `abci_query` returns it. */
export interface ProofOp {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}

/** One read of a store with proof. `height` 0 asks for the latest. */
export interface StoreRead {
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: bigint;
}

/** Answer of a store read; `value` is undefined when the key is absent, `code` other than 0 is a refusal with its `log`. */
export interface StoreAnswer {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly height: bigint;
  readonly value: Uint8Array | undefined;
  readonly proof: readonly ProofOp[];
}

/** Where a node stands. */
export interface NodeStatus {
  readonly chainId: string;
  readonly latestHeight: bigint;
  readonly latestTimeNs: bigint;
  readonly earliestHeight: bigint;
  readonly catchingUp: boolean;
}

/** Header, commit and validators of one height in CometBFT's protobuf encoding, ready for a light client. */
export interface LightBlockBytes {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
  /** encoded `tendermint.types.SignedHeader` */
  readonly signedHeader: Uint8Array;
  /** encoded `tendermint.types.ValidatorSet` (with proposer and total power) */
  readonly validatorSet: Uint8Array;
}

/**
 * Reads of one chain over CometBFT RPC. Every call takes a signal, has a deadline, and rejects with `ClientError`
 * (facts say which endpoint class, method and RPC code; never a full URL). Reads are batched on the wire.
 */
export interface ChainClient {
  /** CosmJS' decoder over our transport, for whatever is not below. */
  readonly comet: Comet38Client;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  readonly readStore: (read: StoreRead, signal: AbortSignal) => Promise<StoreAnswer>;
  /** gRPC query over `abci_query`: encoded request to encoded response. Rejects on a code other than 0 with code, codespace and log. */
  readonly grpcQuery: (
    path: string,
    request: Uint8Array,
    signal: AbortSignal,
    height?: bigint,
  ) => Promise<Uint8Array>;
  readonly lightBlock: (height: bigint, signal: AbortSignal) => Promise<LightBlockBytes>;
  readonly close: () => void;
}
