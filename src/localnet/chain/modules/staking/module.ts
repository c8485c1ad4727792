import { event, type Context, type ChainModule } from "../../runtime/context.ts";
import { formatCoins } from "../../runtime/coins.ts";
import { removeValidator } from "./delegate.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createHandlers } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { bondCoins } from "./params.ts";
import { createQueryHandlers } from "./queries.ts";
import { createKeepers, type Keepers, type StakingDeps, type StakingOptions } from "./types.ts";
import { trackHistoricalInfo, updateValidatorSet } from "./validator-set.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import * as keeper from "./keeper.ts";

export interface StakingModule extends ChainModule {
  readonly keeper: keeper.StakingKeeper;
  readonly contractReads: keeper.ContractReads;
}

/** Creates the `staking` module: validators, delegations and the chain's validator set. */
export function createStakingModule(options: StakingOptions, deps: StakingDeps): StakingModule {
  const keepers = createKeepers(options, deps);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueryHandlers(keepers),
    beginBlock: trackHistoricalInfo,
    endBlock: (context) => endBlock(context, keepers),
    initGenesis: (context, genesis) => initGenesis(context, genesis, keepers),
    exportGenesis: (context) => exportGenesis(context, keepers),
    keeper: keeper.createStakingKeeper(keepers),
    contractReads: keeper.createContractReads(keepers),
  };
}

/** Ends a block: updates the active set, then completes validator unbondings, undelegations and redelegations that are due. */
function endBlock(context: Context, keepers: Keepers): void {
  updateValidatorSet(context, keepers);
  completeValidators(context, keepers);
  for (const { pairs } of delegations.unbondingQueue.takeDue(context))
    for (const pair of pairs) completePair(context, keepers, pair);
  for (const { triplets } of delegations.redelegationQueue.takeDue(context))
    for (const triplet of triplets) completeTriplet(context, keepers, triplet);
}

function completeValidators(context: Context, keepers: Keepers): void {
  for (const address of validators.dueValidators(context)) {
    const validator = validators.requireValidator(context, keepers.operators.parse(address));
    if (validator.unbondingOnHoldRefCount > 0n) continue;
    for (const id of validator.unbondingIds) delegations.forgetUnbonding(context, id);
    const unbonded = { ...validator, status: wire.BondStatus.BOND_STATUS_UNBONDED, unbondingIds: [] };
    validators.setValidator(context, keepers, unbonded);
    validators.removeFromValidatorQueue(context, unbonded);
    if (unbonded.delegatorShares === 0n) removeValidator(context, keepers, unbonded);
  }
}

function completePair(
  context: Context,
  keepers: Keepers,
  { delegatorAddress, validatorAddress }: wire.DVPair,
): void {
  const delegator = keepers.accounts.parse(delegatorAddress);
  const validator = keepers.operators.parse(validatorAddress);
  const amount = delegations.completeUnbonding(context, keepers, { delegator, validator });
  if (amount === undefined) return;
  const coins = formatCoins(bondCoins(context, amount));
  context.emit(
    event("complete_unbonding", { amount: coins, validator: validatorAddress, delegator: delegatorAddress }),
  );
}

function completeTriplet(context: Context, keepers: Keepers, texts: wire.DVVTriplet): void {
  const amount = delegations.completeRedelegation(context, {
    delegator: keepers.accounts.parse(texts.delegatorAddress),
    source: keepers.operators.parse(texts.validatorSrcAddress),
    destination: keepers.operators.parse(texts.validatorDstAddress),
  });
  if (amount === undefined) return;
  context.emit(
    event("complete_redelegation", {
      amount: formatCoins(bondCoins(context, amount)),
      delegator: texts.delegatorAddress,
      source_validator: texts.validatorSrcAddress,
      destination_validator: texts.validatorDstAddress,
    }),
  );
}
