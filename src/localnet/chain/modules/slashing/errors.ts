import { registerError } from "../../runtime/errors.ts";

// Errors of codespace "slashing" by their Go names (cosmos-sdk v0.50 x/slashing/types/errors.go).
export const ErrValidatorJailed = registerError("slashing", 4, "validator still jailed; cannot be unjailed");
export const ErrValidatorNotJailed = registerError("slashing", 5, "validator not jailed; cannot be unjailed");
export const ErrMissingSelfDelegation = registerError(
  "slashing",
  6,
  "validator has no self-delegation; cannot be unjailed",
);
export const ErrSelfDelegationTooLowToUnjail = registerError(
  "slashing",
  7,
  "validator's self delegation less than minimum; cannot be unjailed",
);
