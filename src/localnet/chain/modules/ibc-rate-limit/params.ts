import { Params } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/params.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

export interface RateLimitOptions {
  /** The chain's own name, used as the package prefix in type URLs and query paths. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

/** Contract host methods that the module calls. */
interface ContractKeeper {
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

export interface RateLimitDeps {
  readonly contracts: ContractKeeper;
}

/** Options, and keepers of other modules. */
export interface Keepers extends RateLimitOptions, RateLimitDeps {}

/** Name of the module and its store, the error codespace and the event attribute. */
export const MODULE_NAME = "rate-limited-ibc";

/** `contract_address`: the contract that limits transfers. Empty by default, which leaves transfers unlimited. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x01),
  type: Params,
  defaults: { contractAddress: "" },
});

/**
 * Throws an unregistered error if the address is not an account address on this chain. The account need not be a contract; if it
 * is not, every call fails, so every transfer is refused.
 */
export function requireAddress(bech32Prefix: string, text: string, words?: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (error) {
    const reason = errorText(error);
    throw unregisteredError(words === undefined ? reason : `${words}: ${reason}`);
  }
}
