import type { BlockInput, ChainEvent } from "./context.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { CommitChanges, ProofOperator } from "../store/multi-store.ts";
import type { Interrupt } from "./gas.ts";

/** Outcome of one transaction (ABCI `ExecTxResult`). */
export interface TxResult {
  /** 0: success. */
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** The encoded `TxMsgData`; empty after a failure. */
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly ChainEvent[];
}

/** A consensus validator. A power of 0 removes it. */
export interface ValidatorPower {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly power: bigint;
}

interface InitChainRequest {
  readonly chainId: string;
  readonly timeNs: bigint;
  readonly initialHeight: bigint;
  readonly validators: readonly ValidatorPower[];
  /** The genesis document's `app_state`. */
  readonly appState: JsonObject;
}

export interface FinalizeBlockRequest
  extends Pick<BlockInput, "lastCommit" | "misbehavior" | "nextValidatorsHash"> {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly proposerAddress: Uint8Array;
  readonly txs: readonly Uint8Array[];
}

export interface FinalizeBlockResult {
  readonly txResults: readonly TxResult[];
  /** Events from the hooks. Those from begin and end hooks have the attribute `mode` (BeginBlock or EndBlock), as in the SDK. */
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  /** State root after this block. The header at the next height contains it. */
  readonly appHash: Uint8Array;
}

/**
 * An `abci_query` request. `path` is a store path ("store/bank/key", "/store/bank/subspace"), a gRPC path, "/app/version",
 * "/app/simulate" or "/p2p/…".
 */
export interface QueryRequest {
  readonly path: string;
  readonly data: Uint8Array;
  /** 0: latest. */
  readonly height: bigint;
  readonly prove: boolean;
}

/** Response from {@link Application.query}. A failed query returns a response with a code instead of throwing an exception. */
export interface QueryResponse {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
  readonly proof: readonly ProofOperator[] | undefined;
  /** gRPC status code of a failed gRPC query, or 0. The REST and gRPC servers return it. */
  readonly grpcCode: number;
  /** gRPC status message ("codespace x code n: description: wraps"). */
  readonly grpcMessage: string;
}

/** Runs a transaction, with optional work before and after it. */
export type RunAround = (run: () => TxResult) => TxResult;

/**
 * The state machine behind a node (ABCI 2.0, synchronous). Call `initChain` once on an empty state, then `finalizeBlock` and
 * `commit` for every block. Queries read the last committed state. Checks read the same state plus the writes of the transactions
 * checked since then.
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
  /** CheckTx. The node sets `recheck` for transactions that are still in the mempool after a block. */
  readonly checkTx: (tx: Uint8Array, recheck: boolean) => TxResult;
  readonly finalizeBlock: (request: FinalizeBlockRequest) => FinalizeBlockResult;
  /**
   * Makes the finalized block the latest state. The node writes the returned changes to disk in one transaction with the block,
   * or not at all.
   */
  readonly commit: () => CommitChanges;
  /** Reopens the state after the storage has been rolled back. Drops everything checked or finalized since then. */
  readonly reload: () => void;
  /** `interrupt` may end the query, even during a simulation; the response code is then DeadlineExceeded. */
  readonly query: (request: QueryRequest, interrupt?: Interrupt) => QueryResponse;
  /** Simulates an encoded Tx. Signatures may be missing. Throws any error thrown by `interrupt`. */
  readonly simulate: (tx: Uint8Array, interrupt?: Interrupt) => TxResult;
  /**
   * Reruns a block's transactions, the last one inside `around`, which is not called if the block has no gas left for that
   * transaction. Returns undefined if the state before the block is not stored. Changes nothing. Throws any error thrown by
   * `interrupt`.
   */
  readonly rerun: (
    block: FinalizeBlockRequest,
    around: RunAround,
    interrupt?: Interrupt,
  ) => readonly TxResult[] | undefined;
  /** Exports the committed state as a genesis `app_state`. */
  readonly exportState: () => JsonObject;
  /** gRPC paths of all queries, for routing and reflection. */
  readonly queryPaths: () => readonly string[];
  /** Type URLs of the messages that have handlers. */
  readonly messageTypes: () => readonly string[];
}
