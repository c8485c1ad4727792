import { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { PoolMetadata } from "../../../../cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import type { PoolReserves } from "../../../../cosmos/proto/gen/neutron/dex/pool_reserves.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { TickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { orQueryError, queryHandlers } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import type { estimates, simulations } from "./handlers.ts";
import * as keys from "./keys.ts";
import { moduleParams } from "./params.ts";
import { getPool } from "./pool.ts";
import {
  decodeRecord,
  found,
  page,
  pageRecords,
  parsePairId,
  sidePrefix,
  sideSelling,
  asDeployed,
  type Queries,
} from "./query-pages.ts";
import { toWirePool, toWireReserves, toWireTranche, toWireTrancheUser } from "./records.ts";
import * as store from "./store.ts";
import { calcWithdrawable, findTranche } from "./tranche.ts";
import type { DexKeepers, DexOptions, PairId, TrancheKey } from "./types.ts";
import { type DexBalances, pagePoolShares, toDepositRecord, withPoolData } from "./user-deposits.ts";

const TICKS = { name: "neutron.dex.TickLiquidity", type: TickLiquidity };
const TRANCHES = { name: "neutron.dex.LimitOrderTranche", type: LimitOrderTranche };
const TRANCHE_USERS = { name: "neutron.dex.LimitOrderTrancheUser", type: LimitOrderTrancheUser };
const POOL_METADATA = { name: "neutron.dex.PoolMetadata", type: PoolMetadata };

/** Dependencies of the queries. */
export interface DexQueryKeepers extends DexKeepers {
  readonly balances: DexBalances;
}

/** Queries that run a message without applying its effects. */
type DryRuns = ReturnType<typeof estimates> & ReturnType<typeof simulations>;

/** The module's queries. */
export function createQueries(keepers: DexQueryKeepers, dryRuns: DryRuns): readonly QueryHandler[] {
  const functions = {
    ...paramsAndPools(),
    ...ticks(),
    ...tranches(),
    ...trancheUsers(keepers),
    ...userDeposits(keepers),
    ...dryRuns,
  };
  return queryHandlers(wire.Query, functions, keepers.chainName).map((handler) =>
    asDeployed(handler, keepers.chainName),
  );
}

function paramsAndPools() {
  return {
    Params: moduleParams.query,
    Pool: (context, { pairId, tickIndex, fee }) => {
      const key = { pairId: parsePairId(pairId), tick: tickIndex, fee };
      return { pool: toWirePool(found(getPool(context, key))) };
    },
    PoolByID: (context, { poolId }) => {
      const { pairId = NO_PAIR, tick, fee } = found(store.poolMetadata.get(context, poolId));
      return { pool: toWirePool(found(getPool(context, { pairId, tick, fee }))) };
    },
    PoolMetadata: (context, { id }) => ({
      PoolMetadata: found(store.poolMetadata.get(context, id), "PoolMetadata not found for key"),
    }),
    PoolMetadataAll: (context, request) => {
      const { records, pagination } = pageRecords(context, keys.POOL_METADATA_PREFIX, request, POOL_METADATA);
      return { poolMetadata: records, pagination };
    },
  } satisfies Queries;
}

const NO_PAIR: PairId = { token0: "", token1: "" };

function ticks() {
  return {
    TickLiquidityAll: (context, request) => {
      const { records, pagination } = pageRecords(context, sidePrefix(request), request, TICKS);
      return { tickLiquidity: records, pagination };
    },
    PoolReservesAll: (context, request) => {
      const poolReserves: PoolReserves[] = [];
      const pagination = page(context, sidePrefix(request), request, (_key, value, onPage) => {
        const { record } = decodeRecord(context, TICKS, value);
        if (record?.$case !== "liquidity") return false;
        if (onPage) poolReserves.push(record.value);
        return true;
      });
      return { poolReserves, pagination };
    },
    PoolReserves: (context, { pairId, tokenIn, tickIndex, fee }) => {
      const tradePairId = sideSelling(parsePairId(pairId), tokenIn);
      const reserves = found(store.getReserves(context, { tradePairId, tick: tickIndex, fee }));
      return { poolReserves: toWireReserves(reserves) };
    },
  } satisfies Queries;
}

function userDeposits({ bech32Prefix, balances, bank }: DexQueryKeepers) {
  return {
    UserDepositsAll: (context, { address, pagination: request, includePoolData }) => {
      const owner = orQueryError(() => parseAddress(bech32Prefix, address));
      const { shares, pagination } = pagePoolShares(balances.balances(context, owner), request);
      const supplyOf = (denom: string): bigint => bank.supply(context, denom);
      const deposits = shares.map(({ id, amount }) => {
        const record = toDepositRecord(context, id, amount);
        return includePoolData ? withPoolData(context, record, supplyOf) : record;
      });
      return { deposits, pagination };
    },
  } satisfies Queries;
}

function tranches() {
  return {
    LimitOrderTranche: (context, request) => {
      const { tranche } = found(findTranche(context, trancheKeyOf(request)));
      return { limitOrderTranche: toWireTranche(tranche) };
    },
    LimitOrderTrancheAll: (context, request) => {
      const limitOrderTranche: LimitOrderTranche[] = [];
      const pagination = page(context, sidePrefix(request), request, (_key, value, onPage) => {
        const { record } = decodeRecord(context, TICKS, value);
        if (record?.$case !== "limitOrderTranche") return false;
        if (onPage) limitOrderTranche.push(record.value);
        return true;
      });
      return { limitOrderTranche, pagination };
    },
    InactiveLimitOrderTranche: (context, request) => {
      const tranche = found(store.getInactiveTranche(context, trancheKeyOf(request)));
      return { inactiveLimitOrderTranche: toWireTranche(tranche) };
    },
    InactiveLimitOrderTrancheAll: (context, request) => {
      const prefix = keys.INACTIVE_TRANCHE_PREFIX;
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHES);
      return { inactiveLimitOrderTranche: records, pagination };
    },
  } satisfies Queries;
}

function trancheUsers({ bech32Prefix }: DexOptions) {
  return {
    LimitOrderTrancheUser: (context, { address, trancheKey, calcWithdrawableShares }) => {
      const user = found(store.getTrancheUser(context, address, trancheKey));
      const limitOrderTrancheUser = toWireTrancheUser(user);
      if (!calcWithdrawableShares) return { limitOrderTrancheUser, withdrawableShares: "" };
      const { tranche } = found(findTranche(context, user), "Tranche not found");
      const { shares } = calcWithdrawable(tranche, user);
      return { limitOrderTrancheUser, withdrawableShares: shares.toString() };
    },
    LimitOrderTrancheUserAll: (context, request) => {
      const prefix = keys.TRANCHE_USER_PREFIX;
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHE_USERS);
      return { limitOrderTrancheUser: records, pagination };
    },
    LimitOrderTrancheUserAllByAddress: (context, request) => {
      orQueryError(() => parseAddress(bech32Prefix, request.address));
      const prefix = concat(keys.TRANCHE_USER_PREFIX, keys.trancheUserPrefix(request.address));
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHE_USERS);
      return { limitOrders: records, pagination };
    },
  } satisfies Queries;
}

function trancheKeyOf(request: wire.QueryGetLimitOrderTrancheRequest): TrancheKey {
  const { pairId, tokenIn, tickIndex, trancheKey } = request;
  return { tradePairId: sideSelling(parsePairId(pairId), tokenIn), tick: tickIndex, trancheKey };
}
