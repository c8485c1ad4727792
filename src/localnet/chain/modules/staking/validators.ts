import {
  addressCodec,
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  mappedCodec,
  messageCodec,
} from "../../store/collections.ts";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { IntProto } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { fromUtf8, prefixEnd, readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientShares, ErrNoValidatorFound } from "./errors.ts";
import * as types from "./types.ts";
import { consensusAddressOf, toInteger, type Validator, validatorCodec } from "./records.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";

/** Encodes a power as a `google.protobuf.Int64Value`. */
const powerCodec: Codec<bigint> = {
  encode: (value) => (value === 0n ? new Uint8Array(0) : new BinaryWriter().uint32(8).int64(value).finish()),
  decode: (bytes) => {
    const reader = new BinaryReader(bytes);
    if (bytes.length === 0) return 0n;
    reader.uint32();
    return BigInt(reader.int64());
  },
};

export const byOperator = createMap(types.MODULE_NAME, types.VALIDATORS, addressCodec, validatorCodec);
const operatorsByConsensus = createMap(types.MODULE_NAME, Uint8Array.of(0x22), addressCodec, bytesCodec);
/** Consensus power of each validator in the last block, keyed by operator address. */
export const lastPowers = createMap(types.MODULE_NAME, Uint8Array.of(0x11), addressCodec, powerCodec);
export const lastTotalPower = createItem(
  types.MODULE_NAME,
  Uint8Array.of(0x12),
  mappedCodec(
    messageCodec(IntProto),
    ({ int }) => toInteger(int),
    (value: bigint) => ({ int: value.toString() }),
  ),
);
/** The updates that the last block returned to the node. */
export const lastUpdates = createItem(
  types.MODULE_NAME,
  Uint8Array.of(0x61),
  messageCodec(wire.ValidatorUpdates),
);

/** Returns a validator by operator address, or throws staking/3 if there is no such validator. */
export function requireValidator(context: Context, operator: Uint8Array): Validator {
  const validator = byOperator.get(context, operator);
  if (validator === undefined) throw ErrNoValidatorFound();
  return validator;
}

export function validatorByConsensus(context: Context, consensus: Uint8Array): Validator | undefined {
  const operator = operatorsByConsensus.get(context, consensus);
  return operator === undefined ? undefined : byOperator.get(context, operator);
}

export function setValidator(context: Context, keepers: types.Keepers, validator: Validator): void {
  byOperator.set(context, keepers.operators.parse(validator.operatorAddress), validator);
}

export function setByConsensus(context: Context, keepers: types.Keepers, validator: Validator): void {
  const operator = keepers.operators.parse(validator.operatorAddress);
  operatorsByConsensus.set(context, consensusAddressOf(validator), operator);
}

/** Adds a validator to the power order unless it is jailed. */
export function addToPowerOrder(context: Context, keepers: types.Keepers, validator: Validator): void {
  if (validator.jailed) return;
  const operator = keepers.operators.parse(validator.operatorAddress);
  context.store(types.MODULE_NAME).set(types.powerKey(potentialPower(validator), operator), operator);
}

/**
 * Removes a validator from the power order. Call this function before the validator's tokens change, because the key contains the
 * power.
 */
export function removeFromPowerOrder(context: Context, keepers: types.Keepers, validator: Validator): void {
  const operator = keepers.operators.parse(validator.operatorAddress);
  context.store(types.MODULE_NAME).delete(types.powerKey(potentialPower(validator), operator));
}

/** Iterates over the operators whose validators are not jailed, from highest to lowest power. */
export function* operatorsByPower(context: Context): IterableIterator<Uint8Array> {
  const end = prefixEnd(types.VALIDATORS_BY_POWER);
  for (const [, operator] of context.store(types.MODULE_NAME).iterateReverse(types.VALIDATORS_BY_POWER, end))
    yield operator;
}

export function deleteValidator(context: Context, keepers: types.Keepers, validator: Validator): void {
  byOperator.delete(context, keepers.operators.parse(validator.operatorAddress));
  operatorsByConsensus.delete(context, consensusAddressOf(validator));
  removeFromPowerOrder(context, keepers, validator);
}

/** Stores a validator's new tokens and shares, and updates its position in the power order. */
export function changeValidator(
  context: Context,
  keepers: types.Keepers,
  before: Validator,
  after: Validator,
): Validator {
  removeFromPowerOrder(context, keepers, before);
  setValidator(context, keepers, after);
  addToPowerOrder(context, keepers, after);
  return after;
}

/** Adds tokens to a validator and returns the shares issued for these tokens. The first delegation gets one share per token. */
export function addTokens(
  context: Context,
  keepers: types.Keepers,
  validator: Validator,
  amount: bigint,
): decimal.Dec18 {
  const { tokens, delegatorShares } = validator;
  const issued = delegatorShares === 0n ? amount * decimal.DEC18_ONE : sharesFromTokens(validator, amount);
  const after = { ...validator, tokens: tokens + amount, delegatorShares: delegatorShares + issued };
  changeValidator(context, keepers, validator, after);
  return issued;
}

/**
 * Removes shares from a validator. Returns the updated validator and the tokens that the shares are worth, rounded down. If no
 * shares are left, returns all tokens.
 */
export function removeShares(
  context: Context,
  keepers: types.Keepers,
  validator: Validator,
  shares: decimal.Dec18,
): readonly [Validator, bigint] {
  const remaining = validator.delegatorShares - shares;
  const amount =
    remaining === 0n ? validator.tokens : decimal.truncateDec18(tokensFromShares(validator, shares));
  const after = { ...validator, tokens: validator.tokens - amount, delegatorShares: remaining };
  return [changeValidator(context, keepers, validator, after), amount];
}

// The following functions calculate and round like x/staking/types/validator.go.

/** Tokens per unit of consensus power. */
export const POWER_REDUCTION = 1_000_000n;

/** Returns the power that a validator has while it is bonded. */
export function potentialPower({ tokens }: Validator): bigint {
  return tokens / POWER_REDUCTION;
}

export function isBonded({ status }: Validator): boolean {
  return status === wire.BondStatus.BOND_STATUS_BONDED;
}

/** Returns whether a validator has shares but no tokens left after slashing, so that nobody can delegate to it. */
export function hasInvalidRate({ tokens, delegatorShares }: Validator): boolean {
  return tokens === 0n && delegatorShares > 0n;
}

/** Returns the tokens that shares are worth, as a decimal, rounded half to even. */
export function tokensFromShares(
  { tokens, delegatorShares }: Validator,
  shares: decimal.Dec18,
): decimal.Dec18 {
  return decimal.quoDec18(shares * tokens, delegatorShares);
}

/** Returns the shares that an amount is worth, rounded down. Throws staking/22 for a validator without tokens. */
export function sharesFromTokens({ tokens, delegatorShares }: Validator, amount: bigint): decimal.Dec18 {
  if (tokens === 0n) throw ErrInsufficientShares();
  return (delegatorShares * amount) / tokens;
}

/** Returns a fraction of an amount, rounded down. */
export function fractionOf(fraction: decimal.Dec18, amount: bigint): bigint {
  return decimal.truncateDec18(decimal.mulDec18(fraction, amount * decimal.DEC18_ONE));
}

/** Returns `amount / total` as a decimal, rounded up and capped at 1. */
export function effectiveFraction(amount: bigint, total: bigint): decimal.Dec18 {
  // Go divides with 36 digits, rounds down, then rounds up to 18 digits.
  const exact = (amount * decimal.DEC18_ONE * decimal.DEC18_ONE) / total;
  const fraction = exact / decimal.DEC18_ONE + (exact % decimal.DEC18_ONE === 0n ? 0n : 1n);
  return fraction > decimal.DEC18_ONE ? decimal.DEC18_ONE : fraction;
}

const codec = messageCodec(wire.ValAddresses);
/** Number of bytes before the time in a queue key: the prefix and the time's length. */
const TIME_OFFSET = 9;

function keyOf({ unbondingTimeNs, unbondingHeight }: Validator): Uint8Array {
  return types.validatorQueueKey(unbondingTimeNs, unbondingHeight);
}

function addressesAt(context: Context, key: Uint8Array): readonly string[] {
  const known = context.store(types.MODULE_NAME).get(key);
  return known === undefined ? [] : codec.decode(known).addresses;
}

function setAddresses(context: Context, key: Uint8Array, addresses: readonly string[]): void {
  const store = context.store(types.MODULE_NAME);
  if (addresses.length === 0) store.delete(key);
  else store.set(key, codec.encode({ addresses: [...addresses] }));
}

/** Adds an unbonding validator to the queue, under the time at which its unbonding ends. */
export function addToValidatorQueue(context: Context, validator: Validator): void {
  const key = keyOf(validator);
  setAddresses(context, key, [...addressesAt(context, key), validator.operatorAddress]);
}

/** Removes a validator from the queue of unbonding validators, if present. */
export function removeFromValidatorQueue(context: Context, validator: Validator): void {
  const key = keyOf(validator);
  const others = addressesAt(context, key).filter((address) => address !== validator.operatorAddress);
  setAddresses(context, key, others);
}

/** Returns the operators (as text) whose unbonding time and height have been reached, ordered by time. */
export function dueValidators(context: Context): readonly string[] {
  const now = fromUtf8(types.timeKey(context.timeNs));
  const range = context
    .store(types.MODULE_NAME)
    .iterate(types.VALIDATOR_QUEUE, types.validatorQueueKey(context.timeNs, context.height + 1n));
  return [...range].flatMap(([key, value]) => {
    const time = fromUtf8(key.subarray(TIME_OFFSET, key.length - 8));
    const isDue = time <= now && readUint64BigEndian(key, key.length - 8) <= context.height;
    return isDue ? codec.decode(value).addresses : [];
  });
}

/** Returns the module account that holds a validator's tokens. */
export function poolOf(validator: Validator): string {
  return isBonded(validator) ? types.BONDED_POOL : types.NOT_BONDED_POOL;
}

export function bondedToNotBonded(context: Context, { bank }: types.Keepers, amount: bigint): void {
  bank.sendBetweenModules(
    context,
    types.BONDED_POOL,
    types.NOT_BONDED_POOL,
    types.bondCoins(context, amount),
  );
}

export function notBondedToBonded(context: Context, { bank }: types.Keepers, amount: bigint): void {
  bank.sendBetweenModules(
    context,
    types.NOT_BONDED_POOL,
    types.BONDED_POOL,
    types.bondCoins(context, amount),
  );
}

/** Burns tokens from a pool unless the amount is zero. */
export function burnFrom(context: Context, { bank }: types.Keepers, pool: string, amount: bigint): void {
  if (amount > 0n) bank.burn(context, pool, types.bondCoins(context, amount));
}
