import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { createDelegationQueries } from "./delegation-queries.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { moduleAddress } from "../../runtime/address.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import { historicalInfos } from "./validator-set.ts";
import { BONDED_POOL, MODULE_NAME, NOT_BONDED_POOL, VALIDATORS } from "./keys.ts";
import { moduleParams } from "./params.ts";
import { emptyAddress, operatorOf, SERVICE } from "./query-fields.ts";
import { validatorCodec, validatorToWire } from "./records.ts";
import type { Keepers } from "./types.ts";
import { validators } from "./validators.ts";
import type { Context } from "../../runtime/context.ts";

/** The queries of the module. */
export function createQueryHandlers(keepers: Keepers): readonly QueryHandler[] {
  return [...validatorQueries(keepers), ...createDelegationQueries(keepers), ...chainQueries(keepers)];
}

const STATUSES: ReadonlyMap<string, number> = new Map(
  (["BOND_STATUS_UNBONDED", "BOND_STATUS_UNBONDING", "BOND_STATUS_BONDED"] as const).map((name) => [
    name,
    BondStatus[name],
  ]),
);

function validatorQueries(keepers: Keepers): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/Validators`,
      { request: wire.QueryValidatorsRequest, response: wire.QueryValidatorsResponse },
      (context, { status, pagination }) => {
        const wanted = STATUSES.get(status);
        if (status !== "" && wanted === undefined)
          throw new QueryError(GrpcCode.InvalidArgument, `invalid validator status ${status}`);
        return pageOfValidators(context, wanted, pagination);
      },
    ),
    toQueryHandler(
      `${SERVICE}/Validator`,
      { request: wire.QueryValidatorRequest, response: wire.QueryValidatorResponse },
      (context, { validatorAddr }) => {
        if (validatorAddr === "") throw emptyAddress("validator");
        const validator = validators.get(context, operatorOf(keepers, validatorAddr));
        if (validator === undefined)
          throw new QueryError(GrpcCode.NotFound, `validator ${validatorAddr} not found`);
        return { validator: validatorToWire(validator) };
      },
    ),
  ];
}

function pageOfValidators(
  context: Context,
  wanted: number | undefined,
  request: wire.QueryValidatorsRequest["pagination"],
): wire.QueryValidatorsResponse {
  const found: wire.QueryValidatorsResponse["validators"] = [];
  const paged = { store: context.store(MODULE_NAME), prefix: VALIDATORS };
  const pagination = paginateFiltered(paged, request, (_key, value, onPage) => {
    const validator = validatorCodec.decode(value);
    if (wanted !== undefined && validator.status !== wanted) return false;
    if (onPage) found.push(validatorToWire(validator));
    return true;
  });
  return { validators: found, pagination };
}

function chainQueries({ bank }: Keepers): readonly QueryHandler[] {
  const balance = (context: Context, pool: string): string =>
    bank.balance(context, moduleAddress(pool), moduleParams.get(context).bondDenom).amount.toString();
  return [
    toQueryHandler(
      `${SERVICE}/HistoricalInfo`,
      { request: wire.QueryHistoricalInfoRequest, response: wire.QueryHistoricalInfoResponse },
      (context, { height }) => {
        if (height < 0n) throw new QueryError(GrpcCode.InvalidArgument, "height cannot be negative");
        const hist = historicalInfos.get(context, height);
        if (hist === undefined)
          throw new QueryError(GrpcCode.NotFound, `historical info for height ${height} not found`);
        return { hist };
      },
    ),
    toQueryHandler(
      `${SERVICE}/Pool`,
      { request: wire.QueryPoolRequest, response: wire.QueryPoolResponse },
      (context) => ({
        pool: {
          notBondedTokens: balance(context, NOT_BONDED_POOL),
          bondedTokens: balance(context, BONDED_POOL),
        },
      }),
    ),
    toQueryHandler(
      `${SERVICE}/Params`,
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: moduleParams.get(context) }),
    ),
  ];
}
