import type { JsonValue } from "../../base/json.ts";
import type { Context } from "./context.ts";

/** A message handler's answer: the encoded response message (without type URL). */
export interface HandlerResult {
  readonly typeUrl: string;
  readonly response: Uint8Array;
}

/** Handles one decoded message type inside a transaction. Throws `ModuleError` to fail the transaction. */
export interface MessageHandler {
  readonly typeUrl: string;
  /** Bech32 addresses that must sign, in order, of an encoded message. Throws `ModuleError` when it does not decode. */
  readonly signers: (message: Uint8Array) => readonly string[];
  /**
   * Runs an encoded message. With `signer` given, the message comes from a contract or another module instead of a
   * transaction, and the caller has already compared the signers.
   */
  readonly handle: (context: Context, message: Uint8Array) => HandlerResult;
}

/** Answers one gRPC query path such as "/cosmos.bank.v1beta1.Query/Balance", encoded request to encoded response. */
export interface QueryHandler {
  readonly path: string;
  readonly query: (context: Context, request: Uint8Array) => Uint8Array;
}

/** What a chain module brings to the application. Modules meet only through the interfaces that each declares. */
export interface ChainModule {
  readonly name: string;
  /** Names of the stores that it owns. */
  readonly stores: readonly string[];
  readonly messages: readonly MessageHandler[];
  readonly queries: readonly QueryHandler[];
  readonly beginBlock?: (context: Context) => void;
  readonly endBlock?: (context: Context) => void;
  /** Reads its part of the genesis document (proto JSON, snake_case). Throws with the path of what is wrong. */
  readonly initGenesis: (context: Context, genesis: JsonValue | undefined) => void;
  readonly exportGenesis: (context: Context) => JsonValue;
}

/** A gRPC-level failure of a query: becomes the REST status and body, or the ABCI code and log. */
export class QueryError extends Error {
  /** gRPC code: 2 unknown, 3 invalid argument, 5 not found, 12 unimplemented, 13 internal. */
  readonly grpcCode: number;

  constructor(grpcCode: number, text: string) {
    super(text);
    this.name = "QueryError";
    this.grpcCode = grpcCode;
  }
}
