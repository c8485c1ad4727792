import { lengthPrefixed, createMap, messageCodec, uint64Codec } from "../../store/collections.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { Header } from "../../../../cosmos/proto/gen/tendermint/types/types.ts";
import { compareBytes, concat, toHex } from "../../../../platform/base/bytes.ts";
import type { ValidatorPower } from "../../runtime/abci.ts";
import type { Context, BlockInput } from "../../runtime/context.ts";
import { MODULE_NAME, VALIDATORS, moduleParams, unbondingTimeNs, type Keepers } from "./types.ts";
import { consensusAddressOf, consensusKeyOf, type Validator, validatorToWire } from "./records.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";

/**
 * Moves validators into and out of the active set by power, moves their tokens between the pools, and stores the updates for the
 * node. The updates list the validators of the active set first, by descending power. The validators that leave the set follow, in
 * operator order.
 */
export function updateValidatorSet(context: Context, keepers: Keepers): void {
  const last = new Map([...validators.lastPowers.entries(context)].map((entry) => [toHex(entry[0]), entry]));
  const updates: ValidatorPower[] = [];
  const entered = fillActiveSet(context, keepers, last, updates);
  const left = emptyActiveSet(context, keepers, [...last.values()], updates);
  if (entered.tokens > left) validators.notBondedToBonded(context, keepers, entered.tokens - left);
  if (entered.tokens < left) validators.bondedToNotBonded(context, keepers, left - entered.tokens);
  if (updates.length > 0) validators.lastTotalPower.set(context, entered.totalPower);
  storeUpdates(context, updates);
}

type LastPowers = Map<string, readonly [operator: Uint8Array, power: bigint]>;

/** Bonds the validators with the highest power and deletes their entries in `last`. Returns the newly bonded tokens and the total power. */
function fillActiveSet(
  context: Context,
  keepers: Keepers,
  last: LastPowers,
  updates: ValidatorPower[],
): { readonly tokens: bigint; readonly totalPower: bigint } {
  const { maxValidators } = moduleParams.get(context);
  let count = 0;
  let tokens = 0n;
  let totalPower = 0n;
  for (const operator of validators.operatorsByPower(context)) {
    if (count >= maxValidators) break;
    const found = validators.requireValidator(context, operator);
    const power = validators.potentialPower(found);
    // Stop here, because all remaining validators have no power, either.
    if (power === 0n) break;
    if (!validators.isBonded(found)) {
      bond(context, keepers, found);
      tokens += found.tokens;
    }
    if (last.get(toHex(operator))?.[1] !== power) {
      updates.push({ publicKey: consensusKeyOf(found), power });
      validators.lastPowers.set(context, operator, power);
    }
    last.delete(toHex(operator));
    count += 1;
    totalPower += power;
  }
  return { tokens, totalPower };
}

/** Unbonds validators that are no longer active, and returns the sum of these validators' tokens. */
function emptyActiveSet(
  context: Context,
  keepers: Keepers,
  leaving: readonly (readonly [operator: Uint8Array, power: bigint])[],
  updates: ValidatorPower[],
): bigint {
  let tokens = 0n;
  for (const [operator] of leaving.toSorted(([a], [b]) => compareBytes(a, b))) {
    const validator = validators.requireValidator(context, operator);
    beginUnbonding(context, keepers, validator);
    tokens += validator.tokens;
    validators.lastPowers.delete(context, operator);
    updates.push({ publicKey: consensusKeyOf(validator), power: 0n });
  }
  return tokens;
}

function bond(context: Context, keepers: Keepers, validator: Validator): void {
  validators.removeFromPowerOrder(context, keepers, validator);
  const bonded = { ...validator, status: wire.BondStatus.BOND_STATUS_BONDED };
  validators.setValidator(context, keepers, bonded);
  validators.addToPowerOrder(context, keepers, bonded);
  validators.removeFromValidatorQueue(context, bonded);
  const operator = keepers.operators.parse(validator.operatorAddress);
  keepers.hooks.afterValidatorBonded(context, consensusAddressOf(validator), operator);
}

function beginUnbonding(context: Context, keepers: Keepers, validator: Validator): void {
  validators.removeFromPowerOrder(context, keepers, validator);
  const id = delegations.takeUnbondingId(context);
  const unbonding = {
    ...validator,
    status: wire.BondStatus.BOND_STATUS_UNBONDING,
    unbondingTimeNs: context.timeNs + unbondingTimeNs(moduleParams.get(context)),
    unbondingHeight: context.height,
    unbondingIds: [...validator.unbondingIds, id],
  };
  validators.setValidator(context, keepers, unbonding);
  validators.addToPowerOrder(context, keepers, unbonding);
  validators.addToValidatorQueue(context, unbonding);
  const operator = keepers.operators.parse(validator.operatorAddress);
  const { hooks } = keepers;
  hooks.afterValidatorBeginUnbonding(context, consensusAddressOf(validator), operator);
  delegations.indexUnbonding(
    context,
    id,
    delegations.UNBONDING_KIND.validator,
    concat(VALIDATORS, lengthPrefixed(operator)),
  );
  hooks.afterUnbondingInitiated(context, id);
}

/** Stores a block's updates for {@link updatesOf}. */
export function storeUpdates(context: Context, updates: readonly ValidatorPower[]): void {
  validators.lastUpdates.set(context, {
    updates: updates.map(({ publicKey, power }) => ({
      pubKey: { sum: { $case: "ed25519", value: publicKey } },
      power,
    })),
  });
}

/** Returns the block's validator updates: keys and powers. A validator that left the set has power 0. */
export function updatesOf(context: Context): readonly ValidatorPower[] {
  const { updates } = validators.lastUpdates.get(context) ?? wire.ValidatorUpdates.decode(new Uint8Array(0));
  return updates.flatMap(({ pubKey, power }) =>
    pubKey?.sum?.$case === "ed25519" ? [{ publicKey: pubKey.sum.value, power }] : [],
  );
}

/** Headers and active sets of recent blocks, keyed by height. */
export const historicalInfos = createMap(
  MODULE_NAME,
  Uint8Array.of(0x50),
  uint64Codec,
  messageCodec(wire.HistoricalInfo),
);

/**
 * At the start of a block, stores its header and the last block's active set, in descending order of power. Deletes entries that
 * are `historical_entries` or more heights old.
 */
export function trackHistoricalInfo(context: Context, block: BlockInput): void {
  const entries = BigInt(moduleParams.get(context).historicalEntries);
  // The entries to delete have consecutive heights: usually a single entry, but several after `historical_entries` has been lowered.
  for (let old = context.height - entries; old >= 0n && historicalInfos.has(context, old); old -= 1n)
    historicalInfos.delete(context, old);
  if (entries === 0n) return;
  const valset = [...validators.lastPowers.entries(context)].map(([operator]) =>
    validators.requireValidator(context, operator),
  );
  historicalInfos.set(context, context.height, {
    header: headerOf(context, block),
    valset: valset.toSorted(byPower).map(validatorToWire),
  });
}

/** Compares validators in CometBFT's order: by power, then by address. */
function byPower(a: Validator, b: Validator): number {
  const [powerA, powerB] = [validators.potentialPower(a), validators.potentialPower(b)];
  if (powerA !== powerB) return powerA > powerB ? -1 : 1;
  return compareBytes(consensusAddressOf(a), consensusAddressOf(b));
}

/** Returns a header that contains only the fields that the node passes to the application. All other fields are empty. */
function headerOf({ chainId, height, timeNs }: Context, block: BlockInput): Header {
  const none = new Uint8Array(0);
  const { nextValidatorsHash = none, appHash = none, proposerAddress = none } = block;
  return {
    ...Header.decode(none),
    version: { block: 0n, app: 0n },
    chainId,
    height,
    time: nsToTimestamp(timeNs),
    lastBlockId: { hash: none, partSetHeader: { total: 0, hash: none } },
    nextValidatorsHash,
    appHash,
    proposerAddress,
  };
}
