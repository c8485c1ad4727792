import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import type { HandlerResult, MessageHandler, QueryHandler } from "../../runtime/module.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { ContractCode, MessageJson } from "./contract.ts";
import type { ContractChannels } from "./ibc-channels.ts";
import type { StakingReads } from "./staking-querier.ts";

export interface WasmOptions {
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may call a contract's sudo entry point by message. */
  readonly authority: string;
  /** Codes that a genesis may name. */
  readonly codes: readonly ContractCode[];
  /** gRPC query paths that contracts may call, with the canonical package prefix `neutron`. */
  readonly allowedQueries: readonly string[];
  /** More query paths, which binary contracts may not call on a chain with the profile `deployed`. */
  readonly moreQueries?: readonly string[];
}

interface BankKeeper {
  /** Throws bank/5 if messages may not send one of the denominations. */
  readonly requireSendEnabled: (context: Context, coins: readonly Coin[]) => void;
  /** Throws `ModuleError` if the balance is too low. */
  readonly sendCoins: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  readonly supply: (context: Context, denom: string) => bigint;
  readonly balance: (context: Context, address: Uint8Array, denom: string) => Coin;
  /** An address' coins, in the byte order of their denominations. */
  readonly balances: (context: Context, address: Uint8Array) => Iterable<Coin>;
  /** Burns an account's coins. */
  readonly burnCoins: (context: Context, from: string, coins: readonly Coin[]) => void;
}

interface AccountKeeper {
  /** Creates a new contract's account if it does not exist. */
  readonly ensureAccount: (context: Context, address: string) => void;
}

/** Runs a custom message of the chain's bindings. Returns undefined for unknown messages. */
export type CustomMessageHandler = (
  context: Context,
  contract: string,
  message: unknown,
) => CustomMessageResult | undefined;

/** Result of a custom message: JSON for the `data` of the contract's reply, and the encoded response. Some messages have neither. */
export interface CustomMessageResult {
  readonly data?: Uint8Array;
  readonly response?: HandlerResult;
}

/** Answers a custom query of the chain's bindings. Returns undefined for unknown queries. */
export type CustomQueryHandler = (
  context: Context,
  request: Readonly<Record<string, unknown>>,
) => MessageJson | undefined;

/** Routes are looked up on each use, since they include modules that are created after this one. */
export interface WasmDeps {
  /** Reads the transfer port and charges for it. Absent on a chain without transfers. */
  readonly readTransferPort?: (context: Context) => void;
  /** Runs binary contracts. */
  readonly vm: Vm;
  /** Default: calls are not recorded. */
  readonly tracer?: GasTracer;
  readonly bank: BankKeeper;
  readonly accounts: AccountKeeper;
  /** The module `ibc`. */
  readonly channels: ContractChannels;
  /** If absent, contracts cannot ask for validators and delegations. */
  readonly staking?: StakingReads;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
  readonly findQuery: (path: string) => QueryHandler | undefined;
  readonly customMessages?: CustomMessageHandler;
  readonly customQueries?: CustomQueryHandler;
}

/** A contract to create. */
export interface Instantiation {
  readonly creator: string;
  /** Empty: no admin. */
  readonly admin: string;
  readonly codeId: bigint;
  readonly label: string;
  /** JSON. */
  readonly message: Uint8Array;
  readonly funds: readonly Coin[];
  /** The authority may instantiate any code. */
  readonly isAuthority?: boolean;
  /** Makes the address predictable. `isMessageFixed`: the message is part of the address. */
  readonly salt?: { readonly bytes: Uint8Array; readonly isMessageFixed: boolean };
}

/** A contract to migrate. */
export interface Migration {
  readonly address: string;
  readonly sender: string;
  readonly codeId: bigint;
  /** JSON. */
  readonly message: Uint8Array;
  readonly isAuthority?: boolean;
}
