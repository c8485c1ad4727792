import type { ProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { ParamsModuleOptions } from "../../runtime/params-module.ts";
import type { IbcKeeper as Keeper } from "../ibc/keeper.ts";
import type { ContractKeeper } from "../wasm/types.ts";

export interface InterchainqueriesOptions extends ParamsModuleOptions {
  /** Denom of the default deposit. */
  readonly denom: string;
}

/** Bank methods that the module calls. Both throw `ModuleError` if the balance is too small. */
interface BankKeeper {
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

/** Methods for clients and connections that the module calls. */
export type IbcKeeper = Pick<
  Keeper,
  "connectionIdError" | "connectionClientId" | "clientLatestHeight" | "consensusRoot" | "updateClient"
>;

export interface InterchainqueriesDeps {
  readonly bank: BankKeeper;
  readonly contracts: ContractKeeper;
  readonly ibc: IbcKeeper;
}

/** Options, other modules' keepers and the proof verifier, passed to every message handler. */
export interface Keepers extends InterchainqueriesOptions, InterchainqueriesDeps {
  readonly proofs: ProofVerifier;
}
