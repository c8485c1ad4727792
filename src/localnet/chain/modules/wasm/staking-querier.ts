import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoJson } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, goPanic, orThrow, unregisteredError } from "../../runtime/errors.ts";
import type { GoField } from "./go-field.ts";

/** Information about a validator for contracts. Rates are decimals with 18 digits. */
interface ContractValidator {
  readonly operatorAddress: string;
  readonly rate: string;
  readonly maxRate: string;
  readonly maxChangeRate: string;
}

/** A delegation and its tokens. Addresses are bech32. */
interface ContractDelegation {
  readonly delegatorAddress: string;
  readonly validatorAddress: string;
  readonly amount: Coin;
}

/** Reads from the `staking` module for contracts, with the same store accesses as the deployed keeper. */
export interface StakingReads {
  readonly bondDenom: (context: Context) => string;
  /** Returns the active set, highest power first. */
  readonly bondedValidators: (context: Context) => readonly ContractValidator[];
  readonly validator: (context: Context, operator: Uint8Array) => ContractValidator | undefined;
  readonly delegationsOf: (context: Context, delegator: Uint8Array) => readonly ContractDelegation[];
  readonly delegation: (
    context: Context,
    delegator: Uint8Array,
    validator: Uint8Array,
  ) => ContractDelegation | undefined;
  /** Returns whether the delegator has a redelegation to the validator that has not completed. */
  readonly isReceiving: (context: Context, delegator: Uint8Array, validator: Uint8Array) => boolean;
}

/** Kinds of queries, in the order in which wasmd checks for them. */
const KINDS = ["bonded_denom", "all_validators", "validator", "all_delegations", "delegation"] as const;

/**
 * Runs a contract's staking query (wasmd 0.53 `StakingQuerier`). Returns undefined for unknown queries. For an existing
 * delegation, `delegation` panics: it queries a `distribution` module, which the deployed chain does not have either.
 */
export function queryStaking(
  context: Context,
  body: GoField,
  staking: StakingReads | undefined,
  bech32Prefix: string,
): Uint8Array | undefined {
  const [kind, request] = body.variant(KINDS) ?? [];
  if (kind === undefined || request === undefined || staking === undefined) return undefined;
  const delegator = (): Uint8Array => addressIn(request.member("delegator"), bech32Prefix);
  switch (kind) {
    case "bonded_denom":
      return print({ denom: staking.bondDenom(context) });
    case "all_validators":
      return print({ validators: staking.bondedValidators(context).map(validatorJson) });
    case "validator": {
      const text = request.member("address").text();
      const operator = orThrow(() => parseAddress(`${bech32Prefix}valoper`, text), unregisteredError);
      const validator = staking.validator(context, operator);
      return print({ validator: validator === undefined ? null : validatorJson(validator) });
    }
    case "all_delegations":
      return print({ delegations: staking.delegationsOf(context, delegator()).map(delegationJson) });
    case "delegation": {
      const from = delegator();
      const validator = addressIn(request.member("validator"), `${bech32Prefix}valoper`);
      return queryDelegation(context, staking, from, validator);
    }
  }
}

function queryDelegation(
  context: Context,
  staking: StakingReads,
  delegator: Uint8Array,
  validator: Uint8Array,
): Uint8Array {
  if (staking.delegation(context, delegator, validator) === undefined) return print({});
  staking.isReceiving(context, delegator, validator);
  throw goPanic("runtime error: invalid memory address or nil pointer dereference");
}

function addressIn(field: GoField, prefix: string): Uint8Array {
  const text = field.text();
  return orThrow(
    () => parseAddress(prefix, text),
    () => ErrInvalidAddress(text),
  );
}

function print(response: JsonObject): Uint8Array {
  return utf8(printGoJson(response));
}

function validatorJson({ operatorAddress, rate, maxRate, maxChangeRate }: ContractValidator): JsonObject {
  return {
    address: operatorAddress,
    commission: rate,
    max_commission: maxRate,
    max_change_rate: maxChangeRate,
  };
}

function delegationJson({ delegatorAddress, validatorAddress, amount }: ContractDelegation): JsonObject {
  const coin = { denom: amount.denom, amount: amount.amount.toString() };
  return { delegator: delegatorAddress, validator: validatorAddress, amount: coin };
}
