import { formatAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { isDenom } from "../../../localnet/chain/runtime/coins.ts";
import { unregisteredError, orThrow } from "../../../localnet/chain/runtime/errors.ts";
import {
  ErrCreatorTooLong,
  ErrInvalidCreator,
  ErrInvalidDenom,
  ErrSubdenomTooLong,
  MAX_CREATOR_BYTES,
  MAX_SUBDENOM_BYTES,
} from "./errors.ts";

/** First part of the module's denominations: `factory/<creator>/<subdenom>`. */
export const DENOM_PREFIX = "factory";

/** Returns a denomination with a valid name (`GetTokenDenom`). Throws `ModuleError`. */
export function tokenDenom(creator: string, subdenom: string): string {
  if (Buffer.byteLength(subdenom) > MAX_SUBDENOM_BYTES) throw ErrSubdenomTooLong();
  if (Buffer.byteLength(creator) > MAX_CREATOR_BYTES) throw ErrCreatorTooLong();
  if (creator.includes("/")) throw ErrInvalidCreator();
  const denom = `${DENOM_PREFIX}/${creator}/${subdenom}`;
  requireDenom(denom);
  return denom;
}

/**
 * Returns the creator of one of this module's denominations (`DeconstructDenom`). Throws `ModuleError` for any other denomination.
 */
export function creatorOf(denom: string, bech32Prefix: string): string {
  requireDenom(denom);
  const parts = denom.split("/");
  const [prefix = "", creator = ""] = parts;
  if (parts.length < 3) throw ErrInvalidDenom(`not enough parts of denom ${denom}`);
  if (prefix !== DENOM_PREFIX)
    throw ErrInvalidDenom(`denom prefix is incorrect. Is: ${prefix}.  Should be: ${DENOM_PREFIX}`);
  return orThrow(
    () => formatAddress(bech32Prefix, parseAddress(bech32Prefix, creator)),
    (reason) => ErrInvalidDenom(`Invalid creator address (${reason})`),
  );
}

function requireDenom(denom: string): void {
  if (!isDenom(denom)) throw unregisteredError(`invalid denom: ${denom}`);
}
