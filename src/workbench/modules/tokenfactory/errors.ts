import { errorsOf } from "../../../localnet/chain/runtime/errors.ts";

/** Name of the module, its store and its account, and the codespace of its errors. */
export const MODULE_NAME = "tokenfactory";

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
