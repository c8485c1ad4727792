import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { compareBytes, equalBytes } from "../../../../platform/base/bytes.ts";
import { type Dec18, formatDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import { GO_ZERO_TIME_NS } from "../../../../platform/base/time.ts";
import type { Context } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { bondCoins, moduleParams, unbondingTimeNs, type Keepers, type Pair, type Triplet } from "./types.ts";
import { consensusAddressOf, type Delegation, type Validator } from "./records.ts";
import * as stakingErrors from "./errors.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";

/** Source of a delegation's tokens: the delegator's account, or the staking pool for bonded or unbonded tokens. */
export type TokenSource = "account" | { readonly pool: "bonded" | "notBonded" };

/** Delegates tokens to a validator and returns the issued shares. Throws staking/34 for a validator with shares but no tokens. */
export function delegate(
  context: Context,
  keepers: Keepers,
  validator: Validator,
  part: { readonly delegator: Uint8Array; readonly amount: bigint; readonly from: TokenSource },
): Dec18 {
  if (validators.hasInvalidRate(validator)) throw stakingErrors.ErrDelegatorShareExRateInvalid();
  const { hooks } = keepers;
  const operator = keepers.operators.parse(validator.operatorAddress);
  const pair: Pair = { delegator: part.delegator, validator: operator };
  const known = delegations.byPair.get(context, pair);
  if (known === undefined) hooks.beforeDelegationCreated(context, part.delegator, operator);
  else hooks.beforeDelegationSharesModified(context, part.delegator, operator);
  moveTokens(context, keepers, validator, part);
  const shares = validators.addTokens(context, keepers, validator, part.amount);
  const before = known ?? emptyDelegation(keepers, pair);
  delegations.setDelegation(context, pair, { ...before, shares: before.shares + shares });
  hooks.afterDelegationModified(context, part.delegator, operator);
  return shares;
}

function emptyDelegation({ accounts, operators }: Keepers, pair: Pair): Delegation {
  return {
    delegatorAddress: accounts.format(pair.delegator),
    validatorAddress: operators.format(pair.validator),
    shares: 0n,
  };
}

function moveTokens(
  context: Context,
  keepers: Keepers,
  validator: Validator,
  { delegator, amount, from }: Parameters<typeof delegate>[3],
): void {
  if (from === "account") {
    keepers.bank.delegate(context, delegator, validators.poolOf(validator), bondCoins(context, amount));
  } else if (from.pool === "notBonded" && validators.isBonded(validator)) {
    validators.notBondedToBonded(context, keepers, amount);
  } else if (from.pool === "bonded" && !validators.isBonded(validator)) {
    validators.bondedToNotBonded(context, keepers, amount);
  }
}

/**
 * Removes shares from a delegation and the corresponding tokens from the validator. Returns the number of tokens, which stay in the
 * pool. Jails the validator if its self-delegation falls below the operator's minimum. Deletes an unbonded validator that has no
 * shares left.
 */
export function unbond(context: Context, keepers: Keepers, pair: Pair, shares: Dec18): bigint {
  const { hooks } = keepers;
  const delegation = delegations.byPair.get(context, pair);
  if (delegation === undefined) throw stakingErrors.ErrNoDelegatorForAddress();
  hooks.beforeDelegationSharesModified(context, pair.delegator, pair.validator);
  if (delegation.shares < shares)
    throw stakingErrors.ErrNotEnoughDelegationShares(formatDec18(delegation.shares));
  const remaining = { ...delegation, shares: delegation.shares - shares };
  const found = validators.requireValidator(context, pair.validator);
  const validator = jailBelowMinimum(context, keepers, found, { pair, remaining });
  if (remaining.shares === 0n) {
    delegations.deleteDelegation(context, keepers, pair);
  } else {
    delegations.setDelegation(context, pair, remaining);
    hooks.afterDelegationModified(context, pair.delegator, pair.validator);
  }
  const [after, amount] = validators.removeShares(context, keepers, validator, shares);
  if (after.delegatorShares === 0n && after.status === BondStatus.BOND_STATUS_UNBONDED)
    removeValidator(context, keepers, after);
  return amount;
}

function jailBelowMinimum(
  context: Context,
  keepers: Keepers,
  validator: Validator,
  { pair, remaining }: { readonly pair: Pair; readonly remaining: Delegation },
): Validator {
  const isOwn = compareBytes(pair.delegator, pair.validator) === 0;
  if (!isOwn || validator.jailed) return validator;
  const own = truncateDec18(validators.tokensFromShares(validator, remaining.shares));
  if (own >= validator.minSelfDelegation) return validator;
  jail(context, keepers, validator);
  return validators.requireValidator(context, pair.validator);
}

/** Jails a validator. The validator leaves the power order immediately, and the active set at the end of the block. */
export function jail(context: Context, keepers: Keepers, validator: Validator): Validator {
  const jailed = { ...validator, jailed: true };
  validators.setValidator(context, keepers, jailed);
  validators.removeFromPowerOrder(context, keepers, validator);
  return jailed;
}

/** Deletes a validator that is unbonded and has no tokens. As in the SDK, an error from the hook `afterValidatorRemoved` is ignored. */
export function removeValidator(context: Context, keepers: Keepers, validator: Validator): void {
  validators.deleteValidator(context, keepers, validator);
  const operator = keepers.operators.parse(validator.operatorAddress);
  delegations.ignoringErrors(() =>
    keepers.hooks.afterValidatorRemoved(context, consensusAddressOf(validator), operator),
  );
}

/** Converts a token amount to shares of a delegation. Throws sdk/18 if the delegation has fewer shares. */
export function sharesToUnbond(context: Context, pair: Pair, amount: bigint): Dec18 {
  const validator = validators.requireValidator(context, pair.validator);
  const delegation = delegations.byPair.get(context, pair);
  if (delegation === undefined) throw stakingErrors.ErrNoDelegation();
  const shares = validators.sharesFromTokens(validator, amount);
  if (shares > delegation.shares) throw errors.ErrInvalidRequest("invalid shares amount");
  return shares;
}

/** Starts undelegating shares. The tokens are paid out at the end of the unbonding time. */
export function undelegate(context: Context, keepers: Keepers, pair: Pair, shares: Dec18) {
  const validator = validators.requireValidator(context, pair.validator);
  const entries = delegations.unbondings.get(context, pair)?.entries.length ?? 0;
  if (entries >= moduleParams.get(context).maxEntries) throw stakingErrors.ErrMaxUnbondingDelegationEntries();
  const amount = unbond(context, keepers, pair, shares);
  if (validators.isBonded(validator)) validators.bondedToNotBonded(context, keepers, amount);
  const completionTimeNs = context.timeNs + unbondingTimeNs(moduleParams.get(context));
  delegations.addUnbonding(context, keepers, pair, { completionTimeNs, amount });
  const { accounts, operators } = keepers;
  const delegatorAddress = accounts.format(pair.delegator);
  const validatorAddress = operators.format(pair.validator);
  delegations.unbondingQueue.insert(context, completionTimeNs, {
    pairs: [{ delegatorAddress, validatorAddress }],
  });
  return { completionTimeNs, amount };
}

/**
 * Moves shares to another validator, and returns the redelegation's completion time. A redelegation from an unbonded validator
 * completes immediately, and its completion time is Go's zero time.
 */
export function redelegate(context: Context, keepers: Keepers, triplet: Triplet, shares: Dec18): bigint {
  const { delegator, source } = triplet;
  const { target, from } = requireRedelegation(context, triplet);
  const amount = unbond(context, keepers, { delegator, validator: source }, shares);
  if (amount === 0n) throw stakingErrors.ErrTinyRedelegationAmount();
  const pool = validators.isBonded(from) ? "bonded" : "notBonded";
  const sharesDst = delegate(context, keepers, target, { delegator, amount, from: { pool } });
  const begin = beginOf(context, source);
  if (begin === undefined) return GO_ZERO_TIME_NS;
  delegations.addRedelegation(context, keepers, triplet, { ...begin, initialBalance: amount, sharesDst });
  delegations.redelegationQueue.insert(context, begin.completionTimeNs, {
    triplets: [texts(keepers, triplet)],
  });
  return begin.completionTimeNs;
}

function requireRedelegation(
  context: Context,
  triplet: Triplet,
): { readonly target: Validator; readonly from: Validator } {
  const { delegator, source, destination } = triplet;
  if (equalBytes(source, destination)) throw stakingErrors.ErrSelfRedelegation();
  const target = requireRedelegationEnd(context, destination);
  const from = requireRedelegationEnd(context, source);
  if (delegations.hasReceiving(context, delegator, source)) throw stakingErrors.ErrTransitiveRedelegation();
  const known = delegations.redelegations.get(context, triplet);
  if (known !== undefined && known.entries.length >= moduleParams.get(context).maxEntries)
    throw stakingErrors.ErrMaxRedelegationEntries();
  return { target, from };
}

function requireRedelegationEnd(context: Context, operator: Uint8Array): Validator {
  const validator = validators.byOperator.get(context, operator);
  if (validator === undefined) throw stakingErrors.ErrBadRedelegationDst();
  return validator;
}

/** Returns the height and completion time of a redelegation from a validator, or undefined if the redelegation completes immediately. */
function beginOf(
  context: Context,
  source: Uint8Array,
): { readonly creationHeight: bigint; readonly completionTimeNs: bigint } | undefined {
  const validator = validators.byOperator.get(context, source);
  // An unbonded source validator without shares has already been deleted.
  if (validator === undefined) return undefined;
  switch (validator.status) {
    case BondStatus.BOND_STATUS_UNBONDING:
      return { creationHeight: validator.unbondingHeight, completionTimeNs: validator.unbondingTimeNs };
    case BondStatus.BOND_STATUS_BONDED: {
      const completionTimeNs = context.timeNs + unbondingTimeNs(moduleParams.get(context));
      return { creationHeight: context.height, completionTimeNs };
    }
    case BondStatus.BOND_STATUS_UNBONDED:
    case BondStatus.BOND_STATUS_UNSPECIFIED:
      return undefined;
  }
}

function texts({ accounts, operators }: Keepers, triplet: Triplet) {
  return {
    delegatorAddress: accounts.format(triplet.delegator),
    validatorSrcAddress: operators.format(triplet.source),
    validatorDstAddress: operators.format(triplet.destination),
  };
}
