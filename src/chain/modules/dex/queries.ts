import { concat } from "../../../base/bytes.ts";
import type { PageRequest, PageResponse } from "../../../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { LimitOrderTranche } from "../../../proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { PoolMetadata } from "../../../proto/gen/neutron/dex/pool_metadata.ts";
import type { PoolReserves } from "../../../proto/gen/neutron/dex/pool_reserves.ts";
import * as wire from "../../../proto/gen/neutron/dex/query.ts";
import { TickLiquidity } from "../../../proto/gen/neutron/dex/tick_liquidity.ts";
import { toChainTypeUrl } from "../../../proto/type-urls.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { orQueryError, toQueryHandler, type WireType } from "../../runtime/handler-forms.ts";
import { QueryError, type QueryHandler } from "../../runtime/module.ts";
import { ModuleError } from "../../runtime/module-error.ts";
import { type FilterEntry, paginateFiltered } from "../../runtime/pagination.ts";
import { orPanic } from "./errors.ts";
import { createEstimates } from "./estimates.ts";
import * as keys from "./keys.ts";
import { parsePairId, sideSelling } from "./pair-id.ts";
import { getParams } from "./params.ts";
import { getPool } from "./pool.ts";
import { toWirePool, toWireReserves, toWireTranche, toWireTrancheUser } from "./records.ts";
import { SIMULATIONS } from "./simulations.ts";
import * as store from "./store.ts";
import { calcWithdrawable, findTranche } from "./tranche.ts";
import type { DexEnvironment, PairId, TrancheKey } from "./types.ts";
import { type DexBalances, pagePoolShares, toDepositRecord, withPoolData } from "./user-deposits.ts";

/** Dependencies of the queries. */
export interface DexQueryEnvironment extends DexEnvironment {
  readonly balances: DexBalances;
}

const SERVICE = "/neutron.dex.Query";
const UNKNOWN = 2;
const NOT_FOUND = 5;
const INTERNAL = 13;

type Answer<Request, Response> = (context: Context, request: Request) => Response;

/** All queries of the module, under paths of this chain's name. */
export function createQueries(environment: DexQueryEnvironment): readonly QueryHandler[] {
  const plain = [
    ...paramsAndPools(),
    ...ticks(),
    ...tranches(),
    ...trancheUsers(environment),
    userDeposits(environment),
    ...createEstimates(environment),
  ];
  const simulations = SIMULATIONS.map(({ rpc, answer }) => ({
    path: `${SERVICE}/${rpc}`,
    query: (context: Context, request: Uint8Array) => answer(context, request, environment),
  }));
  return [...plain, ...simulations].map(({ path, query }) => ({
    path: toChainTypeUrl(path, environment.chainName),
    query: (context, request) => answering(() => query(context, request)),
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

function query<Request, Response>(
  rpc: string,
  request: WireType<Request>,
  response: WireType<Response>,
  answer: Answer<Request, Response>,
): QueryHandler {
  return toQueryHandler(`${SERVICE}/${rpc}`, { request, response }, answer);
}

function found<T>(value: T | undefined, text = "not found"): T {
  if (value === undefined) throw new QueryError(NOT_FOUND, text);
  return value;
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

function tranches(): readonly QueryHandler[] {
  return [
    query(
      "LimitOrderTranche",
      wire.QueryGetLimitOrderTrancheRequest,
      wire.QueryGetLimitOrderTrancheResponse,
      (context, request) => {
        const { tranche } = found(findTranche(context, trancheKeyOf(request)));
        return { limitOrderTranche: toWireTranche(tranche) };
      },
    ),
    query(
      "LimitOrderTrancheAll",
      wire.QueryAllLimitOrderTrancheRequest,
      wire.QueryAllLimitOrderTrancheResponse,
      (context, request) => {
        const limitOrderTranche: LimitOrderTranche[] = [];
        const pagination = page(context, sidePrefix(request), request, (_key, value, onPage) => {
          const { record } = TickLiquidity.decode(value);
          if (record?.$case !== "limitOrderTranche") return false;
          if (onPage) limitOrderTranche.push(record.value);
          return true;
        });
        return { limitOrderTranche, pagination };
      },
    ),
    query(
      "InactiveLimitOrderTranche",
      wire.QueryGetInactiveLimitOrderTrancheRequest,
      wire.QueryGetInactiveLimitOrderTrancheResponse,
      (context, request) => {
        const tranche = found(store.getInactiveTranche(context, trancheKeyOf(request)));
        return { inactiveLimitOrderTranche: toWireTranche(tranche) };
      },
    ),
    query(
      "InactiveLimitOrderTrancheAll",
      wire.QueryAllInactiveLimitOrderTrancheRequest,
      wire.QueryAllInactiveLimitOrderTrancheResponse,
      (context, request) => {
        const prefix = keys.INACTIVE_TRANCHE_PREFIX;
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTranche);
        return { inactiveLimitOrderTranche: records, pagination };
      },
    ),
  ];
}

function trancheUsers({ bech32Prefix }: DexEnvironment): readonly QueryHandler[] {
  return [
    query(
      "LimitOrderTrancheUser",
      wire.QueryGetLimitOrderTrancheUserRequest,
      wire.QueryGetLimitOrderTrancheUserResponse,
      (context, { address, trancheKey, calcWithdrawableShares }) => {
        const user = found(store.getTrancheUser(context, address, trancheKey));
        const limitOrderTrancheUser = toWireTrancheUser(user);
        if (!calcWithdrawableShares) return { limitOrderTrancheUser, withdrawableShares: "" };
        const { tranche } = found(findTranche(context, user), "Tranche not found");
        const { shares } = calcWithdrawable(tranche, user);
        return { limitOrderTrancheUser, withdrawableShares: shares.toString() };
      },
    ),
    query(
      "LimitOrderTrancheUserAll",
      wire.QueryAllLimitOrderTrancheUserRequest,
      wire.QueryAllLimitOrderTrancheUserResponse,
      (context, request) => {
        const prefix = keys.TRANCHE_USER_PREFIX;
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTrancheUser);
        return { limitOrderTrancheUser: records, pagination };
      },
    ),
    query(
      "LimitOrderTrancheUserAllByAddress",
      wire.QueryAllLimitOrderTrancheUserByAddressRequest,
      wire.QueryAllLimitOrderTrancheUserByAddressResponse,
      (context, request) => {
        orQueryError(() => parseAddress(bech32Prefix, request.address));
        const prefix = concat(keys.TRANCHE_USER_PREFIX, keys.trancheUserPrefix(request.address));
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTrancheUser);
        return { limitOrders: records, pagination };
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

/** The records of one side of a pair. `tokenIn` is the denomination that the side sells. */
function sidePrefix({ pairId, tokenIn }: { readonly pairId: string; readonly tokenIn: string }): Uint8Array {
  return concat(keys.TICK_LIQUIDITY_PREFIX, keys.sideKey(sideSelling(parsePairId(pairId), tokenIn)));
}

function trancheKeyOf(request: wire.QueryGetLimitOrderTrancheRequest): TrancheKey {
  const { pairId, tokenIn, tickIndex, trancheKey } = request;
  return { tradePairId: sideSelling(parsePairId(pairId), tokenIn), tick: tickIndex, trancheKey };
}

interface PagedRequest {
  readonly pagination: PageRequest | undefined;
}

function pageRecords<T>(
  context: Context,
  prefix: Uint8Array,
  request: PagedRequest,
  type: { decode(bytes: Uint8Array): T },
): { readonly records: T[]; readonly pagination: PageResponse } {
  const records: T[] = [];
  const pagination = page(context, prefix, request, (_key, value, onPage) => {
    if (onPage) records.push(type.decode(value));
    return true;
  });
  return { records, pagination };
}

/** Pages through the store below `prefix`. Go wraps every failure of the paging as Internal. */
function page(
  context: Context,
  prefix: Uint8Array,
  { pagination }: PagedRequest,
  onEntry: FilterEntry,
): PageResponse {
  try {
    return paginateFiltered({ store: context.store(keys.MODULE_NAME), prefix }, pagination, onEntry);
  } catch (thrown) {
    throw thrown instanceof QueryError ? new QueryError(INTERNAL, thrown.message) : thrown;
  }
}
