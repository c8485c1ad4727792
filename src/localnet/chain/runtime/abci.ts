import type { BlockInput, ChainEvent } from "./context.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { CommitChanges, ProofOperator } from "../store/multi-store.ts";
import type { Interrupt } from "./gas.ts";

/** Result of executing or checking one transaction (ABCI `ExecTxResult`). */
export interface TxResult {
  /** ABCI code, which is 0 on success. */
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** The encoded `TxMsgData`, or empty if the transaction failed. */
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly ChainEvent[];
}

/** A consensus validator and its voting power. A power of 0 removes the validator from the set. */
export interface ValidatorPower {
  /** Ed25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly power: bigint;
}

interface InitChainRequest {
  readonly chainId: string;
  readonly timeNs: bigint;
  readonly initialHeight: bigint;
  readonly validators: readonly ValidatorPower[];
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
  /** Events from the begin and end hooks. As in the SDK, the attribute `mode` of each event is "BeginBlock" or "EndBlock". */
  readonly events: readonly ChainEvent[];
  readonly validatorUpdates: readonly ValidatorPower[];
  /** State root after this block, which the header at the next height contains. */
  readonly appHash: Uint8Array;
}

/**
 * An `abci_query` request. `path` is a store path ("store/bank/key", "/store/bank/subspace"), a gRPC path, "/app/version",
 * "/app/simulate" or "/p2p/…".
 */
export interface QueryRequest {
  readonly path: string;
  readonly data: Uint8Array;
  /** Height of the state to read, or 0 for the latest height. */
  readonly height: bigint;
  readonly prove: boolean;
}

/** Response to an ABCI query. A failed query returns a response with a non-zero code instead of throwing. */
export interface QueryResponse {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
  readonly proof: readonly ProofOperator[] | undefined;
  /**
   * gRPC status code of a failed gRPC query, or 0 for a successful query and for queries that are not gRPC queries. The REST and
   * gRPC servers return this code.
   */
  readonly grpcCode: number;
  /** gRPC status message ("codespace x code n: description: wraps"). */
  readonly grpcMessage: string;
}

/** A function that runs a transaction by calling `run` once. The function can do additional work before and after the call. */
export type RunAround = (run: () => TxResult) => TxResult;

/**
 * The state machine behind a node (ABCI 2.0, synchronous). Call `initChain` once on an empty state, then `finalizeBlock` and
 * `commit` for every block. Queries read the last committed state. CheckTx also reads the writes of all transactions that were
 * checked since the last commit.
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
  /** Runs CheckTx. After each block, the node calls `checkTx` with `recheck` for every transaction still in the mempool. */
  readonly checkTx: (tx: Uint8Array, recheck: boolean) => TxResult;
  readonly finalizeBlock: (request: FinalizeBlockRequest) => FinalizeBlockResult;
  /**
   * Makes the finalized block's state the latest state. The node writes the returned changes and the block in one database
   * transaction.
   */
  readonly commit: () => CommitChanges;
  /** Loads the state again after the storage has been rolled back. Discards the check state and any finalized block. */
  readonly reload: () => void;
  /** Runs a query. If `interrupt` ends the query, even during a simulation, the gRPC code is DeadlineExceeded. */
  readonly query: (request: QueryRequest, interrupt?: Interrupt) => QueryResponse;
  /** Simulates an encoded `Tx`, which may lack signatures. `interrupt` may throw to end the simulation. */
  readonly simulate: (tx: Uint8Array, interrupt?: Interrupt) => TxResult;
  /**
   * Reruns a block's transactions without changing the state. `around` runs the last transaction, unless the block has no gas
   * left for that transaction. Returns undefined if the state before the block is no longer stored. `interrupt` may throw to end the
   * rerun.
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
