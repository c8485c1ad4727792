import type { Context } from "../../runtime/context.ts";

export interface RateLimitOptions {
  /** The chain's own name: package prefix of type URLs and query paths. */
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** The account that may change the params, bech32. */
  readonly authority: string;
}

/** Methods of the contract host that the module calls. */
interface ContractKeeper {
  /** Calls the sudo entry point of a contract with a JSON text. Throws `ModuleError` when the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

export interface RateLimitDeps {
  readonly contracts: ContractKeeper;
}

/** Options and keepers of other modules. */
export interface Environment extends RateLimitOptions, RateLimitDeps {}
