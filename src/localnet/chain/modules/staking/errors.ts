import { registerError } from "../../runtime/errors.ts";

// Errors of codespace "staking" by their Go names (cosmos-sdk v0.50 x/staking/types/errors.go).
const register = (code: number, text: string) => registerError("staking", code, text);

export const ErrNoValidatorFound = register(3, "validator does not exist");
export const ErrValidatorOwnerExists = register(
  4,
  "validator already exist for this operator address; must use new validator operator address",
);
export const ErrValidatorPubKeyExists = register(
  5,
  "validator already exist for this pubkey; must use new validator pubkey",
);
export const ErrValidatorPubKeyTypeNotSupported = register(6, "validator pubkey type is not supported");
export const ErrValidatorJailed = register(7, "validator for this address is currently jailed");
export const ErrCommissionNegative = register(9, "commission must be positive");
export const ErrCommissionHuge = register(10, "commission cannot be more than 100%");
export const ErrCommissionGTMaxRate = register(11, "commission cannot be more than the max rate");
export const ErrCommissionUpdateTime = register(12, "commission cannot be changed more than once in 24h");
export const ErrCommissionChangeRateNegative = register(13, "commission change rate must be positive");
export const ErrCommissionChangeRateGTMaxRate = register(
  14,
  "commission change rate cannot be more than the max rate",
);
export const ErrCommissionGTMaxChangeRate = register(
  15,
  "commission cannot be changed more than max change rate",
);
export const ErrSelfDelegationBelowMinimum = register(
  16,
  "validator's self delegation must be greater than their minimum self delegation",
);
export const ErrMinSelfDelegationDecreased = register(17, "minimum self delegation cannot be decrease");
export const ErrNoDelegation = register(19, "no delegation for (address, validator) tuple");
export const ErrNoDelegatorForAddress = register(21, "delegator does not contain delegation");
export const ErrInsufficientShares = register(22, "insufficient delegation shares");
export const ErrNotEnoughDelegationShares = register(24, "not enough delegation shares");
export const ErrMaxUnbondingDelegationEntries = register(
  27,
  "too many unbonding delegation entries for (delegator, validator) tuple",
);
export const ErrSelfRedelegation = register(29, "cannot redelegate to the same validator");
export const ErrTinyRedelegationAmount = register(
  30,
  "too few tokens to redelegate (truncates to zero tokens)",
);
export const ErrBadRedelegationDst = register(31, "redelegation destination validator not found");
export const ErrTransitiveRedelegation = register(
  32,
  "redelegation to this validator already in progress; first redelegation to this validator must complete before next redelegation",
);
export const ErrMaxRedelegationEntries = register(
  33,
  "too many redelegation entries for (delegator, src-validator, dst-validator) tuple",
);
export const ErrDelegatorShareExRateInvalid = register(
  34,
  "cannot delegate to validators with invalid (zero) ex-rate",
);
export const ErrEmptyValidatorPubKey = register(39, "empty validator public key");
export const ErrCommissionLTMinRate = register(40, "commission cannot be less than min rate");
