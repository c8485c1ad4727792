import { concat, utf8 } from "../../../platform/base/bytes.ts";
import { errorsOf } from "../../../localnet/chain/runtime/errors.ts";

/** Name of the module, its store and its account, and the codespace of its errors. */
export const MODULE_NAME = "tokenfactory";

/** First part of the module's denominations: `factory/<creator>/<subdenom>`. */
export const DENOM_PREFIX = "factory";

export const PARAMS_KEY = Uint8Array.of(2);
/** `0x03 | address`: a transfer channel's escrow account. The value is one zero byte. */
export const ESCROW_PREFIX = Uint8Array.of(3);
/** `creator|<creator>|<denom>`: the denomination. */
export const CREATORS_PREFIX = utf8("creator|");

/** Returns the key prefix of one creator's denominations. */
export function denomsOf(creator: string): Uint8Array {
  return concat(CREATORS_PREFIX, utf8(`${creator}|`));
}

/** `denoms|<denom>|authoritymetadata`: the admin. */
export function authorityKey(denom: string): Uint8Array {
  return utf8(`denoms|${denom}|authoritymetadata`);
}

/** `denoms|<denom>|beforesendhook`: the contract's address, as text. */
export function hookKey(denom: string): Uint8Array {
  return utf8(`denoms|${denom}|beforesendhook`);
}

export const MAX_SUBDENOM_BYTES = 44;
export const MAX_CREATOR_BYTES = 75;

// Errors of codespace "tokenfactory" by their Go names (x/tokenfactory v6.0.3 types/errors.go).
const register = errorsOf(MODULE_NAME);
export const ErrDenomExists = register(
  2,
  "attempting to create a denom that already exists (has bank metadata)",
);
export const ErrUnauthorized = register(3, "unauthorized account");
export const ErrInvalidDenom = register(4, "invalid denom");
export const ErrInvalidCreator = register(5, "invalid creator");
export const ErrSubdenomTooLong = register(8, `subdenom too long, max length is ${MAX_SUBDENOM_BYTES} bytes`);
export const ErrCreatorTooLong = register(9, `creator too long, max length is ${MAX_CREATOR_BYTES} bytes`);
export const ErrDenomDoesNotExist = register(10, "denom does not exist");
export const ErrTrackBeforeSendOutOfGas = register(12, "gas meter hit maximum limit");
export const ErrBeforeSendHookNotWhitelisted = register(14, "beforeSendHook is not whitelisted");
