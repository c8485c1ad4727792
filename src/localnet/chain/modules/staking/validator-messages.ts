import { ed25519Address } from "../../../../cosmos/comet/validator-key.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type {
  MsgCreateValidator,
  MsgEditValidator,
} from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { formatCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest, ErrInvalidType } from "../../runtime/errors.ts";
import { delegate } from "./delegate.ts";
import {
  ErrMinSelfDelegationDecreased,
  ErrSelfDelegationBelowMinimum,
  ErrValidatorOwnerExists,
  ErrValidatorPubKeyExists,
  ErrValidatorPubKeyTypeNotSupported,
} from "./errors.ts";
import { createdValidator, editedValidator } from "./events.ts";
import {
  addressOf,
  editCommission,
  editDescription,
  type NewValidator,
  requireBondDenom,
  requireMinimumRate,
  requireShort,
  validateCreate,
  validateNewRate,
} from "./messages.ts";
import { ed25519KeyOf, integerOf, type Validator } from "./records.ts";
import type { Environment } from "./types.ts";
import {
  addToPowerOrder,
  requireValidator,
  setByConsensus,
  setValidator,
  validatorByConsensus,
  validators,
} from "./validators.ts";

/** `MsgCreateValidator`: registers a validator with its first delegation. It can enter the active set at the end of the block. */
export function createValidator(
  context: Context,
  environment: Environment,
  message: MsgCreateValidator,
): void {
  const operator = addressOf(environment.operators, message.validatorAddress, "validator");
  const fields = validateCreate(message);
  requireMinimumRate(context, fields.rates);
  if (validators.get(context, operator) !== undefined) throw ErrValidatorOwnerExists();
  const key = ed25519KeyOf(message.pubkey);
  if (key === undefined) throw ErrInvalidType("Expecting cryptotypes.PubKey of type ed25519, 32 bytes");
  if (validatorByConsensus(context, ed25519Address(key)) !== undefined) throw ErrValidatorPubKeyExists();
  requireBondDenom(context, fields.value);
  requireShort(fields.description);
  requireKeyType(context, environment);
  const validator = newValidator(context, message, fields);
  setValidator(context, environment, validator);
  setByConsensus(context, environment, validator);
  addToPowerOrder(context, environment, validator);
  environment.hooks.afterValidatorCreated(context, operator);
  const { amount } = fields.value;
  delegate(context, environment, validator, { delegator: operator, amount, from: "account" });
  context.emit(createdValidator(message.validatorAddress, formatCoin(fields.value)));
}

function requireKeyType(context: Context, { keyTypes }: Environment): void {
  const allowed = keyTypes(context);
  if (allowed.includes("ed25519")) return;
  throw ErrValidatorPubKeyTypeNotSupported(`got: ed25519, expected: [${allowed.join(" ")}]`);
}

function newValidator(context: Context, message: MsgCreateValidator, fields: NewValidator): Validator {
  return {
    operatorAddress: message.validatorAddress,
    consensusPubkey: message.pubkey,
    jailed: false,
    status: BondStatus.BOND_STATUS_UNBONDED,
    tokens: 0n,
    delegatorShares: 0n,
    description: fields.description,
    unbondingHeight: 0n,
    unbondingTimeNs: 0n,
    commission: { ...fields.rates, updateTimeNs: context.timeNs },
    minSelfDelegation: fields.minSelfDelegation,
    unbondingOnHoldRefCount: 0n,
    unbondingIds: [],
  };
}

/** `MsgEditValidator`: changes description, commission or minimum self-delegation. The hook runs only for a commission. */
export function editValidator(context: Context, environment: Environment, message: MsgEditValidator): void {
  const operator = addressOf(environment.operators, message.validatorAddress, "validator");
  const minimum = message.minSelfDelegation === "" ? undefined : integerOf(message.minSelfDelegation);
  const rate = message.commissionRate === "" ? undefined : integerOf(message.commissionRate);
  editDescription(undefined, message.description);
  if (minimum !== undefined && minimum <= 0n)
    throw ErrInvalidRequest("minimum self delegation must be a positive integer");
  if (rate !== undefined) validateNewRate(context, rate);
  const found = requireValidator(context, operator);
  const described = { ...found, description: editDescription(found.description, message.description) };
  const rated = rate === undefined ? described : withRate(context, environment, described, rate);
  const edited = minimum === undefined ? rated : withMinimum(rated, minimum);
  setValidator(context, environment, edited);
  context.emit(editedValidator(edited));
}

function withRate(
  context: Context,
  { hooks, operators }: Environment,
  validator: Validator,
  rate: bigint,
): Validator {
  const commission = editCommission(context, validator.commission, rate);
  hooks.beforeValidatorModified(context, operators.parse(validator.operatorAddress));
  return { ...validator, commission };
}

function withMinimum(validator: Validator, minimum: bigint): Validator {
  if (minimum <= validator.minSelfDelegation) throw ErrMinSelfDelegationDecreased();
  if (minimum > validator.tokens) throw ErrSelfDelegationBelowMinimum();
  return { ...validator, minSelfDelegation: minimum };
}
