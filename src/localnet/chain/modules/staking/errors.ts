import { errorsOf } from "../../runtime/errors.ts";

// Errors in the codespace "staking", under their Go names (cosmos-sdk v0.50 x/staking/types/errors.go).
const stakingError = errorsOf("staking");

export const ErrNoValidatorFound = stakingError(3, "validator does not exist");
export const ErrValidatorOwnerExists = stakingError(
  4,
  "validator already exist for this operator address; must use new validator operator address",
);
export const ErrValidatorPubKeyExists = stakingError(
  5,
  "validator already exist for this pubkey; must use new validator pubkey",
);
export const ErrValidatorPubKeyTypeNotSupported = stakingError(6, "validator pubkey type is not supported");
export const ErrValidatorJailed = stakingError(7, "validator for this address is currently jailed");
export const ErrCommissionNegative = stakingError(9, "commission must be positive");
export const ErrCommissionHuge = stakingError(10, "commission cannot be more than 100%");
export const ErrCommissionGTMaxRate = stakingError(11, "commission cannot be more than the max rate");
export const ErrCommissionUpdateTime = stakingError(12, "commission cannot be changed more than once in 24h");
export const ErrCommissionChangeRateNegative = stakingError(13, "commission change rate must be positive");
export const ErrCommissionChangeRateGTMaxRate = stakingError(
  14,
  "commission change rate cannot be more than the max rate",
);
export const ErrCommissionGTMaxChangeRate = stakingError(
  15,
  "commission cannot be changed more than max change rate",
);
export const ErrSelfDelegationBelowMinimum = stakingError(
  16,
  "validator's self delegation must be greater than their minimum self delegation",
);
export const ErrMinSelfDelegationDecreased = stakingError(17, "minimum self delegation cannot be decrease");
export const ErrNoDelegation = stakingError(19, "no delegation for (address, validator) tuple");
export const ErrNoDelegatorForAddress = stakingError(21, "delegator does not contain delegation");
export const ErrInsufficientShares = stakingError(22, "insufficient delegation shares");
export const ErrNotEnoughDelegationShares = stakingError(24, "not enough delegation shares");
export const ErrMaxUnbondingDelegationEntries = stakingError(
  27,
  "too many unbonding delegation entries for (delegator, validator) tuple",
);
export const ErrSelfRedelegation = stakingError(29, "cannot redelegate to the same validator");
export const ErrTinyRedelegationAmount = stakingError(
  30,
  "too few tokens to redelegate (truncates to zero tokens)",
);
export const ErrBadRedelegationDst = stakingError(31, "redelegation destination validator not found");
export const ErrTransitiveRedelegation = stakingError(
  32,
  "redelegation to this validator already in progress; first redelegation to this validator must complete before next redelegation",
);
export const ErrMaxRedelegationEntries = stakingError(
  33,
  "too many redelegation entries for (delegator, src-validator, dst-validator) tuple",
);
export const ErrDelegatorShareExRateInvalid = stakingError(
  34,
  "cannot delegate to validators with invalid (zero) ex-rate",
);
export const ErrEmptyValidatorPubKey = stakingError(39, "empty validator public key");
export const ErrCommissionLTMinRate = stakingError(40, "commission cannot be less than min rate");
