import { type Dec18, formatDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import { compareBytes } from "../../../../platform/base/bytes.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { deleteDelegation, delegations, setDelegation } from "./delegations.ts";
import {
  ErrDelegatorShareExRateInvalid,
  ErrNoDelegatorForAddress,
  ErrNotEnoughDelegationShares,
} from "./errors.ts";
import { bondCoins, bondedToNotBonded, notBondedToBonded, poolOf } from "./pools.ts";
import { consensusAddressOf, type Delegation, type Validator } from "./records.ts";
import { hasInvalidRate, isBonded, tokensFromShares } from "./shares.ts";
import type { Environment, Pair } from "./types.ts";
import { ignoringErrors } from "./unbonding-ids.ts";
import {
  addTokens,
  deleteValidator,
  removeFromPowerOrder,
  removeShares,
  requireValidator,
  setValidator,
} from "./validators.ts";

/** Where the tokens of a delegation come from: the account of the delegator, or the pool of a status. */
export type TokenSource = "account" | { readonly pool: "bonded" | "notBonded" };

/** Delegates an amount to a validator. Returns the new shares. Throws staking/34 for a validator without tokens. */
export function delegate(
  context: Context,
  environment: Environment,
  validator: Validator,
  part: { readonly delegator: Uint8Array; readonly amount: bigint; readonly from: TokenSource },
): Dec18 {
  if (hasInvalidRate(validator)) throw ErrDelegatorShareExRateInvalid();
  const { hooks } = environment;
  const operator = environment.operators.parse(validator.operatorAddress);
  const pair: Pair = { delegator: part.delegator, validator: operator };
  const known = delegations.get(context, pair);
  if (known === undefined) hooks.beforeDelegationCreated(context, part.delegator, operator);
  else hooks.beforeDelegationSharesModified(context, part.delegator, operator);
  moveTokens(context, environment, validator, part);
  const shares = addTokens(context, environment, validator, part.amount);
  const before = known ?? emptyDelegation(environment, pair);
  setDelegation(context, pair, { ...before, shares: before.shares + shares });
  hooks.afterDelegationModified(context, part.delegator, operator);
  return shares;
}

function emptyDelegation({ accounts, operators }: Environment, pair: Pair): Delegation {
  return {
    delegatorAddress: accounts.format(pair.delegator),
    validatorAddress: operators.format(pair.validator),
    shares: 0n,
  };
}

function moveTokens(
  context: Context,
  environment: Environment,
  validator: Validator,
  { delegator, amount, from }: Parameters<typeof delegate>[3],
): void {
  if (from === "account") {
    environment.bank.delegate(context, delegator, poolOf(validator), bondCoins(context, amount));
  } else if (from.pool === "notBonded" && isBonded(validator)) {
    notBondedToBonded(context, environment, amount);
  } else if (from.pool === "bonded" && !isBonded(validator)) {
    bondedToNotBonded(context, environment, amount);
  }
}

/**
 * Takes shares out of a delegation and their tokens out of the validator; the tokens stay in the pool. A self-delegation below
 * the operator's minimum jails the validator. Deletes an unbonded validator without shares. Returns the tokens.
 */
export function unbond(context: Context, environment: Environment, pair: Pair, shares: Dec18): bigint {
  const { hooks } = environment;
  const delegation = delegations.get(context, pair);
  if (delegation === undefined) throw ErrNoDelegatorForAddress();
  hooks.beforeDelegationSharesModified(context, pair.delegator, pair.validator);
  if (delegation.shares < shares) throw ErrNotEnoughDelegationShares(formatDec18(delegation.shares));
  const remaining = { ...delegation, shares: delegation.shares - shares };
  const found = requireValidator(context, pair.validator);
  const validator = jailBelowMinimum(context, environment, found, { pair, remaining });
  if (remaining.shares === 0n) {
    deleteDelegation(context, environment, pair);
  } else {
    setDelegation(context, pair, remaining);
    hooks.afterDelegationModified(context, pair.delegator, pair.validator);
  }
  const [after, amount] = removeShares(context, environment, validator, shares);
  if (after.delegatorShares === 0n && after.status === BondStatus.BOND_STATUS_UNBONDED)
    removeValidator(context, environment, after);
  return amount;
}

function jailBelowMinimum(
  context: Context,
  environment: Environment,
  validator: Validator,
  { pair, remaining }: { readonly pair: Pair; readonly remaining: Delegation },
): Validator {
  const isOwn = compareBytes(pair.delegator, pair.validator) === 0;
  if (!isOwn || validator.jailed) return validator;
  const own = truncateDec18(tokensFromShares(validator, remaining.shares));
  return own < validator.minSelfDelegation ? jail(context, environment, validator) : validator;
}

/** Jails a validator: it leaves the order of power, and the active set at the end of the block. */
export function jail(context: Context, environment: Environment, validator: Validator): Validator {
  const jailed = { ...validator, jailed: true };
  setValidator(context, environment, jailed);
  removeFromPowerOrder(context, environment, validator);
  return jailed;
}

/** Deletes an unbonded validator without tokens. An error of the hook is ignored, as in the SDK. */
export function removeValidator(context: Context, environment: Environment, validator: Validator): void {
  deleteValidator(context, environment, validator);
  const operator = environment.operators.parse(validator.operatorAddress);
  ignoringErrors(() =>
    environment.hooks.afterValidatorRemoved(context, consensusAddressOf(validator), operator),
  );
}
