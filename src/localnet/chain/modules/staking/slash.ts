import { type Dec18, formatDec18, mulDec18 } from "../../../../platform/base/decimal.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { unbond } from "./delegate.ts";
import { delegations } from "./delegations.ts";
import { BONDED_POOL, NOT_BONDED_POOL } from "./keys.ts";
import { burnFrom, poolOf } from "./pools.ts";
import type { Redelegation, RedelegationEntry, Unbonding, UnbondingEntry, Validator } from "./records.ts";
import { redelegationsFrom } from "./redelegations.ts";
import { effectiveFraction, fractionOf, isBonded, POWER_REDUCTION } from "./shares.ts";
import type { Environment, Pair, Triplet } from "./types.ts";
import { ignoringErrors } from "./unbonding-ids.ts";
import { isMature, saveUnbonding, unbondingsFrom } from "./unbondings.ts";
import { changeValidator, requireValidator, validatorByConsensus } from "./validators.ts";

/** An infraction of a validator. */
export interface Infraction {
  /** 20 bytes. */
  readonly consensus: Uint8Array;
  readonly height: bigint;
  /** Power of the validator at that height. */
  readonly power: bigint;
  readonly fraction: Dec18;
}

/**
 * Burns a part of the stake that backed an infraction: first of undelegations and redelegations since then, the rest of the
 * validator. Returns what the validator lost; nothing for an unknown validator. Throws for one that is not bonded any more.
 */
export function slash(context: Context, environment: Environment, infraction: Infraction): bigint {
  const { consensus, height, power, fraction } = infraction;
  const amount = fractionOf(fraction, power * POWER_REDUCTION);
  const validator = validatorByConsensus(context, consensus);
  if (validator === undefined) return 0n;
  requireSlashable(validator);
  const operator = environment.operators.parse(validator.operatorAddress);
  ignoringErrors(() => environment.hooks.beforeValidatorModified(context, operator));
  if (height > context.height) {
    const text = `impossible attempt to slash future infraction at height ${height} but we are at height ${context.height}`;
    throw unregisteredError(text);
  }
  const elsewhere = height < context.height ? slashMoved(context, environment, operator, infraction) : 0n;
  const toBurn = clamp(amount - elsewhere, validator.tokens);
  if (toBurn > 0n) burnTokens(context, environment, validator, toBurn);
  return toBurn;
}

function requireSlashable(validator: Validator): void {
  if (validator.status !== BondStatus.BOND_STATUS_UNBONDED) return;
  throw unregisteredError(`should not be slashing unbonded validator: ${validator.operatorAddress}`);
}

function clamp(amount: bigint, most: bigint): bigint {
  const least = amount < 0n ? 0n : amount;
  return least > most ? most : least;
}

function burnTokens(context: Context, environment: Environment, validator: Validator, toBurn: bigint): void {
  const operator = environment.operators.parse(validator.operatorAddress);
  const fraction = formatDec18(effectiveFraction(toBurn, validator.tokens));
  ignoringErrors(() =>
    environment.hooks.beforeValidatorSlashedWithTokensToBurn(context, operator, {
      fraction,
      tokensToBurn: toBurn,
    }),
  );
  const after = { ...validator, tokens: validator.tokens - toBurn };
  changeValidator(context, environment, validator, after);
  burnFrom(context, environment, poolOf(validator), toBurn);
}

/** Slashes what left the validator since the infraction. Returns the sum that it should have lost. */
function slashMoved(
  context: Context,
  environment: Environment,
  operator: Uint8Array,
  infraction: Infraction,
): bigint {
  let sum = 0n;
  for (const [pair, unbonding] of unbondingsFrom(context, operator))
    sum += slashUnbonding(context, environment, [pair, unbonding], infraction);
  for (const [triplet, redelegation] of redelegationsFrom(context, operator))
    sum += slashRedelegation(context, environment, [triplet, redelegation], infraction);
  return sum;
}

/** Whether the stake of an entry backed the infraction and can still be slashed. */
function isLiable(context: Context, entry: UnbondingEntry | RedelegationEntry, height: bigint): boolean {
  return entry.creationHeight >= height && !isMature(context, entry);
}

function slashUnbonding(
  context: Context,
  environment: Environment,
  [pair, unbonding]: readonly [Pair, Unbonding],
  { height, fraction }: Infraction,
): bigint {
  let due = 0n;
  let burned = 0n;
  const entries = unbonding.entries.map((entry) => {
    if (!isLiable(context, entry, height)) return entry;
    const share = fractionOf(fraction, entry.initialBalance);
    const taken = clamp(share, entry.balance);
    due += share;
    burned += taken;
    return { ...entry, balance: entry.balance - taken };
  });
  if (burned > 0n) saveUnbonding(context, pair, { ...unbonding, entries });
  burnFrom(context, environment, NOT_BONDED_POOL, burned);
  return due;
}

function slashRedelegation(
  context: Context,
  environment: Environment,
  [triplet, redelegation]: readonly [Triplet, Redelegation],
  { height, fraction }: Infraction,
): bigint {
  let due = 0n;
  const burned = { bonded: 0n, notBonded: 0n };
  const pair = { delegator: triplet.delegator, validator: triplet.destination };
  for (const entry of redelegation.entries.filter((one) => isLiable(context, one, height))) {
    due += fractionOf(fraction, entry.initialBalance);
    const delegation = delegations.get(context, pair);
    const wanted = mulDec18(fraction, entry.sharesDst);
    if (wanted === 0n || delegation === undefined) continue;
    const shares = wanted > delegation.shares ? delegation.shares : wanted;
    const amount = unbond(context, environment, pair, shares);
    if (isBonded(requireValidator(context, pair.validator))) burned.bonded += amount;
    else burned.notBonded += amount;
  }
  burnFrom(context, environment, BONDED_POOL, burned.bonded);
  burnFrom(context, environment, NOT_BONDED_POOL, burned.notBonded);
  return due;
}
