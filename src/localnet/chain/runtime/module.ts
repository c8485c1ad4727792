import type { JsonValue } from "../../../platform/base/json.ts";
import type { FinalizeBlockRequest, TxResult } from "./abci.ts";
import type { Context } from "./context.ts";

/** Response of a message handler. */
export interface HandlerResult {
  /** Type URL of the response message. */
  readonly typeUrl: string;
  /** The encoded response message. */
  readonly response: Uint8Array;
}

/** Handles one message type. */
export interface MessageHandler {
  readonly typeUrl: string;
  /** Returns the bech32 addresses that must sign an encoded message, in order. Throws `ModuleError` when it does not decode. */
  readonly signers: (message: Uint8Array) => readonly string[];
  /**
   * Checks an encoded message without the state (the SDK's `ValidateBasic`): of a transaction, before the fee is taken.
   * `handle` repeats it. Throws `ModuleError`.
   */
  readonly validate?: (message: Uint8Array) => void;
  /**
   * Runs an encoded message. The caller has verified the signers: for a transaction the ante handler, for the message of
   * a contract the contract host. Throws `ModuleError` to fail the message.
   */
  readonly handle: (context: Context, message: Uint8Array) => HandlerResult;
}

/** Handles one gRPC query. Request and response are encoded messages. */
export interface QueryHandler {
  /** For example "/cosmos.bank.v1beta1.Query/Balance". */
  readonly path: string;
  /** Throws `QueryError` or `ModuleError` to fail the query. */
  readonly query: (context: Context, request: Uint8Array) => Uint8Array;
}

/** Block data that the node passes to begin hooks. */
export interface BlockInput
  extends Pick<FinalizeBlockRequest, "lastCommit" | "misbehavior" | "nextValidatorsHash"> {
  /** Address of the proposer. Default: empty. */
  readonly proposerAddress?: Uint8Array;
  /** State root before this block, which the header of this block has. Default: empty. */
  readonly appHash?: Uint8Array;
}

/** Runs an encoded transaction of a genesis document, without a fee and a gas limit. Its writes stay when its code is 0. */
export type DeliverGenesisTx = (tx: Uint8Array) => TxResult;

/** A module of the chain. A module calls another one only through an interface that it declares itself. */
export interface ChainModule {
  /** The module's member in the genesis document. */
  readonly name: string;
  /** Names of the stores that the module owns. */
  readonly stores: readonly string[];
  readonly messages: readonly MessageHandler[];
  readonly queries: readonly QueryHandler[];
  /** Runs before the begin hooks, with the block's transactions. */
  readonly preBlock?: (context: Context, txs: readonly Uint8Array[]) => void;
  readonly beginBlock?: (context: Context, block: BlockInput) => void;
  readonly endBlock?: (context: Context) => void;
  /** Reads the module's part of the genesis document (proto JSON, snake_case). Throws with the path of an invalid field. */
  readonly initGenesis: (context: Context, genesis: JsonValue | undefined) => void;
  /** Delivers the module's genesis transactions, after all modules' genesis. */
  readonly genesisTxs?: (context: Context, genesis: JsonValue | undefined, deliver: DeliverGenesisTx) => void;
  readonly exportGenesis: (context: Context) => JsonValue;
}
