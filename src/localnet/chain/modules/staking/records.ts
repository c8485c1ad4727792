import { ed25519Address } from "../../../../cosmos/comet/validator-key.ts";
import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import type { Dec18 } from "../../../../platform/base/decimal.ts";
import { parseGoBigInt } from "../../../../platform/base/integers.ts";
import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { type Codec, mappedCodec, messageCodec } from "../../store/collections.ts";

/** A stored validator, with its numeric strings parsed. */
export interface Validator
  extends Omit<
    wire.Validator,
    "tokens" | "delegatorShares" | "minSelfDelegation" | "unbondingTime" | "commission"
  > {
  readonly tokens: bigint;
  readonly delegatorShares: Dec18;
  readonly minSelfDelegation: bigint;
  readonly unbondingTimeNs: bigint;
  readonly commission: Commission;
}

/** A validator's commission rate and its two limits, scaled by 10^18. */
export interface Rates {
  readonly rate: Dec18;
  readonly maxRate: Dec18;
  readonly maxChangeRate: Dec18;
}

export interface Commission extends Rates {
  readonly updateTimeNs: bigint;
}

export interface Delegation extends Omit<wire.Delegation, "shares"> {
  readonly shares: Dec18;
}

export interface UnbondingEntry
  extends Omit<wire.UnbondingDelegationEntry, "completionTime" | "initialBalance" | "balance"> {
  readonly completionTimeNs: bigint;
  readonly initialBalance: bigint;
  readonly balance: bigint;
}

export interface Unbonding extends Omit<wire.UnbondingDelegation, "entries"> {
  readonly entries: readonly UnbondingEntry[];
}

export interface RedelegationEntry
  extends Omit<wire.RedelegationEntry, "completionTime" | "initialBalance" | "sharesDst"> {
  readonly completionTimeNs: bigint;
  readonly initialBalance: bigint;
  readonly sharesDst: Dec18;
}

export interface Redelegation extends Omit<wire.Redelegation, "entries"> {
  readonly entries: readonly RedelegationEntry[];
}

/**
 * Parses the digits of an amount or decimal like Go: "010" is octal and means 8, and "" means 0. Throws a plain error for a string
 * that is not an integer.
 */
export function toInteger(digits: string): bigint {
  return digits === "" ? 0n : parseGoBigInt(digits);
}

export function validatorFromWire(message: wire.Validator): Validator {
  const { tokens, delegatorShares, minSelfDelegation, unbondingTime, commission, ...rest } = message;
  return {
    ...rest,
    tokens: toInteger(tokens),
    delegatorShares: toInteger(delegatorShares),
    minSelfDelegation: toInteger(minSelfDelegation),
    unbondingTimeNs: timestampToNs(unbondingTime),
    commission: {
      rate: toInteger(commission?.commissionRates?.rate ?? ""),
      maxRate: toInteger(commission?.commissionRates?.maxRate ?? ""),
      maxChangeRate: toInteger(commission?.commissionRates?.maxChangeRate ?? ""),
      updateTimeNs: timestampToNs(commission?.updateTime),
    },
  };
}

export function validatorToWire(validator: Validator): wire.Validator {
  const { tokens, delegatorShares, minSelfDelegation, unbondingTimeNs, commission, ...rest } = validator;
  return {
    ...rest,
    tokens: tokens.toString(),
    delegatorShares: delegatorShares.toString(),
    minSelfDelegation: minSelfDelegation.toString(),
    unbondingTime: nsToTimestamp(unbondingTimeNs),
    commission: {
      commissionRates: {
        rate: commission.rate.toString(),
        maxRate: commission.maxRate.toString(),
        maxChangeRate: commission.maxChangeRate.toString(),
      },
      updateTime: nsToTimestamp(commission.updateTimeNs),
    },
  };
}

export function delegationFromWire(message: wire.Delegation): Delegation {
  return { ...message, shares: toInteger(message.shares) };
}

export function delegationToWire(delegation: Delegation): wire.Delegation {
  return { ...delegation, shares: delegation.shares.toString() };
}

export function unbondingFromWire(message: wire.UnbondingDelegation): Unbonding {
  const entries = message.entries.map(({ completionTime, initialBalance, balance, ...entry }) => ({
    ...entry,
    completionTimeNs: timestampToNs(completionTime),
    initialBalance: toInteger(initialBalance),
    balance: toInteger(balance),
  }));
  return { ...message, entries };
}

export function unbondingToWire(unbonding: Unbonding): wire.UnbondingDelegation {
  const entries = unbonding.entries.map(({ completionTimeNs, initialBalance, balance, ...entry }) => ({
    ...entry,
    completionTime: nsToTimestamp(completionTimeNs),
    initialBalance: initialBalance.toString(),
    balance: balance.toString(),
  }));
  return { ...unbonding, entries };
}

export function redelegationFromWire(message: wire.Redelegation): Redelegation {
  const entries = message.entries.map(({ completionTime, initialBalance, sharesDst, ...entry }) => ({
    ...entry,
    completionTimeNs: timestampToNs(completionTime),
    initialBalance: toInteger(initialBalance),
    sharesDst: toInteger(sharesDst),
  }));
  return { ...message, entries };
}

export function redelegationToWire(redelegation: Redelegation): wire.Redelegation {
  const entries = redelegation.entries.map(({ completionTimeNs, initialBalance, sharesDst, ...entry }) => ({
    ...entry,
    completionTime: nsToTimestamp(completionTimeNs),
    initialBalance: initialBalance.toString(),
    sharesDst: sharesDst.toString(),
  }));
  return { ...redelegation, entries };
}

export const validatorCodec: Codec<Validator> = mappedCodec(
  messageCodec(wire.Validator),
  validatorFromWire,
  validatorToWire,
);
export const delegationCodec: Codec<Delegation> = mappedCodec(
  messageCodec(wire.Delegation),
  delegationFromWire,
  delegationToWire,
);
export const unbondingCodec: Codec<Unbonding> = mappedCodec(
  messageCodec(wire.UnbondingDelegation),
  unbondingFromWire,
  unbondingToWire,
);
export const redelegationCodec: Codec<Redelegation> = mappedCodec(
  messageCodec(wire.Redelegation),
  redelegationFromWire,
  redelegationToWire,
);

/** Returns the ed25519 key (32 bytes) in a packed public key, or undefined for any other key type. */
export function ed25519KeyOf(packed: wire.Validator["consensusPubkey"]): Uint8Array | undefined {
  if (packed?.typeUrl !== TYPE_URL.ed25519PubKey) return undefined;
  const key = decodedKey(packed.value);
  return key?.length === 32 ? key : undefined;
}

function decodedKey(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return PubKey.decode(bytes).key;
  } catch {
    return undefined;
  }
}

/**
 * Returns a stored validator's ed25519 key. Throws a plain error (a bug) for any other key type, because messages and the genesis
 * import reject such keys.
 */
export function consensusKeyOf(validator: Validator): Uint8Array {
  const key = ed25519KeyOf(validator.consensusPubkey);
  if (key === undefined) throw new Error(`validator ${validator.operatorAddress} has no ed25519 key`);
  return key;
}

/** Returns a stored validator's consensus address (20 bytes). */
export function consensusAddressOf(validator: Validator): Uint8Array {
  return ed25519Address(consensusKeyOf(validator));
}
