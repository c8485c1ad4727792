import { lengthPrefixed } from "../../store/collections.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { type Dec18, formatDec18, mulDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { jail, unbond } from "./delegate.ts";
import * as types from "./types.ts";
import { updatesOf, updateValidatorSet } from "./validator-set.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as records from "./records.ts";

/**
 * Methods with which other modules read, slash and jail validators. The parameter `consensus` is a consensus address (20 bytes),
 * and `operator` is an operator address.
 */
export type StakingKeeper = ReturnType<typeof createStakingKeeper>;

/** A validator's tokens, and the sum of its delegators' shares. */
export interface ValidatorStake {
  readonly operator: Uint8Array;
  readonly tokens: bigint;
  readonly shares: Dec18;
}

export function createStakingKeeper(keepers: types.Keepers) {
  return {
    byConsensus: (context: Context, consensus: Uint8Array): ValidatorFacts | undefined => {
      const validator = validators.validatorByConsensus(context, consensus);
      return validator === undefined ? undefined : factsOf(validator, keepers);
    },
    /** Returns the operator addresses of all validators, in ascending order of bytes. */
    operators: (context: Context): readonly Uint8Array[] =>
      [...validators.byOperator.entries(context)].map(([operator]) => operator),
    /** Returns a validator by operator address, or throws staking/3 for an unknown operator. */
    byOperator: (context: Context, operator: Uint8Array) => {
      const validator = validators.requireValidator(context, operator);
      return {
        ...factsOf(validator, keepers),
        /** Reads the tokens in the operator's own delegation, or returns undefined if there is none. */
        ownTokens: (): bigint | undefined => {
          const own = delegations.byPair.get(context, { delegator: operator, validator: operator });
          return own === undefined
            ? undefined
            : truncateDec18(validators.tokensFromShares(validator, own.shares));
        },
      };
    },
    /** Burns part of a validator's stake, and returns the amount that the validator lost. */
    slash: (context: Context, infraction: Infraction): bigint => slash(context, keepers, infraction),
    /** Jails a validator that is not jailed yet. */
    jail: (context: Context, consensus: Uint8Array): void => {
      const validator = validators.validatorByConsensus(context, consensus);
      if (validator !== undefined && !validator.jailed) jail(context, keepers, validator);
    },
    unjail: (context: Context, consensus: Uint8Array): void => {
      const validator = validators.validatorByConsensus(context, consensus);
      if (validator === undefined || !validator.jailed) return;
      const free = { ...validator, jailed: false };
      validators.setValidator(context, keepers, free);
      validators.addToPowerOrder(context, keepers, free);
    },
    /** Updates the active set, as at the end of a block. */
    updateValidatorSet: (context: Context): void => updateValidatorSet(context, keepers),
    /** Returns the changes to the validator set in this block. */
    validatorUpdates: updatesOf,
    bonded: bondedValidators,
    /** Iterates over an account's delegations, in operator order. */
    delegationsOf: function* (context: Context, delegator: Uint8Array) {
      for (const [{ validator }, { shares }] of delegations.byPair.entries(
        context,
        lengthPrefixed(delegator),
      ))
        yield { validator, shares };
    },
  };
}

/** Iterates over the bonded validators, from highest to lowest power. */
function* bondedValidators(context: Context): IterableIterator<ValidatorStake> {
  for (const operator of validators.operatorsByPower(context)) {
    const validator = validators.byOperator.get(context, operator);
    if (validator !== undefined && validators.isBonded(validator))
      yield { operator, tokens: validator.tokens, shares: validator.delegatorShares };
  }
}

type ValidatorFacts = ReturnType<typeof factsOf>;

function factsOf(validator: records.Validator, { operators }: types.Keepers) {
  const { jailed, status, minSelfDelegation, tokens } = validator;
  const publicKey = records.consensusKeyOf(validator);
  const operator = operators.parse(validator.operatorAddress);
  const consensus = records.consensusAddressOf(validator);
  return { operator, tokens, consensus, publicKey, jailed, status, minSelfDelegation };
}

export interface Infraction {
  /** The validator's consensus address, 20 bytes. */
  readonly consensus: Uint8Array;
  readonly height: bigint;
  /** The validator's power at the infraction's height. */
  readonly power: bigint;
  readonly fraction: Dec18;
}

/**
 * Burns part of the stake that backed an infraction. First slashes undelegations and redelegations that started after the
 * infraction, and then takes the rest from the validator. Returns the amount that the validator lost, or zero if the validator is
 * unknown. Throws a `ModuleError` for an unbonded validator.
 */
function slash(context: Context, keepers: types.Keepers, infraction: Infraction): bigint {
  const { consensus, height, power, fraction } = infraction;
  const amount = validators.fractionOf(fraction, power * validators.POWER_REDUCTION);
  const validator = validators.validatorByConsensus(context, consensus);
  if (validator === undefined) return 0n;
  requireSlashable(validator);
  const operator = keepers.operators.parse(validator.operatorAddress);
  delegations.ignoringErrors(() => keepers.hooks.beforeValidatorModified(context, operator));
  if (height > context.height) {
    const text = `impossible attempt to slash future infraction at height ${height} but we are at height ${context.height}`;
    throw unregisteredError(text);
  }
  const elsewhere = height < context.height ? slashMoved(context, keepers, operator, infraction) : 0n;
  // Take the part that was not taken from undelegations and redelegations from the validator, up to all its tokens.
  const toBurn = clamp(amount - elsewhere, validator.tokens);
  if (toBurn > 0n) burnTokens(context, keepers, validator, toBurn);
  return toBurn;
}

function requireSlashable(validator: records.Validator): void {
  if (validator.status !== BondStatus.BOND_STATUS_UNBONDED) return;
  throw unregisteredError(`should not be slashing unbonded validator: ${validator.operatorAddress}`);
}

function clamp(amount: bigint, most: bigint): bigint {
  const least = amount < 0n ? 0n : amount;
  return least > most ? most : least;
}

function burnTokens(
  context: Context,
  keepers: types.Keepers,
  validator: records.Validator,
  toBurn: bigint,
): void {
  const operator = keepers.operators.parse(validator.operatorAddress);
  const fraction = formatDec18(validators.effectiveFraction(toBurn, validator.tokens));
  delegations.ignoringErrors(() =>
    keepers.hooks.beforeValidatorSlashedWithTokensToBurn(context, operator, {
      fraction,
      tokensToBurn: toBurn,
    }),
  );
  const after = { ...validator, tokens: validator.tokens - toBurn };
  validators.changeValidator(context, keepers, validator, after);
  validators.burnFrom(context, keepers, validators.poolOf(validator), toBurn);
}

/** Slashes stake that left the validator after the infraction. Returns the total slash amount, even if less stake was left to burn. */
function slashMoved(
  context: Context,
  keepers: types.Keepers,
  operator: Uint8Array,
  infraction: Infraction,
): bigint {
  let sum = 0n;
  for (const entry of delegations.unbondingsFrom(context, operator))
    sum += slashUnbonding(context, keepers, entry, infraction);
  for (const entry of delegations.redelegationsFrom(context, operator))
    sum += slashRedelegation(context, keepers, entry, infraction);
  return sum;
}

/** Returns whether an entry's stake backed the infraction and can still be slashed. */
function isLiable(
  context: Context,
  entry: records.UnbondingEntry | records.RedelegationEntry,
  height: bigint,
): boolean {
  return entry.creationHeight >= height && !delegations.isMature(context, entry);
}

function slashUnbonding(
  context: Context,
  keepers: types.Keepers,
  [pair, unbonding]: readonly [types.Pair, records.Unbonding],
  { height, fraction }: Infraction,
): bigint {
  let due = 0n;
  let burned = 0n;
  const entries = unbonding.entries.map((entry) => {
    if (!isLiable(context, entry, height)) return entry;
    const share = validators.fractionOf(fraction, entry.initialBalance);
    const taken = clamp(share, entry.balance);
    due += share;
    burned += taken;
    return { ...entry, balance: entry.balance - taken };
  });
  if (burned > 0n) delegations.saveUnbonding(context, pair, { ...unbonding, entries });
  validators.burnFrom(context, keepers, types.NOT_BONDED_POOL, burned);
  return due;
}

function slashRedelegation(
  context: Context,
  keepers: types.Keepers,
  [triplet, redelegation]: readonly [types.Triplet, records.Redelegation],
  { height, fraction }: Infraction,
): bigint {
  let due = 0n;
  const burned = { bonded: 0n, notBonded: 0n };
  const pair = { delegator: triplet.delegator, validator: triplet.destination };
  for (const entry of redelegation.entries.filter((one) => isLiable(context, one, height))) {
    due += validators.fractionOf(fraction, entry.initialBalance);
    const delegation = delegations.byPair.get(context, pair);
    const wanted = mulDec18(fraction, entry.sharesDst);
    if (wanted === 0n || delegation === undefined) continue;
    const shares = wanted > delegation.shares ? delegation.shares : wanted;
    const amount = unbond(context, keepers, pair, shares);
    if (validators.isBonded(validators.requireValidator(context, pair.validator))) burned.bonded += amount;
    else burned.notBonded += amount;
  }
  validators.burnFrom(context, keepers, types.BONDED_POOL, burned.bonded);
  validators.burnFrom(context, keepers, types.NOT_BONDED_POOL, burned.notBonded);
  return due;
}

/**
 * Methods that answer contracts' staking queries. The methods' store accesses are the same as in the deployed chain's keeper,
 * because each access consumes gas.
 */
export type ContractReads = ReturnType<typeof createContractReads>;

export function createContractReads({ operators }: types.Keepers) {
  const validatorOf = (context: Context, { validatorAddress }: records.Delegation): records.Validator =>
    validators.requireValidator(context, operators.parse(validatorAddress));
  return {
    bondDenom,
    bondedValidators: (context: Context) => bonded(context).map(termsOf),
    validator: (context: Context, operator: Uint8Array) => {
      const validator = validators.byOperator.get(context, operator);
      return validator === undefined ? undefined : termsOf(validator);
    },
    delegationsOf: (context: Context, delegator: Uint8Array) => {
      const found = [...delegations.byPair.entries(context, lengthPrefixed(delegator))];
      const denom = bondDenom(context);
      return found.map(([, delegation]) => withTokens(delegation, validatorOf(context, delegation), denom));
    },
    delegation: (context: Context, delegator: Uint8Array, validator: Uint8Array) => {
      const delegation = delegations.byPair.get(context, { delegator, validator });
      if (delegation === undefined) return undefined;
      const found = validatorOf(context, delegation);
      return withTokens(delegation, found, bondDenom(context));
    },
    isReceiving: delegations.hasReceiving,
  };
}

function bondDenom(context: Context): string {
  return types.moduleParams.get(context).bondDenom;
}

function bonded(context: Context): readonly records.Validator[] {
  const { maxValidators } = types.moduleParams.get(context);
  const found: records.Validator[] = [];
  for (const operator of validators.operatorsByPower(context)) {
    if (found.length >= maxValidators) break;
    const validator = validators.requireValidator(context, operator);
    if (validators.isBonded(validator)) found.push(validator);
  }
  return found;
}

/** Returns the validator fields that contracts can read. Commission rates are text with 18 decimal places. */
function termsOf({ operatorAddress, commission }: records.Validator) {
  return {
    operatorAddress,
    rate: formatDec18(commission.rate),
    maxRate: formatDec18(commission.maxRate),
    maxChangeRate: formatDec18(commission.maxChangeRate),
  };
}

/** Returns a delegation with bech32 addresses and its value in tokens, rounded down. */
function withTokens(
  { delegatorAddress, validatorAddress, shares }: records.Delegation,
  validator: records.Validator,
  denom: string,
) {
  const amount = truncateDec18(validators.tokensFromShares(validator, shares));
  return { delegatorAddress, validatorAddress, amount: { denom, amount } };
}
