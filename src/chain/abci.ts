import type { JsonObject } from "../base/json.ts";
import type { ChainEvent } from "./runtime/events.ts";
import type { CommitChanges } from "./store/state-storage.ts";

/** Outcome of one transaction, as `ExecTxResult`. `data` is an encoded `TxMsgData`. */
export interface TxResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly ChainEvent[];
}

/** A consensus validator: ed25519 public key (32 bytes) and voting power (0 removes it). */
export interface ValidatorPower {
  readonly publicKey: Uint8Array;
  readonly power: bigint;
}

/** What a node tells the application at height 0. `appState` is the genesis document's `app_state`. */
interface InitChainRequest {
  readonly chainId: string;
  readonly timeNs: bigint;
  readonly initialHeight: bigint;
  readonly validators: readonly ValidatorPower[];
  readonly appState: JsonObject;
}

/** Whether a validator (20-byte address) signed the previous block, and its price vote. */
interface LastCommitVote {
  readonly address: Uint8Array;
  readonly power: bigint;
  readonly signed: boolean;
}

/** One decided block. */
export interface FinalizeBlockRequest {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly proposerAddress: Uint8Array;
  readonly txs: readonly Uint8Array[];
  readonly lastCommit: readonly LastCommitVote[];
}

/** What a block did. `appHash` belongs into the header of the next height. */
export interface FinalizeBlockResult {
  readonly txResults: readonly TxResult[];
  /** Events of begin and end block, each with the attribute `mode` = BeginBlock or EndBlock as the SDK adds. */
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  readonly appHash: Uint8Array;
}

/** `abci_query`: a store path ("store/bank/key", "/store/bank/subspace"), a gRPC path, or "/app/version", "/app/simulate", "/p2p/…". */
export interface QueryRequest {
  readonly path: string;
  readonly data: Uint8Array;
  /** 0: latest. */
  readonly height: bigint;
  readonly prove: boolean;
}

/** One proof operator of a store query: "ics23:iavl" then "ics23:simple"; `data` is an encoded CommitmentProof. */
export interface ProofOperator {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}

/** Answer of {@link Application.query}. Failures are answers (code, codespace, log), not exceptions. */
export interface QueryResponse {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
  readonly proof: readonly ProofOperator[] | undefined;
  /** gRPC status of a failed gRPC query, for the REST and gRPC faces; 0 otherwise. */
  readonly grpcCode: number;
  /** Message of that status as the gRPC face gives it ("codespace x code n: description: wraps"). */
  readonly grpcMessage: string;
}

/**
 * The state machine as its node sees it (ABCI 2.0, synchronous). Order: `initChain` once on an empty state, then for
 * every block `finalizeBlock`, `commit`. Queries and checks see the last committed state (checks: plus what was checked since).
 */
export interface Application {
  readonly info: () => {
    readonly height: bigint;
    readonly appHash: Uint8Array;
    readonly version: string;
    readonly appVersion: bigint;
  };
  readonly initChain: (request: InitChainRequest) => {
    readonly appHash: Uint8Array;
    readonly validators: readonly ValidatorPower[];
  };
  /** CheckTx; `recheck` after a block for what stayed in the mempool. */
  readonly checkTx: (tx: Uint8Array, recheck: boolean) => TxResult;
  readonly finalizeBlock: (request: FinalizeBlockRequest) => FinalizeBlockResult;
  /** Makes the finalized block the latest state. The node writes `changes` to disk together with the block, or keeps them not at all. */
  readonly commit: () => CommitChanges;
  readonly query: (request: QueryRequest) => QueryResponse;
  /** Simulates an encoded Tx (missing signatures allowed). */
  readonly simulate: (tx: Uint8Array) => TxResult;
  /** The whole state as a genesis `app_state`. */
  readonly exportState: () => JsonObject;
  /** gRPC query paths that the application answers, for routing and reflection. */
  readonly queryPaths: () => readonly string[];
}
