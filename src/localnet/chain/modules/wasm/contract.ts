import type { Coin } from "../../runtime/coins.ts";
import type { KVStore } from "../../store/kv-store.ts";

/** A message of or to a contract. An integer beyond 2^53, such as a timestamp in nanoseconds, is a bigint. */
export type MessageJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly MessageJson[]
  | { readonly [key: string]: MessageJson };

/**
 * Thrown by a contract to reject a call. The call fails with this text. Any other exception is a bug in the contract.
 */
export class ContractError extends Error {}

/** A contract's view of the chain during one call. */
export interface ContractScope {
  readonly chainId: string;
  readonly height: bigint;
  /** Block time, nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** Index of the transaction in its block, counted as wasmd does; undefined when the block had none yet. */
  readonly transactionIndex: () => number | undefined;
  /** The contract's own address, bech32. */
  readonly address: string;
  /** The contract's own entries. Keys have no prefix. Read-only during a query. */
  readonly storage: KVStore;
  /**
   * Queries the chain in CosmWasm's JSON (`{"stargate":…}`, `{"wasm":{"smart":…}}`, …). Throws `ModuleError` or
   * `ContractError`.
   */
  readonly query: (request: Readonly<Record<string, MessageJson>>) => MessageJson;
  /** Consumes gas of the call, as the instructions of a WebAssembly contract do. Throws `ModuleError` when it runs out. */
  readonly useGas: (amount: bigint) => void;
}

/** The sender of a call, and the coins that it sent along. The contract already owns the coins. */
export interface Caller {
  readonly sender: string;
  readonly funds: readonly Coin[];
}

/** A message that a contract sends. The sender is always the contract itself. */
export type ContractMessage =
  | { readonly kind: "any"; readonly typeUrl: string; readonly value: Uint8Array }
  | { readonly kind: "send"; readonly to: string; readonly coins: readonly Coin[] }
  | {
      readonly kind: "execute";
      readonly contract: string;
      readonly message: Uint8Array;
      readonly funds: readonly Coin[];
    }
  | {
      readonly kind: "instantiate";
      readonly codeId: bigint;
      readonly label: string;
      readonly admin: string;
      readonly message: Uint8Array;
      readonly funds: readonly Coin[];
    }
  /** A message of the chain's own bindings. */
  | { readonly kind: "custom"; readonly message: MessageJson };

/** The outcomes of a message that cause a reply. A failure without a reply fails the call. */
export type ReplyOn = "always" | "error" | "success" | "never";

/** A message of a response. It runs on a cache layer of its own. */
export interface SubMessage {
  /** Chosen by the contract. The reply contains it. */
  readonly id: bigint;
  readonly message: ContractMessage;
  readonly replyOn: ReplyOn;
  /** Undefined: the gas of the call. */
  readonly gasLimit: bigint | undefined;
}

/** An attribute of an event. The host rejects a blank key and a key that begins with "_". */
export interface ContractAttribute {
  readonly key: string;
  readonly value: string;
}

/** A contract's response. `attributes` become the event `wasm`; types of `events` get the prefix `wasm-`. */
export interface ContractResponse {
  readonly messages: readonly SubMessage[];
  readonly attributes: readonly ContractAttribute[];
  readonly events: readonly { readonly type: string; readonly attributes: readonly ContractAttribute[] }[];
  readonly data: Uint8Array | undefined;
}

/** Outcome of a sub-message. `error` has only codespace and code: the error's text need not be deterministic. */
export type ReplyResult =
  | {
      readonly ok: true;
      readonly data: Uint8Array | undefined;
      readonly responses: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
    }
  | { readonly ok: false; readonly error: string };

/** Reply to a contract about its sub-message `id`. */
export interface Reply {
  readonly id: bigint;
  readonly result: ReplyResult;
}

/** A contract's code. It must be deterministic. A call of an absent entry point fails. */
export interface ContractCode {
  /** Name in genesis files. The code's hash is the hash of the name. */
  readonly name: string;
  readonly instantiate: (scope: ContractScope, caller: Caller, message: MessageJson) => ContractResponse;
  readonly execute?: (scope: ContractScope, caller: Caller, message: MessageJson) => ContractResponse;
  readonly sudo?: (scope: ContractScope, message: MessageJson) => ContractResponse;
  readonly reply?: (scope: ContractScope, reply: Reply) => ContractResponse;
  readonly query?: (scope: ContractScope, message: MessageJson) => MessageJson;
}

/** A response without messages, attributes, events and data. */
export const NO_RESPONSE: ContractResponse = { messages: [], attributes: [], events: [], data: undefined };

/** Creates a sub-message without replies: its failure fails the call. */
export function subMessage(message: ContractMessage): SubMessage {
  return { id: 0n, message, replyOn: "never", gasLimit: undefined };
}
