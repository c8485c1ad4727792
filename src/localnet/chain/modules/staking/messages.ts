import { utf8 } from "../../../../platform/base/bytes.ts";
import { DEC18_ONE, formatDec18 } from "../../../../platform/base/decimal.ts";
import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Description } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { MsgCreateValidator } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { type Coin, isDenom, parseCoins, parseWireInt } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { moduleParams, type AddressCodec } from "./types.ts";
import { type Commission, type Rates, toInteger } from "./records.ts";
import * as stakingErrors from "./errors.ts";

const DAY_NS = 86_400_000_000_000n;

/** Maximum lengths of a description's fields, in bytes. */
const MAX_LENGTHS = [
  ["moniker", "moniker", 70],
  ["identity", "identity", 3000],
  ["website", "website", 140],
  ["securityContact", "security contact", 140],
  ["details", "details", 280],
] as const;

const KEEP = "[do-not-modify]";

/** Parses an address from a message, or throws sdk/7 with `role` in the error text. */
export function addressOf(codec: AddressCodec, text: string, role: string): Uint8Array {
  return errors.orThrowWith(errors.ErrInvalidAddress, `invalid ${role} address`, () => codec.parse(text));
}

/** Parses a message's coin. Throws sdk/18 with the text `words` if the coin is missing, invalid or not positive. */
export function positiveCoin(amount: WireCoin | undefined, words: string): Coin {
  const [coin] = amount === undefined ? [] : parseCoins([amount]);
  if (coin === undefined || !isDenom(coin.denom) || coin.amount <= 0n) throw errors.ErrInvalidRequest(words);
  return coin;
}

/** Throws sdk/18 unless a coin has the bonded denomination. */
export function requireBondDenom(context: Context, { denom }: Coin): void {
  const { bondDenom } = moduleParams.get(context);
  if (denom !== bondDenom)
    throw errors.ErrInvalidRequest(`invalid coin denomination: got ${denom}, expected ${bondDenom}`);
}

/** The fields of a MsgCreateValidator that define the new validator, after validation. */
export interface NewValidator {
  readonly value: Coin;
  readonly rates: Rates;
  readonly minSelfDelegation: bigint;
  readonly description: Description;
}

/** Validates a `MsgCreateValidator` without reading the state. The checks run in the SDK's order. */
export function validateCreate(message: MsgCreateValidator): NewValidator {
  if (message.pubkey === undefined) throw stakingErrors.ErrEmptyValidatorPubKey();
  const value = positiveCoin(message.value, "invalid delegation amount");
  const { description } = message;
  if (description === undefined || isEmpty(description)) throw errors.ErrInvalidRequest("empty description");
  const { commission } = message;
  if (commission === undefined || Object.values(commission).every((text) => text === ""))
    throw errors.ErrInvalidRequest("empty commission");
  const rates = {
    rate: parseWireInt(commission.rate),
    maxRate: parseWireInt(commission.maxRate),
    maxChangeRate: parseWireInt(commission.maxChangeRate),
  };
  validateRates(rates);
  const minSelfDelegation = parseWireInt(message.minSelfDelegation);
  if (minSelfDelegation <= 0n)
    throw errors.ErrInvalidRequest("minimum self delegation must be a positive integer");
  if (value.amount < minSelfDelegation) throw stakingErrors.ErrSelfDelegationBelowMinimum();
  return { value, rates, minSelfDelegation, description };
}

function isEmpty(description: Description): boolean {
  return Object.values(description).every((text) => text === "");
}

function validateRates({ rate, maxRate, maxChangeRate }: Rates): void {
  if (maxRate < 0n) throw stakingErrors.ErrCommissionNegative();
  if (maxRate > DEC18_ONE) throw stakingErrors.ErrCommissionHuge();
  if (rate < 0n) throw stakingErrors.ErrCommissionNegative();
  if (rate > maxRate) throw stakingErrors.ErrCommissionGTMaxRate();
  if (maxChangeRate < 0n) throw stakingErrors.ErrCommissionChangeRateNegative();
  if (maxChangeRate > maxRate) throw stakingErrors.ErrCommissionChangeRateGTMaxRate();
}

/** Throws staking/40 if a rate is below the minimum in the parameters. */
export function requireMinimumRate(context: Context, { rate }: Rates): void {
  const least = toInteger(moduleParams.get(context).minCommissionRate);
  if (rate >= least) return;
  const text = `cannot set validator commission to less than minimum rate of ${formatDec18(least)}`;
  throw stakingErrors.ErrCommissionLTMinRate(text);
}

/** Throws sdk/18 if a field of the description is too long. */
export function requireShort(description: Description): Description {
  for (const [field, name, max] of MAX_LENGTHS) {
    const got = utf8(description[field]).length;
    if (got > max) throw errors.ErrInvalidRequest(`invalid ${name} length; got: ${got}, max: ${max}`);
  }
  return description;
}

/**
 * Merges an edited description into the current description. A field with the text "[do-not-modify]" stays unchanged. Throws sdk/18
 * if the edit is empty or a field is too long.
 */
export function editDescription(
  known: Description | undefined,
  edited: Description | undefined,
): Description {
  if (edited === undefined || isEmpty(edited)) throw errors.ErrInvalidRequest("empty description");
  const merge = (field: keyof Description): string =>
    edited[field] === KEEP ? (known?.[field] ?? "") : edited[field];
  return requireShort({
    moniker: merge("moniker"),
    identity: merge("identity"),
    website: merge("website"),
    securityContact: merge("securityContact"),
    details: merge("details"),
  });
}

/** Throws sdk/18 if a new commission rate is not between the minimum rate and 1. Called before the validator is read. */
export function validateNewRate(context: Context, rate: bigint): void {
  if (rate > DEC18_ONE || rate < 0n)
    throw errors.ErrInvalidRequest("commission rate must be between 0 and 1 (inclusive)");
  const least = toInteger(moduleParams.get(context).minCommissionRate);
  if (rate < least)
    throw errors.ErrInvalidRequest(
      `commission rate cannot be less than the min commission rate ${formatDec18(least)}`,
    );
}

/**
 * Changes a validator's commission rate. The rate may change at most once in 24 hours, and only within the limits set when the
 * validator was created.
 */
export function editCommission(context: Context, commission: Commission, rate: bigint): Commission {
  if (context.timeNs - commission.updateTimeNs < DAY_NS) throw stakingErrors.ErrCommissionUpdateTime();
  if (rate > commission.maxRate) throw stakingErrors.ErrCommissionGTMaxRate();
  if (rate - commission.rate > commission.maxChangeRate) throw stakingErrors.ErrCommissionGTMaxChangeRate();
  return { ...commission, rate, updateTimeNs: context.timeNs };
}
