import type { Any } from "../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";

/** What the module is told about its chain. */
export interface InterchainqueriesOptions {
  /** The chain's own name: event type, and package prefix of type URLs and query paths. */
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Denom of the default deposit. */
  readonly denom: string;
  /** The account that may change parameters, bech32. */
  readonly authority: string;
}

/** What the module needs of bank. Both throw `ModuleError` when the coins are not there. */
export interface BankKeeper {
  readonly sendFromAccountToModule: (
    context: Context,
    sender: string,
    moduleName: string,
    coins: readonly Coin[],
  ) => void;
  readonly sendFromModuleToAccount: (
    context: Context,
    moduleName: string,
    recipient: string,
    coins: readonly Coin[],
  ) => void;
}

/** What the module needs of the contract host. */
export interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry with a JSON text; throws `ModuleError` when the contract refuses. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

/** What the module needs of the IBC client and connection keepers. */
export interface IbcKeeper {
  /** The client behind a connection, whatever the connection's state; undefined when there is no such connection. */
  readonly connectionClientId: (context: Context, connectionId: string) => string | undefined;
  /** The client's latest height; undefined when there is no such client. Throws when it is not a Tendermint client. */
  readonly clientLatestHeight: (context: Context, clientId: string) => Height | undefined;
  /** The app hash that the client holds for a remote height; undefined when it holds none. */
  readonly consensusRoot: (context: Context, clientId: string, height: Height) => Uint8Array | undefined;
  /** Verifies a header (packed as Any) and stores its consensus state. Throws `ModuleError`. */
  readonly updateClient: (context: Context, clientId: string, header: Any) => void;
}

/** The keepers of other modules that this one calls. */
export interface InterchainqueriesDeps {
  readonly bank: BankKeeper;
  readonly contracts: ContractKeeper;
  readonly ibc: IbcKeeper;
}
