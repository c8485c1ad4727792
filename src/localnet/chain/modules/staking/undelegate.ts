import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { equalBytes } from "../../../../platform/base/bytes.ts";
import type { Dec18 } from "../../../../platform/base/decimal.ts";
import { GO_ZERO_TIME_NS } from "../../../../platform/base/time.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest } from "../../runtime/errors.ts";
import { delegate, unbond } from "./delegate.ts";
import { delegations } from "./delegations.ts";
import {
  ErrBadRedelegationDst,
  ErrMaxRedelegationEntries,
  ErrMaxUnbondingDelegationEntries,
  ErrNoDelegation,
  ErrSelfRedelegation,
  ErrTinyRedelegationAmount,
  ErrTransitiveRedelegation,
} from "./errors.ts";
import { paramsOf, unbondingTimeNs } from "./params.ts";
import { bondedToNotBonded } from "./pools.ts";
import { addRedelegation, hasReceiving, redelegationQueue, redelegations } from "./redelegations.ts";
import { isBonded, sharesFromTokens } from "./shares.ts";
import type { Environment, Pair, Triplet } from "./types.ts";
import { addUnbonding, unbondingQueue, unbondings } from "./unbondings.ts";
import { requireValidator, validators } from "./validators.ts";

/** Converts an amount to shares of a delegation. Throws sdk/18 when the delegation has fewer. */
export function sharesToUnbond(context: Context, pair: Pair, amount: bigint): Dec18 {
  const validator = requireValidator(context, pair.validator);
  const delegation = delegations.get(context, pair);
  if (delegation === undefined) throw ErrNoDelegation();
  const shares = sharesFromTokens(validator, amount);
  if (shares > delegation.shares) throw ErrInvalidRequest("invalid shares amount");
  return shares;
}

/** The result of an undelegation. */
export interface Undelegated {
  readonly completionTimeNs: bigint;
  readonly amount: bigint;
}

/** Starts an undelegation of shares. Its tokens leave at the end of the unbonding time. */
export function undelegate(
  context: Context,
  environment: Environment,
  pair: Pair,
  shares: Dec18,
): Undelegated {
  const validator = requireValidator(context, pair.validator);
  const params = paramsOf(context);
  if ((unbondings.get(context, pair)?.entries.length ?? 0) >= params.maxEntries)
    throw ErrMaxUnbondingDelegationEntries();
  const amount = unbond(context, environment, pair, shares);
  if (isBonded(validator)) bondedToNotBonded(context, environment, amount);
  const completionTimeNs = context.timeNs + unbondingTimeNs(params);
  addUnbonding(context, environment, pair, { completionTimeNs, amount });
  const { accounts, operators } = environment;
  const delegatorAddress = accounts.format(pair.delegator);
  const validatorAddress = operators.format(pair.validator);
  unbondingQueue.insert(context, completionTimeNs, { pairs: [{ delegatorAddress, validatorAddress }] });
  return { completionTimeNs, amount };
}

/**
 * Moves shares to another validator. Returns when the redelegation is complete; Go's zero time for a source that is not bonded
 * and not unbonding, where it is complete at once.
 */
export function redelegate(
  context: Context,
  environment: Environment,
  triplet: Triplet,
  shares: Dec18,
): bigint {
  requireRedelegation(context, triplet);
  const { delegator, source, destination } = triplet;
  const sourceValidator = requireValidator(context, source);
  const begin = beginOf(context, source);
  const amount = unbond(context, environment, { delegator, validator: source }, shares);
  if (amount === 0n) throw ErrTinyRedelegationAmount();
  const pool = isBonded(sourceValidator) ? "bonded" : "notBonded";
  const target = requireValidator(context, destination);
  const sharesDst = delegate(context, environment, target, { delegator, amount, from: { pool } });
  if (begin === undefined) return GO_ZERO_TIME_NS;
  addRedelegation(context, environment, triplet, { ...begin, initialBalance: amount, sharesDst });
  redelegationQueue.insert(context, begin.completionTimeNs, { triplets: [texts(environment, triplet)] });
  return begin.completionTimeNs;
}

function requireRedelegation(context: Context, triplet: Triplet): void {
  const { delegator, source, destination } = triplet;
  if (equalBytes(source, destination)) throw ErrSelfRedelegation();
  for (const operator of [destination, source])
    if (validators.get(context, operator) === undefined) throw ErrBadRedelegationDst();
  if (hasReceiving(context, delegator, source)) throw ErrTransitiveRedelegation();
  const entries = redelegations.get(context, triplet)?.entries.length ?? 0;
  if (entries >= paramsOf(context).maxEntries) throw ErrMaxRedelegationEntries();
}

/** Height and end of a redelegation away from a validator; undefined when it is complete at once. */
function beginOf(
  context: Context,
  source: Uint8Array,
): { readonly creationHeight: bigint; readonly completionTimeNs: bigint } | undefined {
  const validator = requireValidator(context, source);
  switch (validator.status) {
    case BondStatus.BOND_STATUS_UNBONDING:
      return { creationHeight: validator.unbondingHeight, completionTimeNs: validator.unbondingTimeNs };
    case BondStatus.BOND_STATUS_BONDED: {
      const completionTimeNs = context.timeNs + unbondingTimeNs(paramsOf(context));
      return { creationHeight: context.height, completionTimeNs };
    }
    case BondStatus.BOND_STATUS_UNBONDED:
    case BondStatus.BOND_STATUS_UNSPECIFIED:
      return undefined;
  }
}

function texts({ accounts, operators }: Environment, triplet: Triplet) {
  return {
    delegatorAddress: accounts.format(triplet.delegator),
    validatorSrcAddress: operators.format(triplet.source),
    validatorDstAddress: operators.format(triplet.destination),
  };
}
