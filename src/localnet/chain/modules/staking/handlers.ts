import { event, type Context, type MessageHandler } from "../../runtime/context.ts";
import { toWireCoin, formatCoin, parseWireInt } from "../../runtime/coins.ts";
import { formatDec18 } from "../../../../platform/base/decimal.ts";
import { formatRfc3339Ns, NS_PER_SECOND, splitNs } from "../../../../platform/base/time.ts";
import { ed25519Address } from "../../../../cosmos/comet/validator-key.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import { delegate, redelegate, sharesToUnbond, undelegate } from "./delegate.ts";
import { moduleParams, type Keepers, type Pair } from "./types.ts";
import * as messages from "./messages.ts";
import * as stakingErrors from "./errors.ts";
import * as errors from "../../runtime/errors.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as records from "./records.ts";

export function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  const ofOperator = ({ validatorAddress }: { readonly validatorAddress: string }): readonly string[] => [
    keepers.accounts.format(messages.addressOf(keepers.operators, validatorAddress, "validator")),
  ];
  return messageHandlers(wire.Msg, {
    CreateValidator: {
      signers: ofOperator,
      handle: (context, message) => createValidator(context, keepers, message),
    },
    EditValidator: {
      signers: ofOperator,
      handle: (context, message) => editValidator(context, keepers, message),
    },
    Delegate: (context, message) => delegateTokens(context, keepers, message),
    Undelegate: (context, message) => undelegateTokens(context, keepers, message),
    BeginRedelegate: (context, message) => redelegateTokens(context, keepers, message),
    CancelUnbondingDelegation: (context, message) => cancelUnbonding(context, keepers, message),
    UpdateParams: moduleParams.update({ authority: keepers.authority, signerError: errors.ErrInvalidSigner }),
  });
}

/**
 * `MsgCreateValidator`: registers a validator and its first delegation. The validator may enter the active set at the end of the
 * block.
 */
function createValidator(context: Context, keepers: Keepers, message: wire.MsgCreateValidator): void {
  const operator = messages.addressOf(keepers.operators, message.validatorAddress, "validator");
  const fields = messages.validateCreate(message);
  messages.requireMinimumRate(context, fields.rates);
  if (validators.byOperator.get(context, operator) !== undefined)
    throw stakingErrors.ErrValidatorOwnerExists();
  const key = records.ed25519KeyOf(message.pubkey);
  const isSecp256k1 = message.pubkey?.typeUrl === TYPE_URL.secp256k1PubKey;
  if (key === undefined && !isSecp256k1) throw unsupportedKey();
  if (key !== undefined && validators.validatorByConsensus(context, ed25519Address(key)) !== undefined)
    throw stakingErrors.ErrValidatorPubKeyExists();
  messages.requireBondDenom(context, fields.value);
  messages.requireShort(fields.description);
  requireKeyType(context, keepers, isSecp256k1 ? "secp256k1" : "ed25519");
  if (isSecp256k1) throw unsupportedKey();
  const validator = newValidator(context, message, fields);
  validators.setValidator(context, keepers, validator);
  validators.setByConsensus(context, keepers, validator);
  validators.addToPowerOrder(context, keepers, validator);
  keepers.hooks.afterValidatorCreated(context, operator);
  const { amount } = fields.value;
  delegate(context, keepers, validator, { delegator: operator, amount, from: "account" });
  const { validatorAddress } = message;
  context.emit(event("create_validator", { validator: validatorAddress, amount: formatCoin(fields.value) }));
}

function unsupportedKey(): errors.ModuleError {
  return errors.ErrInvalidType("Expecting cryptotypes.PubKey of type ed25519, 32 bytes");
}

function requireKeyType(context: Context, { keyTypes }: Keepers, type: string): void {
  const allowed = keyTypes(context);
  if (allowed.includes(type)) return;
  throw stakingErrors.ErrValidatorPubKeyTypeNotSupported(`got: ${type}, expected: [${allowed.join(" ")}]`);
}

function newValidator(
  context: Context,
  message: wire.MsgCreateValidator,
  fields: messages.NewValidator,
): records.Validator {
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

/**
 * `MsgEditValidator`: changes description, commission or minimum self-delegation. The hook `beforeValidatorModified` runs only if the
 * message sets a commission rate.
 */
function editValidator(context: Context, keepers: Keepers, message: wire.MsgEditValidator): void {
  const operator = messages.addressOf(keepers.operators, message.validatorAddress, "validator");
  const minimum = message.minSelfDelegation === "" ? undefined : parseWireInt(message.minSelfDelegation);
  const rate = message.commissionRate === "" ? undefined : parseWireInt(message.commissionRate);
  messages.editDescription(undefined, message.description);
  if (minimum !== undefined && minimum <= 0n)
    throw errors.ErrInvalidRequest("minimum self delegation must be a positive integer");
  if (rate !== undefined) messages.validateNewRate(context, rate);
  const found = validators.requireValidator(context, operator);
  const described = {
    ...found,
    description: messages.editDescription(found.description, message.description),
  };
  const rated = rate === undefined ? described : withRate(context, keepers, described, rate);
  const edited = minimum === undefined ? rated : withMinimum(rated, minimum);
  validators.setValidator(context, keepers, edited);
  context.emit(
    event("edit_validator", {
      commission_rate: commissionText(edited.commission),
      min_self_delegation: edited.minSelfDelegation.toString(),
    }),
  );
}

/** Formats a commission like Go formats the protobuf message. */
function commissionText({ rate, maxRate, maxChangeRate, updateTimeNs }: records.Commission): string {
  const { seconds, nanos } = splitNs(updateTimeNs);
  const rates = `commission_rates:<rate:"${rate}" max_rate:"${maxRate}" max_change_rate:"${maxChangeRate}" > `;
  const time = `${seconds === 0n ? "" : `seconds:${seconds} `}${nanos === 0 ? "" : `nanos:${nanos} `}`;
  return `${rates}update_time:<${time}> `;
}

function withRate(
  context: Context,
  { hooks, operators }: Keepers,
  validator: records.Validator,
  rate: bigint,
): records.Validator {
  const commission = messages.editCommission(context, validator.commission, rate);
  hooks.beforeValidatorModified(context, operators.parse(validator.operatorAddress));
  return { ...validator, commission };
}

function withMinimum(validator: records.Validator, minimum: bigint): records.Validator {
  if (minimum <= validator.minSelfDelegation) throw stakingErrors.ErrMinSelfDelegationDecreased();
  if (minimum > validator.tokens) throw stakingErrors.ErrSelfDelegationBelowMinimum();
  return { ...validator, minSelfDelegation: minimum };
}

function delegateTokens(context: Context, keepers: Keepers, message: wire.MsgDelegate): void {
  const { delegator, validator } = pairOf(keepers, message);
  const coin = messages.positiveCoin(message.amount, "invalid delegation amount");
  const found = validators.requireValidator(context, validator);
  messages.requireBondDenom(context, coin);
  const part = { delegator, amount: coin.amount, from: "account" } as const;
  const shares = delegate(context, keepers, found, part);
  context.emit(
    event("delegate", { ...ends(message), amount: formatCoin(coin), new_shares: formatDec18(shares) }),
  );
}

function undelegateTokens(
  context: Context,
  keepers: Keepers,
  message: wire.MsgUndelegate,
): wire.MsgUndelegateResponse {
  const pair = pairOf(keepers, message);
  const coin = messages.positiveCoin(message.amount, "invalid shares amount");
  const shares = sharesToUnbond(context, pair, coin.amount);
  messages.requireBondDenom(context, coin);
  const { completionTimeNs, amount } = undelegate(context, keepers, pair, shares);
  const paid = { denom: coin.denom, amount };
  const end = wholeSeconds(completionTimeNs);
  context.emit(event("unbond", { ...ends(message), amount: formatCoin(paid), completion_time: end }));
  return { completionTime: nsToTimestamp(completionTimeNs), amount: toWireCoin(paid) };
}

function redelegateTokens(
  context: Context,
  keepers: Keepers,
  message: wire.MsgBeginRedelegate,
): wire.MsgBeginRedelegateResponse {
  const source = messages.addressOf(keepers.operators, message.validatorSrcAddress, "source validator");
  const destination = messages.addressOf(
    keepers.operators,
    message.validatorDstAddress,
    "destination validator",
  );
  const delegator = messages.addressOf(keepers.accounts, message.delegatorAddress, "delegator");
  const coin = messages.positiveCoin(message.amount, "invalid shares amount");
  const shares = sharesToUnbond(context, { delegator, validator: source }, coin.amount);
  messages.requireBondDenom(context, coin);
  const end = redelegate(context, keepers, { delegator, source, destination }, shares);
  context.emit(
    event("redelegate", {
      source_validator: message.validatorSrcAddress,
      destination_validator: message.validatorDstAddress,
      amount: formatCoin(coin),
      completion_time: wholeSeconds(end),
    }),
  );
  return { completionTime: nsToTimestamp(end) };
}

/** Formats a time like Go's `time.RFC3339`, which drops fractional seconds. */
function wholeSeconds(timeNs: bigint): string {
  return formatRfc3339Ns(splitNs(timeNs).seconds * NS_PER_SECOND);
}

/** `MsgCancelUnbondingDelegation`: cancels all or part of an undelegation and delegates the tokens to the same validator again. */
function cancelUnbonding(
  context: Context,
  keepers: Keepers,
  message: wire.MsgCancelUnbondingDelegation,
): void {
  const pair = pairOf(keepers, message);
  const coin = messages.positiveCoin(message.amount, "invalid amount");
  if (message.creationHeight <= 0n) throw errors.ErrInvalidRequest("invalid height");
  messages.requireBondDenom(context, coin);
  const validator = validators.requireValidator(context, pair.validator);
  if (validators.hasInvalidRate(validator)) throw stakingErrors.ErrDelegatorShareExRateInvalid();
  if (validator.jailed) throw stakingErrors.ErrValidatorJailed();
  const unbonding = delegations.unbondings.get(context, pair);
  if (unbonding === undefined) throw noUnbonding(message);
  const entry = entryToCancel(context, unbonding, message.creationHeight, coin.amount);
  const part = { delegator: pair.delegator, amount: coin.amount, from: { pool: "notBonded" } } as const;
  delegate(context, keepers, validator, part);
  delegations.saveUnbonding(context, pair, withoutPart(unbonding, entry, coin.amount));
  context.emit(
    event("cancel_unbonding_delegation", {
      amount: formatCoin(coin),
      ...ends(message),
      creation_height: message.creationHeight.toString(),
    }),
  );
}

function noUnbonding({ delegatorAddress, validatorAddress }: wire.MsgCancelUnbondingDelegation): Error {
  const words = `unbonding delegation with delegator ${delegatorAddress} not found for validator ${validatorAddress}`;
  return errors.unregisteredError(`rpc error: code = NotFound desc = ${words}`);
}

function entryToCancel(
  context: Context,
  { entries }: records.Unbonding,
  creationHeight: bigint,
  amount: bigint,
): records.UnbondingEntry {
  const entry = entries.find((one) => one.creationHeight === creationHeight);
  if (entry === undefined)
    throw errors.ErrNotFound(`unbonding delegation entry is not found at block height ${creationHeight}`);
  if (entry.balance < amount)
    throw errors.ErrInvalidRequest("amount is greater than the unbonding delegation entry balance");
  if (entry.completionTimeNs < context.timeNs)
    throw errors.ErrInvalidRequest("unbonding delegation is already processed");
  return entry;
}

function withoutPart(
  unbonding: records.Unbonding,
  entry: records.UnbondingEntry,
  amount: bigint,
): records.Unbonding {
  const balance = entry.balance - amount;
  const rest = { ...entry, balance, initialBalance: entry.initialBalance - amount };
  const entries = unbonding.entries.flatMap((one) => (one !== entry ? [one] : balance === 0n ? [] : [rest]));
  return { ...unbonding, entries };
}

interface PairTexts {
  readonly delegatorAddress: string;
  readonly validatorAddress: string;
}

function pairOf({ accounts, operators }: Keepers, message: PairTexts): Pair {
  const validator = messages.addressOf(operators, message.validatorAddress, "validator");
  return { validator, delegator: messages.addressOf(accounts, message.delegatorAddress, "delegator") };
}

/** Returns the event attributes for a delegator and a validator. */
function ends({ delegatorAddress, validatorAddress }: PairTexts) {
  return { validator: validatorAddress, delegator: delegatorAddress };
}
