import { concat } from "../../../../platform/base/bytes.ts";
import { truncateDec18 } from "../../../../platform/base/decimal.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import type * as staking from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { QueryError } from "../../runtime/errors.ts";
import { paginate } from "../../runtime/pagination.ts";
import { delegations } from "./delegations.ts";
import { ErrNoDelegation } from "./errors.ts";
import {
  DELEGATIONS,
  DELEGATIONS_BY_VALIDATOR,
  lengthPrefixed,
  MODULE_NAME,
  splitAddresses,
  UNBONDINGS,
  UNBONDINGS_BY_VALIDATOR,
} from "./keys.ts";
import { paramsOf } from "./params.ts";
import { delegatorOf, emptyAddress, operatorOf, SERVICE } from "./query-fields.ts";
import {
  type Delegation,
  delegationCodec,
  delegationToWire,
  unbondingCodec,
  unbondingToWire,
  validatorToWire,
} from "./records.ts";
import { createRedelegationQuery } from "./redelegation-queries.ts";
import { tokensFromShares } from "./shares.ts";
import type { Environment } from "./types.ts";
import { unbondings } from "./unbondings.ts";
import { requireValidator } from "./validators.ts";

const NOT_FOUND = 5;
const INTERNAL = 13;
type Page = wire.QueryDelegatorDelegationsRequest["pagination"];

/** The queries of delegations, undelegations and redelegations. */
export function createDelegationQueries(environment: Environment): readonly QueryHandler[] {
  return [
    ...pairQueries(environment),
    ...delegatorQueries(environment),
    ...ofValidatorQueries(environment),
    ...validatorsOfDelegator(environment),
    createRedelegationQuery(environment),
  ];
}

function pairQueries(environment: Environment): readonly QueryHandler[] {
  const pairOf = ({ delegatorAddr, validatorAddr }: wire.QueryDelegationRequest) => {
    if (delegatorAddr === "") throw emptyAddress("delegator");
    if (validatorAddr === "") throw emptyAddress("validator");
    const delegator = delegatorOf(environment, delegatorAddr);
    return { delegator, validator: operatorOf(environment, validatorAddr) };
  };
  return [
    toQueryHandler(
      `${SERVICE}/Delegation`,
      { request: wire.QueryDelegationRequest, response: wire.QueryDelegationResponse },
      (context, request) => {
        const delegation = delegations.get(context, pairOf(request));
        if (delegation === undefined) {
          const { delegatorAddr, validatorAddr } = request;
          const text = `delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`;
          throw new QueryError(NOT_FOUND, text);
        }
        return { delegationResponse: withBalance(context, environment, delegation) };
      },
    ),
    toQueryHandler(
      `${SERVICE}/UnbondingDelegation`,
      { request: wire.QueryUnbondingDelegationRequest, response: wire.QueryUnbondingDelegationResponse },
      (context, request) => {
        const unbonding = unbondings.get(context, pairOf(request));
        if (unbonding === undefined) {
          const { delegatorAddr, validatorAddr } = request;
          const text = `unbonding delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`;
          throw new QueryError(NOT_FOUND, text);
        }
        return { unbond: unbondingToWire(unbonding) };
      },
    ),
  ];
}

/** Adds the tokens of a delegation. */
function withBalance(
  context: Context,
  environment: Environment,
  delegation: Delegation,
): staking.DelegationResponse {
  const validator = requireValidator(context, environment.operators.parse(delegation.validatorAddress));
  const amount = truncateDec18(tokensFromShares(validator, delegation.shares));
  const balance = { denom: paramsOf(context).bondDenom, amount: amount.toString() };
  return { delegation: delegationToWire(delegation), balance };
}

function delegatorQueries(environment: Environment): readonly QueryHandler[] {
  const prefixOf = (prefix: Uint8Array, delegatorAddr: string): Uint8Array => {
    if (delegatorAddr === "") throw emptyAddress("delegator");
    return concat(prefix, lengthPrefixed(delegatorOf(environment, delegatorAddr)));
  };
  return [
    toQueryHandler(
      `${SERVICE}/DelegatorDelegations`,
      { request: wire.QueryDelegatorDelegationsRequest, response: wire.QueryDelegatorDelegationsResponse },
      (context, request) => {
        const prefix = prefixOf(DELEGATIONS, request.delegatorAddr);
        const [items, pagination] = page(context, prefix, request.pagination, (_key, value) =>
          withBalance(context, environment, delegationCodec.decode(value)),
        );
        return { delegationResponses: items, pagination };
      },
    ),
    toQueryHandler(
      `${SERVICE}/DelegatorUnbondingDelegations`,
      {
        request: wire.QueryDelegatorUnbondingDelegationsRequest,
        response: wire.QueryDelegatorUnbondingDelegationsResponse,
      },
      (context, request) => {
        const prefix = prefixOf(UNBONDINGS, request.delegatorAddr);
        const [items, pagination] = page(context, prefix, request.pagination, (_key, value) =>
          unbondingToWire(unbondingCodec.decode(value)),
        );
        return { unbondingResponses: items, pagination };
      },
    ),
  ];
}

function ofValidatorQueries(environment: Environment): readonly QueryHandler[] {
  const validatorOf = (validatorAddr: string): Uint8Array => {
    if (validatorAddr === "") throw emptyAddress("validator");
    return operatorOf(environment, validatorAddr);
  };
  return [
    toQueryHandler(
      `${SERVICE}/ValidatorDelegations`,
      { request: wire.QueryValidatorDelegationsRequest, response: wire.QueryValidatorDelegationsResponse },
      (context, request) => {
        const validator = validatorOf(request.validatorAddr);
        const prefix = concat(DELEGATIONS_BY_VALIDATOR, lengthPrefixed(validator));
        const [found, pagination] = page(context, prefix, request.pagination, (delegator) =>
          delegations.get(context, { delegator, validator }),
        );
        const known = found.filter((one) => one !== undefined);
        return {
          delegationResponses: known.map((one) => withBalance(context, environment, one)),
          pagination,
        };
      },
    ),
    toQueryHandler(
      `${SERVICE}/ValidatorUnbondingDelegations`,
      {
        request: wire.QueryValidatorUnbondingDelegationsRequest,
        response: wire.QueryValidatorUnbondingDelegationsResponse,
      },
      (context, request) => {
        const validator = validatorOf(request.validatorAddr);
        const prefix = concat(UNBONDINGS_BY_VALIDATOR, lengthPrefixed(validator));
        const [found, pagination] = page(context, prefix, request.pagination, (key) => {
          const [delegator = key] = splitAddresses(key);
          return unbondings.get(context, { delegator, validator });
        });
        const known = found.filter((one) => one !== undefined);
        return { unbondingResponses: known.map(unbondingToWire), pagination };
      },
    ),
  ];
}

function validatorsOfDelegator(environment: Environment): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/DelegatorValidators`,
      { request: wire.QueryDelegatorValidatorsRequest, response: wire.QueryDelegatorValidatorsResponse },
      (context, { delegatorAddr, pagination: request }) => {
        if (delegatorAddr === "") throw emptyAddress("delegator");
        const prefix = concat(DELEGATIONS, lengthPrefixed(delegatorOf(environment, delegatorAddr)));
        const [found, pagination] = page(context, prefix, request, (_key, value) => {
          const { validatorAddress } = delegationCodec.decode(value);
          return validatorToWire(requireValidator(context, environment.operators.parse(validatorAddress)));
        });
        return { validators: found, pagination };
      },
    ),
    toQueryHandler(
      `${SERVICE}/DelegatorValidator`,
      { request: wire.QueryDelegatorValidatorRequest, response: wire.QueryDelegatorValidatorResponse },
      (context, { delegatorAddr, validatorAddr }) => {
        if (delegatorAddr === "") throw emptyAddress("delegator");
        if (validatorAddr === "") throw emptyAddress("validator");
        const delegator = delegatorOf(environment, delegatorAddr);
        const validator = operatorOf(environment, validatorAddr);
        if (!delegations.has(context, { delegator, validator }))
          throw new QueryError(INTERNAL, ErrNoDelegation().message);
        return { validator: validatorToWire(requireValidator(context, validator)) };
      },
    ),
  ];
}

/** Pages through a range of the store. */
function page<T>(
  context: Context,
  prefix: Uint8Array,
  request: Page,
  read: (key: Uint8Array, value: Uint8Array) => T,
): readonly [T[], ReturnType<typeof paginate>] {
  const items: T[] = [];
  const paged = { store: context.store(MODULE_NAME), prefix };
  const pagination = paginate(paged, request, (key, value) => items.push(read(key, value)));
  return [items, pagination];
}
