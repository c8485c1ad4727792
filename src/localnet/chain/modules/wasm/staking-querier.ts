import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoJson } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, goPanic, orThrow, unregisteredError } from "../../runtime/errors.ts";
import type { GoField } from "./go-field.ts";

/** The validator fields that contracts can read. Commission rates are text with 18 decimal places. */
interface ContractValidator {
  readonly operatorAddress: string;
  readonly rate: string;
  readonly maxRate: string;
  readonly maxChangeRate: string;
}

/** A delegation with bech32 addresses and the tokens that its shares are worth. */
interface ContractDelegation {
  readonly delegatorAddress: string;
  readonly validatorAddress: string;
  readonly amount: Coin;
}

/** Methods that read staking data for contracts, with the same store accesses as the deployed chain's keeper. */
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
  /** Returns whether the delegator has an incomplete redelegation to the validator. */
  readonly isReceiving: (context: Context, delegator: Uint8Array, validator: Uint8Array) => boolean;
}

/**
 * Runs a contract's staking query (wasmd 0.53 `StakingQuerier`). Returns undefined for unknown queries. `delegation` panics if the
 * delegation exists, because the query needs a `distribution` module. The deployed chain lacks this module, too.
 */
export function queryStaking(
  context: Context,
  body: GoField,
  staking: StakingReads | undefined,
  bech32Prefix: string,
): Uint8Array | undefined {
  if (staking === undefined) return undefined;
  const operatorPrefix = `${bech32Prefix}valoper`;
  const response = body.variant<[], JsonObject>({
    bonded_denom: () => ({ denom: staking.bondDenom(context) }),
    all_validators: () => ({ validators: staking.bondedValidators(context).map(validatorJson) }),
    validator: (request) => {
      const text = request.member("address").text();
      const operator = orThrow(() => parseAddress(operatorPrefix, text), unregisteredError);
      const validator = staking.validator(context, operator);
      return { validator: validator === undefined ? null : validatorJson(validator) };
    },
    all_delegations: (request) => {
      const delegator = addressIn(request.member("delegator"), bech32Prefix);
      return { delegations: staking.delegationsOf(context, delegator).map(delegationJson) };
    },
    delegation: (request) => {
      const delegator = addressIn(request.member("delegator"), bech32Prefix);
      const validator = addressIn(request.member("validator"), operatorPrefix);
      if (staking.delegation(context, delegator, validator) === undefined) return {};
      staking.isReceiving(context, delegator, validator);
      throw goPanic("runtime error: invalid memory address or nil pointer dereference");
    },
  });
  return response && utf8(printGoJson(response));
}

function addressIn(field: GoField, prefix: string): Uint8Array {
  const text = field.text();
  return orThrow(
    () => parseAddress(prefix, text),
    () => ErrInvalidAddress(text),
  );
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
