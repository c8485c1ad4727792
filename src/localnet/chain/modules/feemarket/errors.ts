import { registerError } from "../../runtime/errors.ts";

// Errors of codespace "feemarket" by their Go names (x/feemarket v1.1.1 types/errors.go).
export const ErrNoFeeCoins = registerError("feemarket", 1, "no fee coin provided. Must provide one.");
export const ErrTooManyFeeCoins = registerError(
  "feemarket",
  2,
  "too many fee coins provided.  Only one fee coin may be provided",
);
/** The fee's denomination has no price. The deployed chain looks prices up in its module `dynamicfees`. */
export const ErrUnknownDenom = registerError("dynamicfees", 1100, "unknown denom");
