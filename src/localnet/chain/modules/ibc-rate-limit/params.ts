import { errorText } from "../../../../platform/base/errors.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/params.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { createItem, messageCodec } from "../../store/collections.ts";
import { MODULE_NAME, PARAMS_KEY } from "./keys.ts";

export const storedParams = createItem(MODULE_NAME, PARAMS_KEY, messageCodec<Params>(Params));

/** Returns the params. Without any, no contract limits transfers. */
export function paramsOf(context: Context): Params {
  return storedParams.get(context) ?? { contractAddress: "" };
}

/**
 * Throws an unregistered error for an address that is no account of the chain. Whether it is a contract is not checked: a call
 * of another account fails, which refuses every transfer.
 */
export function requireAddress(bech32Prefix: string, text: string, words?: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (error) {
    const reason = errorText(error);
    throw unregisteredError(words === undefined ? reason : `${words}: ${reason}`);
  }
}
