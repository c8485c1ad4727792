import { registerError } from "../../runtime/module-error.ts";

export const ErrNoFeeCoins = registerError("feemarket", 1, "no fee coin provided. Must provide one.");
export const ErrTooManyFeeCoins = registerError(
  "feemarket",
  2,
  "too many fee coins provided.  Only one fee coin may be provided",
);
/** A fee in a denomination that has no price; the deployed chain asks its module `dynamicfees` for prices. */
export const ErrUnknownDenom = registerError("dynamicfees", 1100, "unknown denom");
