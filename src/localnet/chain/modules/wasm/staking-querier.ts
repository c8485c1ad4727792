import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { AddressError, parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, goPanic, unregisteredError } from "../../runtime/errors.ts";
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
  const delegator = (): Uint8Array => delegatorOf(request.member("delegator").text(), bech32Prefix);
  switch (kind) {
    case "bonded_denom":
      return print([["denom", printGoString(staking.bondDenom(context))]]);
    case "all_validators":
      return print([["validators", printList(staking.bondedValidators(context).map(printValidator))]]);
    case "validator": {
      const operator = operatorOf(request.member("address").text(), bech32Prefix);
      const validator = staking.validator(context, operator);
      return print([["validator", validator === undefined ? "null" : printValidator(validator)]]);
    }
    case "all_delegations": {
      const delegations = staking.delegationsOf(context, delegator());
      return print([["delegations", printList(delegations.map(printDelegation))]]);
    }
    case "delegation": {
      const [from, text] = [delegator(), request.member("validator").text()];
      const validator = asInvalidAddress(text, () => parseAddress(`${bech32Prefix}valoper`, text));
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
  if (staking.delegation(context, delegator, validator) === undefined) return print([]);
  staking.isReceiving(context, delegator, validator);
  throw goPanic("runtime error: invalid memory address or nil pointer dereference");
}

function delegatorOf(text: string, bech32Prefix: string): Uint8Array {
  return asInvalidAddress(text, () => parseAddress(bech32Prefix, text));
}

function asInvalidAddress<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw thrown instanceof AddressError ? ErrInvalidAddress(text) : thrown;
  }
}

function operatorOf(text: string, bech32Prefix: string): Uint8Array {
  try {
    return parseAddress(`${bech32Prefix}valoper`, text);
  } catch (thrown) {
    throw thrown instanceof AddressError ? unregisteredError(thrown.message) : thrown;
  }
}

function print(members: readonly (readonly [string, string])[]): Uint8Array {
  return utf8(printGoObject(members));
}

function printList(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

function printValidator({ operatorAddress, rate, maxRate, maxChangeRate }: ContractValidator): string {
  return printGoObject([
    ["address", printGoString(operatorAddress)],
    ["commission", `"${rate}"`],
    ["max_commission", `"${maxRate}"`],
    ["max_change_rate", `"${maxChangeRate}"`],
  ]);
}

function printDelegation({ delegatorAddress, validatorAddress, amount }: ContractDelegation): string {
  const coin = printGoObject([
    ["denom", printGoString(amount.denom)],
    ["amount", `"${amount.amount}"`],
  ]);
  return printGoObject([
    ["delegator", printGoString(delegatorAddress)],
    ["validator", printGoString(validatorAddress)],
    ["amount", coin],
  ]);
}
