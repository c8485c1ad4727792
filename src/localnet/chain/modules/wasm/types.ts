import type { Coin } from "../../runtime/coins.ts";
import type { Context, HandlerResult, MessageHandler, QueryHandler } from "../../runtime/context.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { ContractCode, MessageJson } from "./contract.ts";
import type { ContractChannels } from "./ibc-channels.ts";
import type { StakingReads } from "./staking-querier.ts";

export interface WasmOptions {
  readonly chainName: string;
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may call a contract's sudo entry point with a message. */
  readonly authority: string;
  /** TypeScript codes that a genesis document can refer to by name. */
  readonly codes: readonly ContractCode[];
  /** gRPC query paths that contracts may call, with the canonical package prefix `neutron`. */
  readonly allowedQueries: readonly string[];
  /** More query paths, which binary contracts may not call under the `deployed` profile. */
  readonly moreQueries?: readonly string[];
}

interface BankKeeper {
  /** Throws bank/5 if messages may not send one of these denominations. */
  readonly requireSendEnabled: (context: Context, coins: readonly Coin[]) => void;
  /** Throws `ModuleError` if the balance is too small. */
  readonly sendCoins: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  readonly supply: (context: Context, denom: string) => bigint;
  readonly balance: (context: Context, address: Uint8Array, denom: string) => Coin;
  /** Returns an address's coins, sorted by the bytes of their denominations. */
  readonly balances: (context: Context, address: Uint8Array) => Iterable<Coin>;
  readonly burnCoins: (context: Context, from: string, coins: readonly Coin[]) => void;
}

interface AccountKeeper {
  /** Creates an account for a new contract if the address has none. */
  readonly ensureAccount: (context: Context, address: string) => void;
}

/** Methods of the contract host that other modules call. */
export interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

/** Runs a custom message defined by the chain's bindings. Returns undefined for unknown messages. */
export type CustomMessageHandler = (
  context: Context,
  contract: string,
  message: unknown,
) => CustomMessageResult | undefined;

/** Result of a custom message: optional JSON for the `data` in the contract's reply, and an optional encoded response. */
export interface CustomMessageResult {
  readonly data?: Uint8Array;
  readonly response?: HandlerResult;
}

/** Runs a custom query defined by the chain's bindings. Returns undefined for unknown queries. */
export type CustomQueryHandler = (
  context: Context,
  request: Readonly<Record<string, unknown>>,
) => MessageJson | undefined;

/** The module's dependencies. Message and query handlers are looked up on each use, because some modules are created later. */
export interface WasmDeps {
  /** Reads the transfer port in order to consume the same gas as on the deployed chain. Not set on a chain without a transfer module. */
  readonly readTransferPort?: (context: Context) => void;
  /** The virtual machine that runs binary contracts. */
  readonly vm: Vm;
  /** Traces contract calls. Default: no tracing. */
  readonly tracer?: GasTracer;
  readonly bank: BankKeeper;
  readonly accounts: AccountKeeper;
  /** Methods of the `ibc` module for contracts' channels and packets. */
  readonly channels: ContractChannels;
  /** Reads staking data. If not set, contracts cannot query validators and delegations. */
  readonly staking?: StakingReads;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
  readonly findQuery: (path: string) => QueryHandler | undefined;
  readonly customMessages?: CustomMessageHandler;
  readonly customQueries?: CustomQueryHandler;
}

export interface Instantiation {
  readonly creator: string;
  /** The account that may migrate the contract, or empty if no account may migrate the contract. */
  readonly admin: string;
  readonly codeId: bigint;
  readonly label: string;
  /** The instantiation message, as JSON text in UTF-8. */
  readonly message: Uint8Array;
  readonly funds: readonly Coin[];
  /** True if the authority, which may instantiate any code, creates the contract. */
  readonly isAuthority?: boolean;
  /**
   * Salt from which the contract's predictable address is derived. If `isMessageFixed` is true, the address also depends on the
   * message.
   */
  readonly salt?: { readonly bytes: Uint8Array; readonly isMessageFixed: boolean };
}

export interface Migration {
  readonly address: string;
  readonly sender: string;
  readonly codeId: bigint;
  /** The migration message, as JSON text in UTF-8. */
  readonly message: Uint8Array;
  readonly isAuthority?: boolean;
}
