import { createEstimates } from "./estimates.ts";
import { createOrderQueries } from "./order-queries.ts";
import type { PoolReserves } from "../../../../cosmos/proto/gen/neutron/dex/pool_reserves.ts";
import { PoolMetadata } from "../../../../cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { TickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { orQueryError } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { ModuleError, QueryError } from "../../runtime/errors.ts";
import { orPanic } from "./errors.ts";
import * as keys from "./keys.ts";
import { parsePairId, sideSelling } from "./pair-id.ts";
import { getParams } from "./params.ts";
import { getPool } from "./pool.ts";
import { found, page, pageRecords, query, SERVICE, sidePrefix } from "./query-forms.ts";
import { toWirePool, toWireReserves } from "./records.ts";
import { SIMULATIONS } from "./simulations.ts";
import * as store from "./store.ts";
import type { DexEnvironment, PairId } from "./types.ts";
import { type DexBalances, pagePoolShares, toDepositRecord, withPoolData } from "./user-deposits.ts";

/** Dependencies of the queries. */
export interface DexQueryEnvironment extends DexEnvironment {
  readonly balances: DexBalances;
}

const UNKNOWN = 2;
const INTERNAL = 13;

/** All queries of the module, under paths of this chain's name. */
export function createQueries(environment: DexQueryEnvironment): readonly QueryHandler[] {
  const plain = [
    ...paramsAndPools(),
    ...ticks(),
    ...createOrderQueries(environment),
    userDeposits(environment),
    ...createEstimates(environment),
  ];
  const simulations = SIMULATIONS.map(({ rpc, answer }) => ({
    path: `${SERVICE}/${rpc}`,
    query: (context: Context, request: Uint8Array) => answer(context, request, environment),
  }));
  return [...plain, ...simulations].map((handler) => ({
    path: toChainTypeUrl(handler.path, environment.chainName),
    query: (context, request) => answering(() => handler.query(context, request)),
  }));
}

/** Go returns an error without a registered code as it is, and recovers a panic as Internal. */
function answering<T>(work: () => T): T {
  try {
    return orPanic(work);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError)) throw thrown;
    if (thrown.codespace === "undefined") throw new QueryError(UNKNOWN, thrown.message);
    if (thrown.code === 111_222) throw new QueryError(INTERNAL, thrown.message);
    throw thrown;
  }
}

function paramsAndPools(): readonly QueryHandler[] {
  return [
    query("Params", wire.QueryParamsRequest, wire.QueryParamsResponse, (context) => ({
      params: getParams(context),
    })),
    query("Pool", wire.QueryPoolRequest, wire.QueryPoolResponse, (context, { pairId, tickIndex, fee }) => {
      const key = { pairId: parsePairId(pairId), tick: tickIndex, fee };
      return { pool: toWirePool(found(getPool(context, key))) };
    }),
    query("PoolByID", wire.QueryPoolByIDRequest, wire.QueryPoolResponse, (context, { poolId }) => {
      const { pairId = NO_PAIR, tick, fee } = found(store.poolMetadata.get(context, poolId));
      return { pool: toWirePool(found(getPool(context, { pairId, tick, fee }))) };
    }),
    query(
      "PoolMetadata",
      wire.QueryGetPoolMetadataRequest,
      wire.QueryGetPoolMetadataResponse,
      (context, { id }) => ({
        PoolMetadata: found(store.poolMetadata.get(context, id), "PoolMetadata not found for key"),
      }),
    ),
    query(
      "PoolMetadataAll",
      wire.QueryAllPoolMetadataRequest,
      wire.QueryAllPoolMetadataResponse,
      (context, request) => {
        const { records, pagination } = pageRecords(
          context,
          keys.POOL_METADATA_PREFIX,
          request,
          PoolMetadata,
        );
        return { poolMetadata: records, pagination };
      },
    ),
  ];
}

const NO_PAIR: PairId = { token0: "", token1: "" };

function ticks(): readonly QueryHandler[] {
  return [
    query(
      "TickLiquidityAll",
      wire.QueryAllTickLiquidityRequest,
      wire.QueryAllTickLiquidityResponse,
      (context, request) => {
        const { records, pagination } = pageRecords(context, sidePrefix(request), request, TickLiquidity);
        return { tickLiquidity: records, pagination };
      },
    ),
    query(
      "PoolReservesAll",
      wire.QueryAllPoolReservesRequest,
      wire.QueryAllPoolReservesResponse,
      (context, request) => {
        const poolReserves: PoolReserves[] = [];
        const pagination = page(context, sidePrefix(request), request, (_key, value, onPage) => {
          const { record } = TickLiquidity.decode(value);
          if (record?.$case !== "liquidity") return false;
          if (onPage) poolReserves.push(record.value);
          return true;
        });
        return { poolReserves, pagination };
      },
    ),
    query(
      "PoolReserves",
      wire.QueryGetPoolReservesRequest,
      wire.QueryGetPoolReservesResponse,
      (context, { pairId, tokenIn, tickIndex, fee }) => {
        const tradePairId = sideSelling(parsePairId(pairId), tokenIn);
        const reserves = found(store.getReserves(context, { tradePairId, tick: tickIndex, fee }));
        return { poolReserves: toWireReserves(reserves) };
      },
    ),
  ];
}

function userDeposits({ bech32Prefix, balances, bank }: DexQueryEnvironment): QueryHandler {
  return query(
    "UserDepositsAll",
    wire.QueryAllUserDepositsRequest,
    wire.QueryAllUserDepositsResponse,
    (context, { address, pagination: request, includePoolData }) => {
      const owner = orQueryError(() => parseAddress(bech32Prefix, address));
      const { shares, pagination } = pagePoolShares(balances.balances(context, owner), request);
      const supplyOf = (denom: string): bigint => bank.supply(context, denom);
      const deposits = shares.map(({ id, amount }) => {
        const record = toDepositRecord(context, id, amount);
        return includePoolData ? withPoolData(context, record, supplyOf) : record;
      });
      return { deposits, pagination };
    },
  );
}
