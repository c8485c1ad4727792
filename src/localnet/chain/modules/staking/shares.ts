import {
  type Dec18,
  DEC18_ONE,
  mulDec18,
  quoDec18,
  truncateDec18,
} from "../../../../platform/base/decimal.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { ErrInsufficientShares } from "./errors.ts";
import type { Validator } from "./records.ts";

// The arithmetic of x/staking/types/validator.go. Every rounding is the SDK's.

/** Tokens of one unit of consensus power. */
export const POWER_REDUCTION = 1_000_000n;

/** The power that a validator would have if it were bonded. */
export function potentialPower({ tokens }: Validator): bigint {
  return tokens / POWER_REDUCTION;
}

export function isBonded({ status }: Validator): boolean {
  return status === BondStatus.BOND_STATUS_BONDED;
}

/** Whether all tokens of the validator are slashed while shares remain: nobody can delegate to it. */
export function hasInvalidRate({ tokens, delegatorShares }: Validator): boolean {
  return tokens === 0n && delegatorShares > 0n;
}

/** Tokens of shares, as a decimal; rounds half to even. */
export function tokensFromShares({ tokens, delegatorShares }: Validator, shares: Dec18): Dec18 {
  return quoDec18(shares * tokens, delegatorShares);
}

/** Shares of an amount, rounded down. Throws staking/22 for a validator without tokens. */
export function sharesFromTokens({ tokens, delegatorShares }: Validator, amount: bigint): Dec18 {
  if (tokens === 0n) throw ErrInsufficientShares();
  return (delegatorShares * amount) / tokens;
}

/** Adds tokens. Returns the new validator and the shares that they buy: one for each token for the first delegation. */
export function withTokens(validator: Validator, amount: bigint): readonly [Validator, Dec18] {
  const { tokens, delegatorShares } = validator;
  const issued = delegatorShares === 0n ? amount * DEC18_ONE : sharesFromTokens(validator, amount);
  return [{ ...validator, tokens: tokens + amount, delegatorShares: delegatorShares + issued }, issued];
}

/** Removes shares. Returns the new validator and their tokens, rounded down. The last shares take all tokens. */
export function withoutShares(validator: Validator, shares: Dec18): readonly [Validator, bigint] {
  const remaining = validator.delegatorShares - shares;
  const amount = remaining === 0n ? validator.tokens : truncateDec18(tokensFromShares(validator, shares));
  return [{ ...validator, tokens: validator.tokens - amount, delegatorShares: remaining }, amount];
}

/** Part of an amount, rounded down. */
export function fractionOf(fraction: Dec18, amount: bigint): bigint {
  return truncateDec18(mulDec18(fraction, amount * DEC18_ONE));
}

/** `amount / total` as a decimal, rounded up and at most 1. */
export function effectiveFraction(amount: bigint, total: bigint): Dec18 {
  // Go divides with 36 digits, rounds down, then rounds up to 18 digits.
  const exact = (amount * DEC18_ONE * DEC18_ONE) / total;
  const fraction = exact / DEC18_ONE + (exact % DEC18_ONE === 0n ? 0n : 1n);
  return fraction > DEC18_ONE ? DEC18_ONE : fraction;
}
