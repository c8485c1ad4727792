import type { JsonValue } from "../../../platform/base/json.ts";
import type { FinalizeBlockRequest, TxResult } from "./abci.ts";
import type { Context } from "./context.ts";

export interface HandlerResult {
  readonly typeUrl: string;
  readonly response: Uint8Array;
}

export interface MessageHandler {
  readonly typeUrl: string;
  /** Returns the bech32 addresses that must sign an encoded message, in order. Throws `ModuleError` if it cannot be decoded. */
  readonly signers: (message: Uint8Array) => readonly string[];
  /**
   * Checks an encoded message without reading the state (the SDK's `ValidateBasic`). For a transaction, this runs before the fee
   * is taken. `handle` repeats the check. Throws `ModuleError`.
   */
  readonly validate?: (message: Uint8Array) => void;
  /**
   * Runs an encoded message. The caller has verified the signers: the ante handler for a transaction, or the contract host for a
   * contract's message. Throws `ModuleError` to fail the message.
   */
  readonly handle: (context: Context, message: Uint8Array) => HandlerResult;
}

/** Returns the handler for a message of any module. */
export type FindMessage = (typeUrl: string) => MessageHandler | undefined;

/** Handles one gRPC query, whose request and response are encoded messages. */
export interface QueryHandler {
  /** For example "/cosmos.bank.v1beta1.Query/Balance". */
  readonly path: string;
  /** Throws `QueryError` or `ModuleError` to fail the query. */
  readonly query: (context: Context, request: Uint8Array) => Uint8Array;
}

/** Block data that the node passes to begin hooks. */
export interface BlockInput
  extends Pick<FinalizeBlockRequest, "lastCommit" | "misbehavior" | "nextValidatorsHash"> {
  /** The proposer's address. Default: empty. */
  readonly proposerAddress?: Uint8Array;
  /** State root before this block, as contained in this block's header. Default: empty. */
  readonly appHash?: Uint8Array;
}

/** Runs an encoded transaction from a genesis document, without a fee or gas limit. Its writes are kept if its code is 0. */
export type DeliverGenesisTx = (tx: Uint8Array) => TxResult;

/** Names that a chain's modules receive. */
export interface ChainNames {
  /** The chain's own name: the first part of the type URLs, query paths and REST paths of its own modules. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. Operator and consensus addresses append `valoper` and `valcons`. */
  readonly bech32Prefix: string;
  /** Denomination of fees and default parameters. */
  readonly denom: string;
  /** Bech32 address of the account that may change parameters and that signs a proposal's messages. */
  readonly authority: string;
}

/** One of the chain's modules. A module calls another module only through an interface that it declares itself. */
export interface ChainModule {
  /** Name of the module's member in the genesis document. */
  readonly name: string;
  /** Names of the stores that the module owns. */
  readonly stores: readonly string[];
  readonly messages: readonly MessageHandler[];
  readonly queries: readonly QueryHandler[];
  /** Runs before the begin hooks, with the block's transactions. */
  readonly preBlock?: (context: Context, txs: readonly Uint8Array[]) => void;
  readonly beginBlock?: (context: Context, block: BlockInput) => void;
  readonly endBlock?: (context: Context) => void;
  /** Reads the module's part of the genesis document (proto JSON, snake_case). Errors contain the path of the invalid field. */
  readonly initGenesis: (context: Context, genesis: JsonValue | undefined) => void;
  /** Delivers the module's genesis transactions after the genesis of all modules. */
  readonly genesisTxs?: (context: Context, genesis: JsonValue | undefined, deliver: DeliverGenesisTx) => void;
  readonly exportGenesis: (context: Context) => JsonValue;
}
