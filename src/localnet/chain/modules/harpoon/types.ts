import type { Context } from "../../runtime/context.ts";

export interface HarpoonOptions {
  /** The chain's own name: package prefix of type URLs and query paths. */
  readonly chainName: string;
  /** Prefix of account addresses. Operator and consensus addresses add `valoper` and `valcons`. */
  readonly bech32Prefix: string;
  /** The account that may change subscriptions, bech32. */
  readonly authority: string;
}

/** Methods of the contract host that the module calls. */
export interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls the sudo entry point of a contract with a JSON text. Throws `ModuleError` when the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

export interface HarpoonDeps {
  readonly contracts: ContractKeeper;
}

/** Options and keepers of other modules. */
export interface Environment extends HarpoonOptions, HarpoonDeps {}
