import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { delegationQueries } from "./delegation-queries.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { moduleAddress } from "../../runtime/address.ts";
import { queryHandlers } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import { historicalInfos } from "./validator-set.ts";
import { BONDED_POOL, MODULE_NAME, NOT_BONDED_POOL, VALIDATORS } from "./keys.ts";
import { moduleParams } from "./params.ts";
import { emptyAddress, operatorOf, type Queries } from "./query-fields.ts";
import { validatorCodec, validatorToWire } from "./records.ts";
import type { Keepers } from "./types.ts";
import { validators } from "./validators.ts";
import type { Context } from "../../runtime/context.ts";

/** The module's queries. */
export function createQueryHandlers(keepers: Keepers): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    ...validatorQueries(keepers),
    ...delegationQueries(keepers),
    ...chainQueries(keepers),
    Params: moduleParams.query,
  });
}

const STATUSES: ReadonlyMap<string, number> = new Map(
  (["BOND_STATUS_UNBONDED", "BOND_STATUS_UNBONDING", "BOND_STATUS_BONDED"] as const).map((name) => [
    name,
    BondStatus[name],
  ]),
);

function validatorQueries(keepers: Keepers) {
  return {
    Validators: (context, { status, pagination }) => {
      const wanted = STATUSES.get(status);
      if (status !== "" && wanted === undefined)
        throw new QueryError(GrpcCode.InvalidArgument, `invalid validator status ${status}`);
      return pageOfValidators(context, wanted, pagination);
    },
    Validator: (context, { validatorAddr }) => {
      if (validatorAddr === "") throw emptyAddress("validator");
      const validator = validators.get(context, operatorOf(keepers, validatorAddr));
      if (validator === undefined)
        throw new QueryError(GrpcCode.NotFound, `validator ${validatorAddr} not found`);
      return { validator: validatorToWire(validator) };
    },
  } satisfies Queries;
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

function chainQueries({ bank }: Keepers) {
  const balance = (context: Context, pool: string): string =>
    bank.balance(context, moduleAddress(pool), moduleParams.get(context).bondDenom).amount.toString();
  return {
    HistoricalInfo: (context, { height }) => {
      if (height < 0n) throw new QueryError(GrpcCode.InvalidArgument, "height cannot be negative");
      const hist = historicalInfos.get(context, height);
      if (hist === undefined)
        throw new QueryError(GrpcCode.NotFound, `historical info for height ${height} not found`);
      return { hist };
    },
    Pool: (context) => ({
      pool: {
        notBondedTokens: balance(context, NOT_BONDED_POOL),
        bondedTokens: balance(context, BONDED_POOL),
      },
    }),
  } satisfies Queries;
}
