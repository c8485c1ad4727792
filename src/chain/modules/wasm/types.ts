import type { JsonObject, JsonValue } from "../../../base/json.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { HandlerResult, MessageHandler, QueryHandler } from "../../runtime/module.ts";
import type { ContractCode } from "./contract.ts";

/** What the contract host is told about its chain. */
export interface WasmOptions {
  readonly chainName: string;
  readonly bech32Prefix: string;
  /** The account that may call a contract's sudo entry by message, bech32. */
  readonly authority: string;
  /** The codes that a genesis may name. */
  readonly codes: readonly ContractCode[];
  /** gRPC query paths that contracts may ask, in canonical form. */
  readonly allowedQueries: readonly string[];
}

/** What the contract host needs of bank. Throws `ModuleError` when the coins are not there. */
interface BankKeeper {
  readonly sendCoins: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
}

/** What the contract host needs of auth. */
interface AccountKeeper {
  /** Makes an account for a new contract unless there is one. */
  readonly ensureAccount: (context: Context, address: string) => void;
}

/** A message of the chain's own bindings; undefined when it is none that this handler knows. */
interface CustomMessageHandler {
  readonly handle: (
    context: Context,
    contract: string,
    message: JsonValue,
  ) => CustomMessageResult | undefined;
}

/** Outcome of a custom message: JSON `data` for a contract of the old kind, and the encoded response. */
interface CustomMessageResult {
  readonly data: Uint8Array;
  readonly response: HandlerResult;
}

/** Answers a query of the chain's own bindings; undefined when it is none that it knows. */
type CustomQueryHandler = (context: Context, request: JsonObject) => JsonValue | undefined;

/** What the contract host calls. Routes are looked up late, as they belong to modules that are made after it. */
export interface WasmDeps {
  readonly bank: BankKeeper;
  readonly accounts: AccountKeeper;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
  readonly findQuery: (path: string) => QueryHandler | undefined;
  readonly customMessages?: CustomMessageHandler;
  readonly customQueries?: CustomQueryHandler;
}
