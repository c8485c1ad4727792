import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Dec18 } from "../../../../platform/base/decimal.ts";
import { IntProto } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { ValidatorUpdates } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  mappedCodec,
  messageCodec,
} from "../../store/collections.ts";
import { prefixEnd } from "../../../../platform/base/bytes.ts";
import { ErrNoValidatorFound } from "./errors.ts";
import {
  LAST_POWER,
  LAST_TOTAL_POWER,
  lengthPrefixed,
  MODULE_NAME,
  powerKey,
  splitAddresses,
  VALIDATOR_UPDATES,
  VALIDATORS,
  VALIDATORS_BY_CONSENSUS,
  VALIDATORS_BY_POWER,
} from "./keys.ts";
import { consensusAddressOf, toInteger, type Validator, validatorCodec } from "./records.ts";
import { potentialPower, withoutShares, withTokens } from "./shares.ts";
import type { Environment } from "./types.ts";

const addressKey: Codec<Uint8Array> = {
  encode: lengthPrefixed,
  decode: (bytes) => splitAddresses(bytes)[0] ?? bytes,
};

/** A `google.protobuf.Int64Value`. */
const powerCodec: Codec<bigint> = {
  encode: (value) => (value === 0n ? new Uint8Array(0) : new BinaryWriter().uint32(8).int64(value).finish()),
  decode: (bytes) => {
    const reader = new BinaryReader(bytes);
    if (bytes.length === 0) return 0n;
    reader.uint32();
    return BigInt(reader.int64());
  },
};

/** Validators by operator. */
export const validators = createMap(MODULE_NAME, VALIDATORS, addressKey, validatorCodec);
const operatorsByConsensus = createMap(MODULE_NAME, VALIDATORS_BY_CONSENSUS, addressKey, bytesCodec);
/** Powers of the last block by operator. */
export const lastPowers = createMap(MODULE_NAME, LAST_POWER, addressKey, powerCodec);
export const lastTotalPower = createItem(
  MODULE_NAME,
  LAST_TOTAL_POWER,
  mappedCodec(
    messageCodec<IntProto>(IntProto),
    ({ int }) => toInteger(int),
    (value: bigint) => ({ int: value.toString() }),
  ),
);
/** The updates that the last block returned to the node. */
export const lastUpdates = createItem(
  MODULE_NAME,
  VALIDATOR_UPDATES,
  messageCodec<ValidatorUpdates>(ValidatorUpdates),
);

/** Returns a validator by its operator. Throws staking/3 without one. */
export function requireValidator(context: Context, operator: Uint8Array): Validator {
  const validator = validators.get(context, operator);
  if (validator === undefined) throw ErrNoValidatorFound();
  return validator;
}

/** Returns a validator by the address of its consensus key. */
export function validatorByConsensus(context: Context, consensus: Uint8Array): Validator | undefined {
  const operator = operatorsByConsensus.get(context, consensus);
  return operator === undefined ? undefined : validators.get(context, operator);
}

export function setValidator(context: Context, environment: Environment, validator: Validator): void {
  validators.set(context, environment.operators.parse(validator.operatorAddress), validator);
}

export function setByConsensus(context: Context, environment: Environment, validator: Validator): void {
  const operator = environment.operators.parse(validator.operatorAddress);
  operatorsByConsensus.set(context, consensusAddressOf(validator), operator);
}

/** Adds a validator to the order of power, unless it is jailed. */
export function addToPowerOrder(context: Context, environment: Environment, validator: Validator): void {
  if (validator.jailed) return;
  const operator = environment.operators.parse(validator.operatorAddress);
  context.store(MODULE_NAME).set(powerKey(potentialPower(validator), operator), operator);
}

/** Removes a validator from the order of power. Call it before the tokens change: they are part of the key. */
export function removeFromPowerOrder(context: Context, environment: Environment, validator: Validator): void {
  const operator = environment.operators.parse(validator.operatorAddress);
  context.store(MODULE_NAME).delete(powerKey(potentialPower(validator), operator));
}

/** Walks operators that are not jailed from the highest power to the lowest. */
export function* operatorsByPower(context: Context): IterableIterator<Uint8Array> {
  const end = prefixEnd(VALIDATORS_BY_POWER);
  for (const [, operator] of context.store(MODULE_NAME).iterateReverse(VALIDATORS_BY_POWER, end))
    yield operator;
}

/** Deletes a validator with its indices. */
export function deleteValidator(context: Context, environment: Environment, validator: Validator): void {
  validators.delete(context, environment.operators.parse(validator.operatorAddress));
  operatorsByConsensus.delete(context, consensusAddressOf(validator));
  removeFromPowerOrder(context, environment, validator);
}

/** Stores a change of tokens or shares and moves the validator in the order of power. */
export function changeValidator(
  context: Context,
  environment: Environment,
  before: Validator,
  after: Validator,
): Validator {
  removeFromPowerOrder(context, environment, before);
  setValidator(context, environment, after);
  addToPowerOrder(context, environment, after);
  return after;
}

/** Adds tokens to a validator. Returns the shares that they buy. */
export function addTokens(
  context: Context,
  environment: Environment,
  validator: Validator,
  amount: bigint,
): Dec18 {
  const [after, shares] = withTokens(validator, amount);
  changeValidator(context, environment, validator, after);
  return shares;
}

/** Removes shares from a validator. Returns the new validator and their tokens. */
export function removeShares(
  context: Context,
  environment: Environment,
  validator: Validator,
  shares: Dec18,
): readonly [Validator, bigint] {
  const [after, amount] = withoutShares(validator, shares);
  return [changeValidator(context, environment, validator, after), amount];
}
