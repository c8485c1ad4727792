import type { JsonObject, JsonValue } from "../../../base/json.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { KVStore } from "../../store/kv-store.ts";

/** Thrown by a contract to refuse a call: the call fails with this text. Any other exception is a bug of the contract's. */
export class ContractError extends Error {}

/** What a contract sees of the chain in one call. */
export interface ContractScope {
  readonly chainId: string;
  readonly height: bigint;
  /** Block time, nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** The contract's own address, bech32. */
  readonly address: string;
  /** The contract's own keys only. */
  readonly storage: KVStore;
  /** Asks the chain, in CosmWasm's JSON (`{"stargate":…}`, `{"wasm":{"smart":…}}`, …). Throws `ModuleError`. */
  readonly query: (request: JsonObject) => JsonValue;
}

/** Who calls, and the coins that came with the call. */
export interface Caller {
  readonly sender: string;
  readonly funds: readonly Coin[];
}

/** An action that a contract asks for; its sender is always the contract. */
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
  /** A message of the chain's own bindings, as JSON. */
  | { readonly kind: "custom"; readonly message: JsonValue };

/** When the contract wants to hear about a message's outcome; an outcome that it does not hear about must be good. */
export type ReplyOn = "always" | "error" | "success" | "never";

/** One message with its own cache layer. */
export interface SubMessage {
  readonly id: bigint;
  readonly message: ContractMessage;
  readonly replyOn: ReplyOn;
  readonly gasLimit: bigint | undefined;
}

/** Key and value of an event, both not blank. */
export interface ContractAttribute {
  readonly key: string;
  readonly value: string;
}

/** What a contract answers. `attributes` become the event `wasm`, `events` get the prefix `wasm-`. */
export interface ContractResponse {
  readonly messages: readonly SubMessage[];
  readonly attributes: readonly ContractAttribute[];
  readonly events: readonly { readonly type: string; readonly attributes: readonly ContractAttribute[] }[];
  readonly data: Uint8Array | undefined;
}

/** Outcome of a sub-message. Errors are reduced to codespace and code, so that nothing unpredictable reaches a contract. */
export type ReplyResult =
  | {
      readonly ok: true;
      readonly data: Uint8Array | undefined;
      readonly responses: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
    }
  | { readonly ok: false; readonly error: string };

/** What the host tells a contract about its sub-message `id`. */
export interface Reply {
  readonly id: bigint;
  readonly result: ReplyResult;
}

/** A contract's code. An absent entry point refuses its calls. All of it must be deterministic. */
export interface ContractCode {
  /** By this name a genesis file refers to it; the code's hash is made of it. */
  readonly name: string;
  readonly instantiate: (scope: ContractScope, caller: Caller, message: JsonValue) => ContractResponse;
  readonly execute?: (scope: ContractScope, caller: Caller, message: JsonValue) => ContractResponse;
  readonly sudo?: (scope: ContractScope, message: JsonValue) => ContractResponse;
  readonly reply?: (scope: ContractScope, reply: Reply) => ContractResponse;
  readonly query?: (scope: ContractScope, message: JsonValue) => JsonValue;
}

/** An answer without messages, attributes, events or data. */
export const NO_RESPONSE: ContractResponse = { messages: [], attributes: [], events: [], data: undefined };

/** A message whose failure fails the call and whose success nobody hears about. */
export function subMessage(message: ContractMessage): SubMessage {
  return { id: 0n, message, replyOn: "never", gasLimit: undefined };
}
