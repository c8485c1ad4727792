import type { Coin } from "../../runtime/coins.ts";
import type { ModuleError } from "../../runtime/errors.ts";
import type { ChainEvent } from "../../runtime/context.ts";
import type { KVStore } from "../../store/cache-store.ts";
import type { Timeout } from "../ibc/host/packet.ts";

/** The JSON of a message from or to a contract. Integers beyond 2^53, such as timestamps in nanoseconds, are bigints. */
export type MessageJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly MessageJson[]
  | { readonly [key: string]: MessageJson };

/** Thrown by a contract to fail a call with the given text. Any other exception is a bug in the contract. */
export class ContractError extends Error {}

/** A contract's view of the chain during one call. */
export interface ContractScope {
  readonly chainId: string;
  readonly height: bigint;
  /** Block time, in nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** Returns the transaction's index in its block, counted as in wasmd, or undefined before the block's first transaction. */
  readonly transactionIndex: () => number | undefined;
  /** The contract's own bech32 address. */
  readonly address: string;
  /** The contract's own store, with unprefixed keys. During a query, the store is read-only. */
  readonly storage: KVStore;
  /** Runs a query in CosmWasm's JSON (`{"stargate":…}`, `{"wasm":{"smart":…}}`, …). Throws `ModuleError` or `ContractError`. */
  readonly query: (request: Readonly<Record<string, MessageJson>>) => MessageJson;
  /** Consumes the call's gas, like the instructions of a WebAssembly contract. Throws `ModuleError` if the gas runs out. */
  readonly useGas: (amount: bigint) => void;
}

/** The sender of a call, and the coins sent with the call. The contract has already received the coins. */
export interface Caller {
  readonly sender: string;
  readonly funds: readonly Coin[];
}

/** A message from a contract, which the chain always sends on behalf of the contract itself. */
export type ContractMessage =
  /**
   * A message that the chain handles by its type URL. If `isWasm` is true, the message is for a contract, and the reply contains
   * the message's events. `isTransfer` marks an IBC transfer, before which the transfer port is read, as on the deployed chain.
   * `text` is the message in Go's format, which is part of the error text if the chain lacks the message's module.
   */
  | {
      readonly kind: "any";
      readonly typeUrl: string;
      readonly value: Uint8Array;
      readonly isWasm?: true;
      readonly isTransfer?: true;
      readonly text?: string;
    }
  /** Sends a packet from the contract's own port. */
  | {
      readonly kind: "send_packet";
      readonly channelId: string;
      readonly data: Uint8Array;
      readonly timeout: Timeout;
    }
  /** A custom message, which the chain's own bindings handle. */
  | { readonly kind: "custom"; readonly message: MessageJson }
  /** Burns coins from the contract's own balance. */
  | { readonly kind: "burn"; readonly coins: readonly Coin[] }
  /** A message without an effect or a response. */
  | { readonly kind: "nothing" }
  /** A message that cannot be sent. The sub-message that contains the message fails with `error`. */
  | { readonly kind: "invalid"; readonly error: ModuleError };

/** The results of a message for which the contract receives a reply. If a message fails and no reply is sent, the whole call fails. */
export type ReplyOn = "always" | "error" | "success" | "never";

/** A message in a contract's response. Each message runs in a separate cache context. */
export interface SubMessage {
  /** Id chosen by the contract and included in the reply. */
  readonly id: bigint;
  readonly message: ContractMessage;
  /** Determines when the contract's `reply` entry point is called. If the contract did not set this field, the call fails. */
  readonly replyOn: ReplyOn | undefined;
  /** The message's gas limit. If undefined, the message can use the call's remaining gas. */
  readonly gasLimit: bigint | undefined;
  /** Data chosen by the contract and included in the reply. Default: empty. */
  readonly payload?: Uint8Array;
}

/** An event attribute. The host rejects keys that are blank or start with "_". */
export interface ContractAttribute {
  readonly key: string;
  readonly value: string;
}

/** A contract's response. The `attributes` are emitted as a `wasm` event, and the types of `events` get the prefix `wasm-`. */
export interface ContractResponse {
  readonly messages: readonly SubMessage[];
  readonly attributes: readonly ContractAttribute[];
  readonly events: readonly { readonly type: string; readonly attributes: readonly ContractAttribute[] }[];
  readonly data: Uint8Array | undefined;
}

/**
 * Result of a sub-message, as passed to `reply`. `error` is the error message if the error came from a contract. For any other error,
 * `error` contains only the codespace and code, because the message may not be deterministic.
 */
export type ReplyResult =
  | {
      readonly ok: true;
      /** Events of a message to a contract, with sorted attributes and without events of type `message`. Empty for any other message. */
      readonly events: readonly ChainEvent[];
      readonly data: Uint8Array | undefined;
      readonly responses: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
    }
  | { readonly ok: false; readonly error: string };

/** The reply that a contract receives for its sub-message with this `id`. */
export interface Reply {
  readonly id: bigint;
  readonly result: ReplyResult;
  /** The sub-message's payload, or empty if the sub-message has no payload. */
  readonly payload: Uint8Array;
}

/** The code of a TypeScript contract, which must be deterministic. A call to an entry point that is not defined fails. */
export interface ContractCode {
  /** Name of the code in genesis files. The code's hash is derived from this name. */
  readonly name: string;
  readonly instantiate: (scope: ContractScope, caller: Caller, message: MessageJson) => ContractResponse;
  readonly execute?: (scope: ContractScope, caller: Caller, message: MessageJson) => ContractResponse;
  readonly migrate?: (scope: ContractScope, message: MessageJson) => ContractResponse;
  readonly sudo?: (scope: ContractScope, message: MessageJson) => ContractResponse;
  readonly reply?: (scope: ContractScope, reply: Reply) => ContractResponse;
  readonly query?: (scope: ContractScope, message: MessageJson) => MessageJson;
}

/** A response without messages, attributes, events or data. */
export const NO_RESPONSE: ContractResponse = { messages: [], attributes: [], events: [], data: undefined };

/** Creates a sub-message without a reply, so that a failure of the sub-message fails the whole call. */
export function subMessage(message: ContractMessage): SubMessage {
  return { id: 0n, message, replyOn: "never", gasLimit: undefined };
}
