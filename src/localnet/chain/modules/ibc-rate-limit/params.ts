import { Params } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/params.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

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
export interface Keepers extends RateLimitOptions, RateLimitDeps {}

/** Name of the module and its store; error codespace and event attribute. */
export const MODULE_NAME = "rate-limited-ibc";

/** `contract_address`: the contract that limits transfers. By default it is empty, and nothing limits transfers. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x01),
  type: Params,
  defaults: { contractAddress: "" },
});

/**
 * Throws an unregistered error for an address that is not an account of the chain. It may be an account that is not a contract: a
 * call of another account fails, which refuses every transfer.
 */
export function requireAddress(bech32Prefix: string, text: string, words?: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (error) {
    const reason = errorText(error);
    throw unregisteredError(words === undefined ? reason : `${words}: ${reason}`);
  }
}
