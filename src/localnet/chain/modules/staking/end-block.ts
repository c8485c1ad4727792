import { formatCoins } from "../../runtime/coins.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { removeValidator } from "./delegate.ts";
import { completedRedelegation, completedUnbonding } from "./events.ts";
import { bondCoins } from "./pools.ts";
import { completeRedelegation, redelegationQueue } from "./redelegations.ts";
import type { Environment } from "./types.ts";
import { forgetUnbonding } from "./unbonding-ids.ts";
import { completeUnbonding, unbondingQueue } from "./unbondings.ts";
import { dueValidators, removeFromValidatorQueue } from "./validator-queue.ts";
import { updateValidatorSet } from "./validator-set.ts";
import { requireValidator, setValidator } from "./validators.ts";

/** Ends a block: the active set first, then validators, undelegations and redelegations whose time has passed. */
export function endBlock(context: Context, environment: Environment): void {
  updateValidatorSet(context, environment);
  completeValidators(context, environment);
  for (const { pairs } of unbondingQueue.takeDue(context))
    for (const pair of pairs) completePair(context, environment, pair);
  for (const { triplets } of redelegationQueue.takeDue(context))
    for (const triplet of triplets) completeTriplet(context, environment, triplet);
}

function completeValidators(context: Context, environment: Environment): void {
  for (const address of dueValidators(context)) {
    const validator = requireValidator(context, environment.operators.parse(address));
    if (validator.unbondingOnHoldRefCount > 0n) continue;
    for (const id of validator.unbondingIds) forgetUnbonding(context, id);
    const unbonded = { ...validator, status: BondStatus.BOND_STATUS_UNBONDED, unbondingIds: [] };
    setValidator(context, environment, unbonded);
    removeFromValidatorQueue(context, unbonded);
    if (unbonded.delegatorShares === 0n) removeValidator(context, environment, unbonded);
  }
}

function completePair(
  context: Context,
  environment: Environment,
  { delegatorAddress, validatorAddress }: { delegatorAddress: string; validatorAddress: string },
): void {
  const delegator = environment.accounts.parse(delegatorAddress);
  const validator = environment.operators.parse(validatorAddress);
  const amount = completeUnbonding(context, environment, { delegator, validator });
  if (amount === undefined) return;
  const coins = formatCoins(bondCoins(context, amount));
  context.emit(completedUnbonding(coins, validatorAddress, delegatorAddress));
}

function completeTriplet(
  context: Context,
  environment: Environment,
  texts: { delegatorAddress: string; validatorSrcAddress: string; validatorDstAddress: string },
): void {
  const amount = completeRedelegation(context, {
    delegator: environment.accounts.parse(texts.delegatorAddress),
    source: environment.operators.parse(texts.validatorSrcAddress),
    destination: environment.operators.parse(texts.validatorDstAddress),
  });
  if (amount === undefined) return;
  context.emit(completedRedelegation(formatCoins(bondCoins(context, amount)), texts));
}
