import type { ProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { ModuleError } from "../../runtime/errors.ts";

export interface InterchainqueriesOptions {
  /** The chain's own name, used as the event type and as the package prefix in type URLs and query paths. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Denom of the default deposit. */
  readonly denom: string;
  /** Bech32 address of the account that may change parameters. */
  readonly authority: string;
}

/** Bank methods that the module calls. Both throw `ModuleError` if the balance is too small. */
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

/** Contract host methods that the module calls. */
export interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

/** IBC client and connection keeper methods that the module calls. */
export interface IbcKeeper {
  /** Returns the error if a connection id violates ICS-24; otherwise, returns undefined. Reads no state. */
  readonly connectionIdError: (connectionId: string) => ModuleError | undefined;
  /** Returns the client id of a connection in any state, or undefined if the connection does not exist. */
  readonly connectionClientId: (context: Context, connectionId: string) => string | undefined;
  /**
   * Returns a client's latest height, or undefined if the client does not exist. Throws for client types other than Tendermint.
   */
  readonly clientLatestHeight: (context: Context, clientId: string) => Height | undefined;
  /** Returns the app hash that the client stores for a remote height, or undefined if there is none. */
  readonly consensusRoot: (context: Context, clientId: string, height: Height) => Uint8Array | undefined;
  /** Verifies a header (packed as an Any) and stores its consensus state. Throws `ModuleError`. */
  readonly updateClient: (context: Context, clientId: string, header: Any) => void;
}

export interface InterchainqueriesDeps {
  readonly bank: BankKeeper;
  readonly contracts: ContractKeeper;
  readonly ibc: IbcKeeper;
}

/** Options, other modules' keepers and the proof verifier, passed to every message handler. */
export interface Keepers extends InterchainqueriesOptions, InterchainqueriesDeps {
  readonly proofs: ProofVerifier;
}
