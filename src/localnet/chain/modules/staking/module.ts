import { event, type Context, type ChainModule } from "../../runtime/context.ts";
import { formatCoins } from "../../runtime/coins.ts";
import { removeValidator } from "./delegate.ts";
import { createHandlers } from "./handlers.ts";
import * as types from "./types.ts";
import { createQueryHandlers } from "./queries.ts";
import { trackHistoricalInfo, updateValidatorSet, storeUpdates } from "./validator-set.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import * as keeper from "./keeper.ts";
import { eachAtPath, atPath, GenesisError, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/genesis.ts";
import { moduleAddress } from "../../runtime/address.ts";
import * as records from "./records.ts";

export interface StakingModule extends ChainModule {
  readonly keeper: keeper.StakingKeeper;
  readonly contractReads: keeper.ContractReads;
}

/** Creates the `staking` module: validators, delegations and the chain's validator set. */
export function createStakingModule(options: types.StakingOptions, deps: types.StakingDeps): StakingModule {
  const keepers = types.createKeepers(options, deps);
  return {
    name: types.MODULE_NAME,
    stores: [types.MODULE_NAME],
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
function endBlock(context: Context, keepers: types.Keepers): void {
  updateValidatorSet(context, keepers);
  completeValidators(context, keepers);
  for (const { pairs } of delegations.unbondingQueue.takeDue(context))
    for (const pair of pairs) completePair(context, keepers, pair);
  for (const { triplets } of delegations.redelegationQueue.takeDue(context))
    for (const triplet of triplets) completeTriplet(context, keepers, triplet);
}

function completeValidators(context: Context, keepers: types.Keepers): void {
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
  keepers: types.Keepers,
  { delegatorAddress, validatorAddress }: wire.DVPair,
): void {
  const delegator = keepers.accounts.parse(delegatorAddress);
  const validator = keepers.operators.parse(validatorAddress);
  const amount = delegations.completeUnbonding(context, keepers, { delegator, validator });
  if (amount === undefined) return;
  const coins = formatCoins(types.bondCoins(context, amount));
  context.emit(
    event("complete_unbonding", { amount: coins, validator: validatorAddress, delegator: delegatorAddress }),
  );
}

function completeTriplet(context: Context, keepers: types.Keepers, texts: wire.DVVTriplet): void {
  const amount = delegations.completeRedelegation(context, {
    delegator: keepers.accounts.parse(texts.delegatorAddress),
    source: keepers.operators.parse(texts.validatorSrcAddress),
    destination: keepers.operators.parse(texts.validatorDstAddress),
  });
  if (amount === undefined) return;
  context.emit(
    event("complete_redelegation", {
      amount: formatCoins(types.bondCoins(context, amount)),
      delegator: texts.delegatorAddress,
      source_validator: texts.validatorSrcAddress,
      destination_validator: texts.validatorDstAddress,
    }),
  );
}

const SCHEMA = genesisSchema(types.MODULE_NAME, "cosmos.staking.v1beta1.GenesisState", GenesisState);
const PATH = `app_state.${types.MODULE_NAME}`;

/**
 * Stores validators and delegations. Runs the hooks unless the genesis is an export. Throws `GenesisError` if the bank's pools do
 * not match the tokens of validators and undelegations, or if a validator's shares differ from the sum of its delegations.
 */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: types.Keepers): void {
  const state = SCHEMA.read(json) ?? GenesisState.decode(new Uint8Array(0));
  const params = partOr(json, "params", state.params, types.defaultParams(keepers.denom));
  atPath(`${PATH}.params`, () => types.moduleParams.set(context, params));
  const given = eachAtPath(`${PATH}.validators`, state.validators, (one) =>
    addValidator(context, keepers, state, records.validatorFromWire(one)),
  );
  eachAtPath(`${PATH}.delegations`, state.delegations, (one) =>
    addDelegation(context, keepers, state, records.delegationFromWire(one)),
  );
  const waiting = addUnbondings(context, keepers, state);
  addRedelegations(context, keepers, state);
  requireShares(given, state);
  // Each pool may contain more than these tokens, because before an upgrade, any account could send coins to the pools.
  if (json !== undefined) requirePools(context, keepers, given, waiting);
  const largest = largestId(state);
  if (largest > 0n) delegations.lastUnbondingId.set(context, largest);
  if (state.exported) restoreLastPowers(context, keepers, state);
  else updateValidatorSet(context, keepers);
}

function addValidator(
  context: Context,
  keepers: types.Keepers,
  { exported }: GenesisState,
  validator: records.Validator,
): records.Validator {
  const operator = keepers.operators.parse(validator.operatorAddress);
  if (validators.byOperator.has(context, operator))
    throw new Error(`duplicate validator ${validator.operatorAddress}`);
  if (validators.validatorByConsensus(context, records.consensusAddressOf(validator)) !== undefined)
    throw new Error("another validator has the same consensus key");
  validators.setValidator(context, keepers, validator);
  validators.setByConsensus(context, keepers, validator);
  validators.addToPowerOrder(context, keepers, validator);
  if (!exported) keepers.hooks.afterValidatorCreated(context, operator);
  if (validator.status === wire.BondStatus.BOND_STATUS_UNBONDING)
    validators.addToValidatorQueue(context, validator);
  return validator;
}

function addDelegation(
  context: Context,
  { hooks, accounts, operators }: types.Keepers,
  { exported }: GenesisState,
  delegation: records.Delegation,
): void {
  const delegator = accounts.parse(delegation.delegatorAddress);
  const validator = operators.parse(delegation.validatorAddress);
  if (!validators.byOperator.has(context, validator))
    throw new Error(`no validator ${delegation.validatorAddress}`);
  if (delegations.byPair.has(context, { delegator, validator })) throw new Error("duplicate delegation");
  if (delegation.shares <= 0n) throw new Error("expected positive shares");
  if (!exported) hooks.beforeDelegationCreated(context, delegator, validator);
  delegations.setDelegation(context, { delegator, validator }, delegation);
  if (!exported) hooks.afterDelegationModified(context, delegator, validator);
}

/** Stores a genesis state's undelegations, and returns their total tokens. */
function addUnbondings(context: Context, keepers: types.Keepers, state: GenesisState): bigint {
  let waiting = 0n;
  state.unbondingDelegations.map(records.unbondingFromWire).forEach((unbonding, index) => {
    const { delegatorAddress, validatorAddress, entries } = unbonding;
    const pair = atPath(`${PATH}.unbonding_delegations[${index}]`, () => ({
      delegator: keepers.accounts.parse(delegatorAddress),
      validator: keepers.operators.parse(validatorAddress),
    }));
    requireNew(`${PATH}.unbonding_delegations[${index}]`, delegations.unbondings.has(context, pair));
    delegations.saveUnbonding(context, pair, unbonding);
    for (const { completionTimeNs, balance } of entries) {
      const pairs = [{ delegatorAddress, validatorAddress }];
      delegations.unbondingQueue.insert(context, completionTimeNs, { pairs });
      waiting += balance;
    }
  });
  return waiting;
}

function addRedelegations(
  context: Context,
  { accounts, operators }: types.Keepers,
  state: GenesisState,
): void {
  state.redelegations.map(records.redelegationFromWire).forEach((redelegation, index) => {
    const { entries, ...texts } = redelegation;
    const triplet = atPath(`${PATH}.redelegations[${index}]`, () => ({
      delegator: accounts.parse(texts.delegatorAddress),
      source: operators.parse(texts.validatorSrcAddress),
      destination: operators.parse(texts.validatorDstAddress),
    }));
    requireNew(`${PATH}.redelegations[${index}]`, delegations.redelegations.has(context, triplet));
    delegations.saveRedelegation(context, triplet, redelegation);
    for (const { completionTimeNs } of entries)
      delegations.redelegationQueue.insert(context, completionTimeNs, { triplets: [texts] });
  });
}

function requireNew(path: string, isKnown: boolean): void {
  if (isKnown) throw new GenesisError(path, "duplicate entry for the same accounts");
}

/** Requires a validator's shares to equal the sum of its delegations, so that the last delegator can undelegate. */
function requireShares(given: readonly records.Validator[], state: GenesisState): void {
  const sums = new Map<string, bigint>();
  for (const { validatorAddress, shares } of state.delegations)
    sums.set(validatorAddress, (sums.get(validatorAddress) ?? 0n) + records.toInteger(shares));
  given.forEach(({ operatorAddress, delegatorShares }, index) => {
    const sum = sums.get(operatorAddress) ?? 0n;
    if (sum === delegatorShares) return;
    const path = `${PATH}.validators[${index}].delegator_shares`;
    throw new GenesisError(path, `the delegations have ${sum} of 10^-18 shares, not ${delegatorShares}`);
  });
}

function requirePools(
  context: Context,
  keepers: types.Keepers,
  given: readonly records.Validator[],
  waiting: bigint,
): void {
  const { bondDenom } = types.moduleParams.get(context);
  const require = (pool: string, expected: bigint): void => {
    const { amount } = keepers.bank.balance(context, moduleAddress(pool), bondDenom);
    if (amount === expected) return;
    const text = `${pool} has ${amount}${bondDenom}, and the validators and undelegations need ${expected}${bondDenom}`;
    throw new GenesisError(`app_state.bank.balances`, text);
  };
  require(types.BONDED_POOL, tokensOf(given.filter(validators.isBonded)));
  require(types.NOT_BONDED_POOL, tokensOf(given.filter((one) => !validators.isBonded(one))) + waiting);
}

function tokensOf(some: readonly records.Validator[]): bigint {
  return some.reduce((total, { tokens }) => total + tokens, 0n);
}

/**
 * Returns the largest unbonding id in the state. The SDK's genesis does not contain the id counter, so the counter continues from
 * this id.
 */
function largestId(state: GenesisState): bigint {
  const ids = [
    ...state.validators.flatMap(({ unbondingIds }) => unbondingIds),
    ...state.unbondingDelegations.flatMap(({ entries }) => entries.map(({ unbondingId }) => unbondingId)),
    ...state.redelegations.flatMap(({ entries }) => entries.map(({ unbondingId }) => unbondingId)),
  ];
  return ids.reduce((largest, id) => (id > largest ? id : largest), 0n);
}

function restoreLastPowers(context: Context, { operators }: types.Keepers, state: GenesisState): void {
  validators.lastTotalPower.set(context, records.toInteger(fromUtf8(state.lastTotalPower)));
  const path = `${PATH}.last_validator_powers`;
  const updates = eachAtPath(path, state.lastValidatorPowers, ({ address, power }) => {
    const operator = operators.parse(address);
    const validator = validators.byOperator.get(context, operator);
    if (validator === undefined) throw new Error(`no validator ${address}`);
    validators.lastPowers.set(context, operator, power);
    return { publicKey: records.consensusKeyOf(validator), power };
  });
  storeUpdates(context, updates);
}

/** Exports the module's state. No hooks run when an export is imported. */
function exportGenesis(context: Context, { operators }: types.Keepers): JsonValue {
  return SCHEMA.print({
    params: types.moduleParams.get(context),
    lastTotalPower: utf8((validators.lastTotalPower.get(context) ?? 0n).toString()),
    lastValidatorPowers: [...validators.lastPowers.entries(context)].map(([operator, power]) => ({
      address: operators.format(operator),
      power,
    })),
    validators: validators.byOperator.values(context).map(records.validatorToWire),
    delegations: delegations.byPair.values(context).map(records.delegationToWire),
    unbondingDelegations: delegations.unbondings.values(context).map(records.unbondingToWire),
    redelegations: delegations.redelegations.values(context).map(records.redelegationToWire),
    exported: true,
  });
}
