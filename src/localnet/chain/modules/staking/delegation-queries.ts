import { lengthPrefixed, splitAddresses } from "../../store/collections.ts";
import type * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import type * as staking from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { RedelegationResponse } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import { truncateDec18 } from "../../../../platform/base/decimal.ts";
import type { Context } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { paginate } from "../../runtime/pagination.ts";
import { delegations } from "./delegations.ts";
import { ErrNoDelegation } from "./errors.ts";
import * as keys from "./keys.ts";
import { moduleParams } from "./params.ts";
import { delegatorOf, emptyAddress, operatorOf, type Queries } from "./query-fields.ts";
import {
  type Delegation,
  delegationCodec,
  delegationToWire,
  type Redelegation,
  redelegationCodec,
  redelegationToWire,
  unbondingCodec,
  unbondingToWire,
  validatorToWire,
} from "./records.ts";
import type { Keepers } from "./types.ts";
import { redelegations, unbondings } from "./unbondings.ts";
import { requireValidator, tokensFromShares } from "./validators.ts";

type Page = wire.QueryDelegatorDelegationsRequest["pagination"];

/** Creates the queries for delegations, undelegations and redelegations. */
export function delegationQueries(keepers: Keepers) {
  return {
    ...pairQueries(keepers),
    ...delegatorQueries(keepers),
    ...ofValidatorQueries(keepers),
    ...validatorsOfDelegator(keepers),
    Redelegations: (context, request) => queryRedelegations(context, keepers, request),
  } satisfies Queries;
}

function pairQueries(keepers: Keepers) {
  const pairOf = ({ delegatorAddr, validatorAddr }: wire.QueryDelegationRequest) => {
    if (delegatorAddr === "") throw emptyAddress("delegator");
    if (validatorAddr === "") throw emptyAddress("validator");
    const delegator = delegatorOf(keepers, delegatorAddr);
    return { delegator, validator: operatorOf(keepers, validatorAddr) };
  };
  return {
    Delegation: (context, request) => {
      const delegation = delegations.get(context, pairOf(request));
      if (delegation === undefined) {
        const { delegatorAddr, validatorAddr } = request;
        const text = `delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`;
        throw new QueryError(GrpcCode.NotFound, text);
      }
      return { delegationResponse: withBalance(context, keepers, delegation) };
    },
    UnbondingDelegation: (context, request) => {
      const unbonding = unbondings.get(context, pairOf(request));
      if (unbonding === undefined) {
        const { delegatorAddr, validatorAddr } = request;
        const text = `unbonding delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`;
        throw new QueryError(GrpcCode.NotFound, text);
      }
      return { unbond: unbondingToWire(unbonding) };
    },
  } satisfies Queries;
}

/** Adds a delegation's tokens to its response. */
function withBalance(context: Context, keepers: Keepers, delegation: Delegation): staking.DelegationResponse {
  const validator = requireValidator(context, keepers.operators.parse(delegation.validatorAddress));
  const amount = truncateDec18(tokensFromShares(validator, delegation.shares));
  const balance = { denom: moduleParams.get(context).bondDenom, amount: amount.toString() };
  return { delegation: delegationToWire(delegation), balance };
}

function delegatorQueries(keepers: Keepers) {
  const prefixOf = (prefix: Uint8Array, delegatorAddr: string): Uint8Array => {
    if (delegatorAddr === "") throw emptyAddress("delegator");
    return concat(prefix, lengthPrefixed(delegatorOf(keepers, delegatorAddr)));
  };
  return {
    DelegatorDelegations: (context, request) => {
      const prefix = prefixOf(keys.DELEGATIONS, request.delegatorAddr);
      const [items, pagination] = page(context, prefix, request.pagination, (_key, value) =>
        withBalance(context, keepers, delegationCodec.decode(value)),
      );
      return { delegationResponses: items, pagination };
    },
    DelegatorUnbondingDelegations: (context, request) => {
      const prefix = prefixOf(keys.UNBONDINGS, request.delegatorAddr);
      const [items, pagination] = page(context, prefix, request.pagination, (_key, value) =>
        unbondingToWire(unbondingCodec.decode(value)),
      );
      return { unbondingResponses: items, pagination };
    },
  } satisfies Queries;
}

function ofValidatorQueries(keepers: Keepers) {
  const validatorOf = (validatorAddr: string): Uint8Array => {
    if (validatorAddr === "") throw emptyAddress("validator");
    return operatorOf(keepers, validatorAddr);
  };
  return {
    ValidatorDelegations: (context, request) => {
      const validator = validatorOf(request.validatorAddr);
      const prefix = concat(keys.DELEGATIONS_BY_VALIDATOR, lengthPrefixed(validator));
      const [found, pagination] = page(context, prefix, request.pagination, (delegator) =>
        delegations.get(context, { delegator, validator }),
      );
      const known = found.filter((one) => one !== undefined);
      return {
        delegationResponses: known.map((one) => withBalance(context, keepers, one)),
        pagination,
      };
    },
    ValidatorUnbondingDelegations: (context, request) => {
      const validator = validatorOf(request.validatorAddr);
      const prefix = concat(keys.UNBONDINGS_BY_VALIDATOR, lengthPrefixed(validator));
      const [found, pagination] = page(context, prefix, request.pagination, (key) => {
        const [delegator = key] = splitAddresses(key);
        return unbondings.get(context, { delegator, validator });
      });
      const known = found.filter((one) => one !== undefined);
      return { unbondingResponses: known.map(unbondingToWire), pagination };
    },
  } satisfies Queries;
}

function validatorsOfDelegator(keepers: Keepers) {
  return {
    DelegatorValidators: (context, { delegatorAddr, pagination: request }) => {
      if (delegatorAddr === "") throw emptyAddress("delegator");
      const prefix = concat(keys.DELEGATIONS, lengthPrefixed(delegatorOf(keepers, delegatorAddr)));
      const [found, pagination] = page(context, prefix, request, (_key, value) => {
        const { validatorAddress } = delegationCodec.decode(value);
        return validatorToWire(requireValidator(context, keepers.operators.parse(validatorAddress)));
      });
      return { validators: found, pagination };
    },
    DelegatorValidator: (context, { delegatorAddr, validatorAddr }) => {
      if (delegatorAddr === "") throw emptyAddress("delegator");
      if (validatorAddr === "") throw emptyAddress("validator");
      const delegator = delegatorOf(keepers, delegatorAddr);
      const validator = operatorOf(keepers, validatorAddr);
      if (!delegations.has(context, { delegator, validator }))
        throw new QueryError(GrpcCode.Internal, ErrNoDelegation().message);
      return { validator: validatorToWire(requireValidator(context, validator)) };
    },
  } satisfies Queries;
}

/** Pages through a range in the store. */
function page<T>(
  context: Context,
  prefix: Uint8Array,
  request: Page,
  read: (key: Uint8Array, value: Uint8Array) => T,
): readonly [T[], ReturnType<typeof paginate>] {
  const items: T[] = [];
  const paged = { store: context.store(keys.MODULE_NAME), prefix };
  const pagination = paginate(paged, request, (key, value) => items.push(read(key, value)));
  return [items, pagination];
}

/**
 * Queries redelegations by triplet, source or delegator. As in the SDK, the source is ignored if the request has a delegator but
 * no destination.
 */
function queryRedelegations(
  context: Context,
  keepers: Keepers,
  request: wire.QueryRedelegationsRequest,
): wire.QueryRedelegationsResponse {
  const { delegatorAddr, srcValidatorAddr, dstValidatorAddr } = request;
  if (delegatorAddr !== "" && srcValidatorAddr !== "" && dstValidatorAddr !== "")
    return { redelegationResponses: [oneOf(context, keepers, request)], pagination: undefined };
  return delegatorAddr === "" && srcValidatorAddr !== "" && dstValidatorAddr === ""
    ? ofSource(context, keepers, request)
    : ofDelegator(context, keepers, request);
}

function oneOf(
  context: Context,
  keepers: Keepers,
  request: wire.QueryRedelegationsRequest,
): RedelegationResponse {
  const { delegatorAddr, srcValidatorAddr, dstValidatorAddr } = request;
  const found = redelegations.get(context, {
    delegator: delegatorOf(keepers, delegatorAddr),
    source: operatorOf(keepers, srcValidatorAddr),
    destination: operatorOf(keepers, dstValidatorAddr),
  });
  if (found !== undefined) return withBalances(context, keepers, found);
  const words = `redelegation not found for delegator address ${delegatorAddr} from validator address ${srcValidatorAddr}`;
  throw new QueryError(GrpcCode.Internal, `rpc error: code = NotFound desc = ${words}`);
}

function ofSource(
  context: Context,
  keepers: Keepers,
  request: wire.QueryRedelegationsRequest,
): wire.QueryRedelegationsResponse {
  const source = operatorOf(keepers, request.srcValidatorAddr);
  const prefix = concat(keys.REDELEGATIONS_BY_SOURCE, lengthPrefixed(source));
  const found: RedelegationResponse[] = [];
  const pagination = paginate(
    { store: context.store(keys.MODULE_NAME), prefix },
    request.pagination,
    (key) => {
      const [delegator = key, destination = key] = splitAddresses(key);
      const redelegation = redelegations.get(context, { delegator, source, destination });
      if (redelegation !== undefined) found.push(withBalances(context, keepers, redelegation));
    },
  );
  return { redelegationResponses: found, pagination };
}

function ofDelegator(
  context: Context,
  keepers: Keepers,
  request: wire.QueryRedelegationsRequest,
): wire.QueryRedelegationsResponse {
  const delegator = delegatorOf(keepers, request.delegatorAddr);
  const prefix = concat(keys.REDELEGATIONS, lengthPrefixed(delegator));
  const found: RedelegationResponse[] = [];
  const paged = { store: context.store(keys.MODULE_NAME), prefix };
  const pagination = paginate(paged, request.pagination, (_key, value) => {
    found.push(withBalances(context, keepers, redelegationCodec.decode(value)));
  });
  return { redelegationResponses: found, pagination };
}

/** Returns the entries separately from the redelegation, each with the tokens that its shares are worth at the destination. */
function withBalances(context: Context, keepers: Keepers, redelegation: Redelegation): RedelegationResponse {
  const destination = keepers.operators.parse(redelegation.validatorDstAddress);
  const validator = requireValidator(context, destination);
  const { entries, ...rest } = redelegationToWire(redelegation);
  return {
    redelegation: { ...rest, entries: [] },
    entries: entries.map((redelegationEntry, index) => {
      const shares = redelegation.entries[index]?.sharesDst ?? 0n;
      const balance = truncateDec18(tokensFromShares(validator, shares)).toString();
      return { redelegationEntry, balance };
    }),
  };
}
