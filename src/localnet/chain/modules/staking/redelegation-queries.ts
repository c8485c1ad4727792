import { concat } from "../../../../platform/base/bytes.ts";
import { truncateDec18 } from "../../../../platform/base/decimal.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import type { RedelegationResponse } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { QueryError } from "../../runtime/errors.ts";
import { paginate } from "../../runtime/pagination.ts";
import {
  lengthPrefixed,
  MODULE_NAME,
  REDELEGATIONS,
  REDELEGATIONS_BY_SOURCE,
  splitAddresses,
} from "./keys.ts";
import { delegatorOf, operatorOf, SERVICE } from "./query-fields.ts";
import { type Redelegation, redelegationCodec, redelegationToWire } from "./records.ts";
import { redelegations } from "./redelegations.ts";
import { tokensFromShares } from "./shares.ts";
import type { Environment } from "./types.ts";
import { requireValidator } from "./validators.ts";

const INTERNAL = 13;

/**
 * The query of redelegations: of one triplet, of one source, or of one delegator. As in the SDK, a source together with a
 * delegator and without a destination is not read.
 */
export function createRedelegationQuery(environment: Environment): QueryHandler {
  return toQueryHandler(
    `${SERVICE}/Redelegations`,
    { request: wire.QueryRedelegationsRequest, response: wire.QueryRedelegationsResponse },
    (context, request) => {
      const { delegatorAddr, srcValidatorAddr, dstValidatorAddr } = request;
      if (delegatorAddr !== "" && srcValidatorAddr !== "" && dstValidatorAddr !== "")
        return { redelegationResponses: [oneOf(context, environment, request)], pagination: undefined };
      return delegatorAddr === "" && srcValidatorAddr !== "" && dstValidatorAddr === ""
        ? ofSource(context, environment, request)
        : ofDelegator(context, environment, request);
    },
  );
}

function oneOf(
  context: Context,
  environment: Environment,
  request: wire.QueryRedelegationsRequest,
): RedelegationResponse {
  const { delegatorAddr, srcValidatorAddr, dstValidatorAddr } = request;
  const found = redelegations.get(context, {
    delegator: delegatorOf(environment, delegatorAddr),
    source: operatorOf(environment, srcValidatorAddr),
    destination: operatorOf(environment, dstValidatorAddr),
  });
  if (found !== undefined) return withBalances(context, environment, found);
  const words = `redelegation not found for delegator address ${delegatorAddr} from validator address ${srcValidatorAddr}`;
  throw new QueryError(INTERNAL, `rpc error: code = NotFound desc = ${words}`);
}

function ofSource(
  context: Context,
  environment: Environment,
  request: wire.QueryRedelegationsRequest,
): wire.QueryRedelegationsResponse {
  const source = operatorOf(environment, request.srcValidatorAddr);
  const prefix = concat(REDELEGATIONS_BY_SOURCE, lengthPrefixed(source));
  const found: RedelegationResponse[] = [];
  const pagination = paginate({ store: context.store(MODULE_NAME), prefix }, request.pagination, (key) => {
    const [delegator = key, destination = key] = splitAddresses(key);
    const redelegation = redelegations.get(context, { delegator, source, destination });
    if (redelegation !== undefined) found.push(withBalances(context, environment, redelegation));
  });
  return { redelegationResponses: found, pagination };
}

function ofDelegator(
  context: Context,
  environment: Environment,
  request: wire.QueryRedelegationsRequest,
): wire.QueryRedelegationsResponse {
  const delegator = delegatorOf(environment, request.delegatorAddr);
  const prefix = concat(REDELEGATIONS, lengthPrefixed(delegator));
  const found: RedelegationResponse[] = [];
  const paged = { store: context.store(MODULE_NAME), prefix };
  const pagination = paginate(paged, request.pagination, (_key, value) => {
    found.push(withBalances(context, environment, redelegationCodec.decode(value)));
  });
  return { redelegationResponses: found, pagination };
}

/** The response has the entries beside the redelegation, each with its tokens at the destination. */
function withBalances(
  context: Context,
  environment: Environment,
  redelegation: Redelegation,
): RedelegationResponse {
  const destination = environment.operators.parse(redelegation.validatorDstAddress);
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
