import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import {
  type MsgBeginRedelegate,
  MsgBeginRedelegateResponse,
  type MsgCancelUnbondingDelegation,
  type MsgDelegate,
  type MsgUndelegate,
  MsgUndelegateResponse,
  type MsgUpdateParams,
} from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { formatCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError, ErrInvalidRequest, ErrInvalidSigner, ErrNotFound } from "../../runtime/errors.ts";
import { delegate } from "./delegate.ts";
import { ErrDelegatorShareExRateInvalid, ErrValidatorJailed } from "./errors.ts";
import { cancelledUnbonding, delegated, redelegated, undelegated } from "./events.ts";
import { addressOf, positiveCoin, requireBondDenom } from "./messages.ts";
import { storedParams, validateParams } from "./params.ts";
import type { Unbonding, UnbondingEntry } from "./records.ts";
import { hasInvalidRate } from "./shares.ts";
import type { Environment, Pair } from "./types.ts";
import { redelegate, sharesToUnbond, undelegate } from "./undelegate.ts";
import { saveUnbonding, unbondings } from "./unbondings.ts";
import { requireValidator } from "./validators.ts";

/** `MsgDelegate`. */
export function delegateTokens(context: Context, environment: Environment, message: MsgDelegate): void {
  const { delegator, validator } = pairOf(environment, message);
  const coin = positiveCoin(message.amount, "invalid delegation amount");
  const found = requireValidator(context, validator);
  requireBondDenom(context, coin);
  const part = { delegator, amount: coin.amount, from: "account" } as const;
  const shares = delegate(context, environment, found, part);
  context.emit(delegated(texts(message), formatCoin(coin), shares));
}

/** `MsgUndelegate`. Returns the encoded response. */
export function undelegateTokens(
  context: Context,
  environment: Environment,
  message: MsgUndelegate,
): Uint8Array {
  const pair = pairOf(environment, message);
  const coin = positiveCoin(message.amount, "invalid shares amount");
  const shares = sharesToUnbond(context, pair, coin.amount);
  requireBondDenom(context, coin);
  const { completionTimeNs, amount } = undelegate(context, environment, pair, shares);
  const paid = { denom: coin.denom, amount };
  context.emit(undelegated(texts(message), formatCoin(paid), completionTimeNs));
  return MsgUndelegateResponse.encode({
    completionTime: nsToTimestamp(completionTimeNs),
    amount: { denom: paid.denom, amount: amount.toString() },
  }).finish();
}

/** `MsgBeginRedelegate`. Returns the encoded response. */
export function redelegateTokens(
  context: Context,
  environment: Environment,
  message: MsgBeginRedelegate,
): Uint8Array {
  const source = addressOf(environment.operators, message.validatorSrcAddress, "source validator");
  const destination = addressOf(environment.operators, message.validatorDstAddress, "destination validator");
  const delegator = addressOf(environment.accounts, message.delegatorAddress, "delegator");
  const coin = positiveCoin(message.amount, "invalid shares amount");
  const shares = sharesToUnbond(context, { delegator, validator: source }, coin.amount);
  requireBondDenom(context, coin);
  const end = redelegate(context, environment, { delegator, source, destination }, shares);
  const ends = { source: message.validatorSrcAddress, destination: message.validatorDstAddress };
  context.emit(redelegated(ends, formatCoin(coin), end));
  return MsgBeginRedelegateResponse.encode({ completionTime: nsToTimestamp(end) }).finish();
}

/** `MsgCancelUnbondingDelegation`: delegates an undelegation, or a part of it, back to its validator. */
export function cancelUnbonding(
  context: Context,
  environment: Environment,
  message: MsgCancelUnbondingDelegation,
): void {
  const pair = pairOf(environment, message);
  const coin = positiveCoin(message.amount, "invalid amount");
  if (message.creationHeight <= 0n) throw ErrInvalidRequest("invalid height");
  requireBondDenom(context, coin);
  const validator = requireValidator(context, pair.validator);
  if (hasInvalidRate(validator)) throw ErrDelegatorShareExRateInvalid();
  if (validator.jailed) throw ErrValidatorJailed();
  const unbonding = unbondings.get(context, pair);
  if (unbonding === undefined) throw noUnbonding(message);
  const entry = entryToCancel(context, unbonding, message.creationHeight, coin.amount);
  const part = { delegator: pair.delegator, amount: coin.amount, from: { pool: "notBonded" } } as const;
  delegate(context, environment, validator, part);
  saveUnbonding(context, pair, withoutPart(unbonding, entry, coin.amount));
  context.emit(cancelledUnbonding(texts(message), formatCoin(coin), message.creationHeight));
}

function noUnbonding({ delegatorAddress, validatorAddress }: MsgCancelUnbondingDelegation): Error {
  const words = `unbonding delegation with delegator ${delegatorAddress} not found for validator ${validatorAddress}`;
  return unregisteredError(`rpc error: code = NotFound desc = ${words}`);
}

function entryToCancel(
  context: Context,
  { entries }: Unbonding,
  creationHeight: bigint,
  amount: bigint,
): UnbondingEntry {
  const entry = entries.find((one) => one.creationHeight === creationHeight);
  if (entry === undefined)
    throw ErrNotFound(`unbonding delegation entry is not found at block height ${creationHeight}`);
  if (entry.balance < amount)
    throw ErrInvalidRequest("amount is greater than the unbonding delegation entry balance");
  if (entry.completionTimeNs < context.timeNs)
    throw ErrInvalidRequest("unbonding delegation is already processed");
  return entry;
}

function withoutPart(unbonding: Unbonding, entry: UnbondingEntry, amount: bigint): Unbonding {
  const balance = entry.balance - amount;
  const rest = { ...entry, balance, initialBalance: entry.initialBalance - amount };
  const entries = unbonding.entries.flatMap((one) => (one !== entry ? [one] : balance === 0n ? [] : [rest]));
  return { ...unbonding, entries };
}

/** `MsgUpdateParams`, from the authority only. */
export function updateParams(context: Context, { authority }: Environment, message: MsgUpdateParams): void {
  if (message.authority !== authority)
    throw ErrInvalidSigner(`invalid authority; expected ${authority}, got ${message.authority}`);
  if (message.params === undefined) throw unregisteredError("unbonding time must be positive: 0");
  validateParams(message.params);
  storedParams.set(context, message.params);
}

interface PairTexts {
  readonly delegatorAddress: string;
  readonly validatorAddress: string;
}

function pairOf({ accounts, operators }: Environment, message: PairTexts): Pair {
  const validator = addressOf(operators, message.validatorAddress, "validator");
  return { validator, delegator: addressOf(accounts, message.delegatorAddress, "delegator") };
}

function texts({ delegatorAddress, validatorAddress }: PairTexts) {
  return { validator: validatorAddress, delegator: delegatorAddress };
}
