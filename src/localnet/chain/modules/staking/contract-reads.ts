import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { formatDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { delegations } from "./delegations.ts";
import { lengthPrefixed } from "./keys.ts";
import { moduleParams } from "./params.ts";
import type { Delegation, Validator } from "./records.ts";
import type { Keepers } from "./types.ts";
import { hasReceiving } from "./unbondings.ts";
import { operatorsByPower, requireValidator, tokensFromShares, validators } from "./validators.ts";

/** Facts about a validator that contracts can read. Rates are decimals of 18 digits. */
interface ValidatorTerms {
  readonly operatorAddress: string;
  readonly rate: string;
  readonly maxRate: string;
  readonly maxChangeRate: string;
}

/** A delegation with its tokens. Addresses are bech32. */
interface OwnedTokens {
  readonly delegatorAddress: string;
  readonly validatorAddress: string;
  readonly amount: Coin;
}

/** Reads for contracts. Order and number of the store accesses are those of the deployed keeper, because each consumes gas. */
export type ContractReads = ReturnType<typeof createContractReads>;

export function createContractReads({ operators }: Keepers) {
  const validatorOf = (context: Context, { validatorAddress }: Delegation): Validator =>
    requireValidator(context, operators.parse(validatorAddress));
  return {
    bondDenom,
    bondedValidators: (context: Context): readonly ValidatorTerms[] => bonded(context).map(termsOf),
    validator: (context: Context, operator: Uint8Array): ValidatorTerms | undefined => {
      const validator = validators.get(context, operator);
      return validator === undefined ? undefined : termsOf(validator);
    },
    delegationsOf: (context: Context, delegator: Uint8Array): readonly OwnedTokens[] => {
      const found = [...delegations.entries(context, lengthPrefixed(delegator))];
      const denom = bondDenom(context);
      return found.map(([, delegation]) => withTokens(delegation, validatorOf(context, delegation), denom));
    },
    delegation: (context: Context, delegator: Uint8Array, validator: Uint8Array): OwnedTokens | undefined => {
      const delegation = delegations.get(context, { delegator, validator });
      if (delegation === undefined) return undefined;
      const found = validatorOf(context, delegation);
      return withTokens(delegation, found, bondDenom(context));
    },
    isReceiving: hasReceiving,
  };
}

function bondDenom(context: Context): string {
  return moduleParams.get(context).bondDenom;
}

function bonded(context: Context): readonly Validator[] {
  const { maxValidators } = moduleParams.get(context);
  const found: Validator[] = [];
  for (const operator of operatorsByPower(context)) {
    if (found.length >= maxValidators) break;
    const validator = requireValidator(context, operator);
    if (validator.status === BondStatus.BOND_STATUS_BONDED) found.push(validator);
  }
  return found;
}

function termsOf({ operatorAddress, commission }: Validator): ValidatorTerms {
  return {
    operatorAddress,
    rate: formatDec18(commission.rate),
    maxRate: formatDec18(commission.maxRate),
    maxChangeRate: formatDec18(commission.maxChangeRate),
  };
}

function withTokens(
  { delegatorAddress, validatorAddress, shares }: Delegation,
  validator: Validator,
  denom: string,
): OwnedTokens {
  const amount = truncateDec18(tokensFromShares(validator, shares));
  return { delegatorAddress, validatorAddress, amount: { denom, amount } };
}
