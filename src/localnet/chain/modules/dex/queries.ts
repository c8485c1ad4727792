import { notFound, GrpcCode, ModuleError, QueryError } from "../../runtime/errors.ts";
import { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { PoolMetadata } from "../../../../cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import type { PoolReserves } from "../../../../cosmos/proto/gen/neutron/dex/pool_reserves.ts";
import type * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { TickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { concat, fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { orQueryError, type QueryFunctions } from "../../runtime/handlers.ts";
import type { QueryHandler, Context } from "../../runtime/context.ts";
import * as types from "./types.ts";
import { moduleParams } from "./params.ts";
import { getPool } from "./pool.ts";
import { toWirePool, toWireReserves, toWireTranche, toWireTrancheUser } from "./records.ts";
import * as store from "./store.ts";
import { calcWithdrawable, findTranche } from "./tranche.ts";
import { responseTypeOf, toCanonicalTypeUrl } from "../../../../cosmos/proto/registry.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { type FilterEntry, paginateFiltered } from "../../runtime/pagination.ts";
import * as errors from "./errors.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { DepositRecord } from "../../../../cosmos/proto/gen/neutron/dex/deposit_record.ts";
import type { Coin } from "../../runtime/coins.ts";

const TICKS = { name: "neutron.dex.TickLiquidity", type: TickLiquidity };
const TRANCHES = { name: "neutron.dex.LimitOrderTranche", type: LimitOrderTranche };
const TRANCHE_USERS = { name: "neutron.dex.LimitOrderTrancheUser", type: LimitOrderTrancheUser };
const POOL_METADATA = { name: "neutron.dex.PoolMetadata", type: PoolMetadata };

export function stateQueries({ bech32Prefix, bank }: types.DexKeepers) {
  return {
    Params: moduleParams.query,
    Pool: (context, { pairId, tickIndex, fee }) => {
      const key = { pairId: parsePairId(pairId), tick: tickIndex, fee };
      return { pool: toWirePool(found(getPool(context, key))) };
    },
    PoolByID: (context, { poolId }) => {
      const { pairId = types.NO_PAIR, tick, fee } = found(store.poolMetadata.get(context, poolId));
      return { pool: toWirePool(found(getPool(context, { pairId, tick, fee }))) };
    },
    PoolMetadata: (context, { id }) => ({
      PoolMetadata: found(store.poolMetadata.get(context, id), "PoolMetadata not found for key"),
    }),
    PoolMetadataAll: (context, request) => {
      const { records, pagination } = pageRecords(
        context,
        types.POOL_METADATA_PREFIX,
        request,
        POOL_METADATA,
      );
      return { poolMetadata: records, pagination };
    },
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
    UserDepositsAll: (context, { address, pagination: request, includePoolData }) => {
      const owner = orQueryError(() => parseAddress(bech32Prefix, address));
      const { shares, pagination } = pagePoolShares(bank.balances(context, owner), request);
      const supplyOf = (denom: string): bigint => bank.supply(context, denom);
      const deposits = shares.map(({ id, amount }) => {
        const record = toDepositRecord(context, id, amount);
        return includePoolData ? withPoolData(context, record, supplyOf) : record;
      });
      return { deposits, pagination };
    },
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
      const tranche = found(store.inactiveTranches.get(context, trancheKeyOf(request)));
      return { inactiveLimitOrderTranche: toWireTranche(tranche) };
    },
    InactiveLimitOrderTrancheAll: (context, request) => {
      const prefix = types.INACTIVE_TRANCHE_PREFIX;
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHES);
      return { inactiveLimitOrderTranche: records, pagination };
    },
    LimitOrderTrancheUser: (context, { address, trancheKey, calcWithdrawableShares }) => {
      const user = found(store.trancheUsers.get(context, { address, trancheKey }));
      const limitOrderTrancheUser = toWireTrancheUser(user);
      if (!calcWithdrawableShares) return { limitOrderTrancheUser, withdrawableShares: "" };
      const { tranche } = found(findTranche(context, user), "Tranche not found");
      const { shares } = calcWithdrawable(tranche, user);
      return { limitOrderTrancheUser, withdrawableShares: shares.toString() };
    },
    LimitOrderTrancheUserAll: (context, request) => {
      const prefix = types.TRANCHE_USER_PREFIX;
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHE_USERS);
      return { limitOrderTrancheUser: records, pagination };
    },
    LimitOrderTrancheUserAllByAddress: (context, request) => {
      orQueryError(() => parseAddress(bech32Prefix, request.address));
      const prefix = concat(types.TRANCHE_USER_PREFIX, types.trancheUserPrefix(request.address));
      const { records, pagination } = pageRecords(context, prefix, request, TRANCHE_USERS);
      return { limitOrders: records, pagination };
    },
  } satisfies Queries;
}

function trancheKeyOf(request: wire.QueryGetLimitOrderTrancheRequest): types.TrancheKey {
  const { pairId, tokenIn, tickIndex, trancheKey } = request;
  return { tradePairId: sideSelling(parsePairId(pairId), tokenIn), tick: tickIndex, trancheKey };
}

export type Queries = Partial<QueryFunctions<typeof wire.Query>>;

/** Returns `value`. Throws QueryError 5 (not found) if `value` is undefined. */
function found<T>(value: T | undefined, text = "not found"): T {
  if (value === undefined) throw notFound(text);
  return value;
}

/** Returns the key prefix for records on one side of a pair. `tokenIn` is the denomination that this side sells. */
function sidePrefix({ pairId, tokenIn }: { readonly pairId: string; readonly tokenIn: string }): Uint8Array {
  return concat(types.TICK_LIQUIDITY_PREFIX, types.sideKey(sideSelling(parsePairId(pairId), tokenIn)));
}

interface PagedRequest {
  readonly pagination: PageRequest | undefined;
}

/** The protobuf type of the records that are stored under a prefix. */
interface RecordType<T> {
  /** The protobuf type's full name in the canonical package, `neutron`. */
  readonly name: string;
  readonly type: { decode(bytes: Uint8Array): T };
}

/** Decodes a stored record, whose field numbers depend on the chain's profile. */
function decodeRecord<T>({ profile }: Context, { name, type }: RecordType<T>, value: Uint8Array): T {
  return type.decode(profile.proto?.decode(name, value) ?? value);
}

function pageRecords<T>(
  context: Context,
  prefix: Uint8Array,
  request: PagedRequest,
  type: RecordType<T>,
): { readonly records: T[]; readonly pagination: PageResponse } {
  const records: T[] = [];
  const pagination = page(context, prefix, request, (_key, value, onPage) => {
    if (onPage) records.push(decodeRecord(context, type, value));
    return true;
  });
  return { records, pagination };
}

/** Returns a page of the records stored under `prefix`. As in Go, every pagination error becomes gRPC status Internal. */
function page(
  context: Context,
  prefix: Uint8Array,
  { pagination }: PagedRequest,
  onEntry: FilterEntry,
): PageResponse {
  try {
    return paginateFiltered({ store: context.store(types.MODULE_NAME), prefix }, pagination, onEntry);
  } catch (thrown) {
    throw thrown instanceof QueryError ? new QueryError(GrpcCode.Internal, thrown.message) : thrown;
  }
}

/**
 * Parses a pair id such as "A<>B", with the tokens in either order. Throws dex/1119 for any other format, and dex/1102 for equal
 * tokens.
 */
function parsePairId(text: string): types.PairId {
  const [first, second, ...more] = text.split("<>");
  if (first === undefined || second === undefined || more.length > 0) throw errors.ErrInvalidPairIdStr(text);
  if (first === second) throw errors.ErrInvalidTradingPair(text);
  return first < second ? { token0: first, token1: second } : { token0: second, token1: first };
}

/** Returns the side of the pair that sells `makerDenom`. If `makerDenom` is not one of the pair's tokens, `takerDenom` is token0. */
function sideSelling({ token0, token1 }: types.PairId, makerDenom: string): types.TradePairId {
  return { makerDenom, takerDenom: makerDenom === token0 ? token1 : token0 };
}

/** Wraps a query to encode its response with the profile's field numbers, and to return the deployed module's errors. */
export function asDeployed({ path, query }: QueryHandler, chainName: string): QueryHandler {
  const responseType = responseTypeOf(toCanonicalTypeUrl(path, chainName) ?? path);
  return {
    path,
    query: (context, request) => {
      const response = withGoErrors(() => query(context, request));
      return context.profile.proto?.encode(responseType, response) ?? response;
    },
  };
}

/** Runs `work`. As in Go, an unregistered error becomes gRPC status Unknown with the same text, and a panic becomes Internal. */
function withGoErrors<T>(work: () => T): T {
  try {
    return errors.orPanic(work);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError)) throw thrown;
    if (thrown.codespace === "undefined") throw new QueryError(GrpcCode.Unknown, thrown.message);
    if (thrown.code === 111_222) throw new QueryError(GrpcCode.Internal, thrown.message);
    throw thrown;
  }
}

const POOL_DENOM = /^neutron\/pool\/(\d{1,20})$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Returns the pool id in a pool share denomination, or undefined for any other denomination. */
function parsePoolDenom(denom: string): bigint | undefined {
  const digits = POOL_DENOM.exec(denom)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= MAX_UINT64 ? id : undefined;
}

/** Builds a deposit record from a pool's shares. The chain does not store deposit records, because pool shares are ordinary coins. */
export function toDepositRecord(context: Context, id: bigint, shares: bigint): DepositRecord {
  const { tick, fee, pairId } =
    store.poolMetadata.get(context, id) ?? unreachable(`shares of pool ${id} without its metadata`);
  return {
    pairId,
    sharesOwned: shares.toString(),
    centerTickIndex: tick,
    lowerTickIndex: tick - fee,
    upperTickIndex: tick + fee,
    fee,
    totalShares: "",
    pool: undefined,
  };
}

/** Adds the pool and its total shares to a deposit record. */
function withPoolData(
  context: Context,
  record: DepositRecord,
  supplyOf: (denom: string) => bigint,
): DepositRecord {
  const { pairId = types.NO_PAIR, centerTickIndex, fee } = record;
  const pool = getPool(context, { pairId, tick: centerTickIndex, fee });
  if (pool === undefined) return unreachable("a deposit into a pool that was never created");
  return { ...record, totalShares: supplyOf(types.poolDenom(pool.id)).toString(), pool: toWirePool(pool) };
}

interface PoolShares {
  readonly id: bigint;
  readonly amount: bigint;
}

const DEFAULT_LIMIT = 100n;

/**
 * Returns a page of the pool shares in an address's balances, with the special pagination rules of x/dex. Page keys are
 * denominations. A page requested by key has no total, and its next key can be the denomination of a coin that is not a pool share.
 * Throws QueryError 13 (Internal) for an invalid page request.
 */
function pagePoolShares(coins: Iterable<Coin>, request: PageRequest | undefined) {
  const { key, offset, limit, countTotal, reverse } = request ?? NO_PAGE;
  if (offset > 0n && key.length > 0)
    throw new QueryError(GrpcCode.Internal, "invalid request, either offset or key is expected, got both");
  if (reverse) throw new QueryError(GrpcCode.Internal, "invalid request, reverse pagination is not enabled");
  const size = limit === 0n ? DEFAULT_LIMIT : limit;
  return key.length > 0
    ? fromKey(coins, fromUtf8(key), size)
    : fromOffset(coins, { offset, end: offset + size, countTotal: countTotal || limit === 0n });
}

const NO_PAGE = { key: new Uint8Array(0), offset: 0n, limit: 0n, countTotal: false, reverse: false };

function fromKey(coins: Iterable<Coin>, first: string, limit: bigint) {
  const shares: PoolShares[] = [];
  let isInPage = false;
  for (const { denom, amount } of coins) {
    isInPage ||= denom === first;
    if (!isInPage) continue;
    if (BigInt(shares.length) === limit) return { shares, pagination: { nextKey: utf8(denom), total: 0n } };
    const id = parsePoolDenom(denom);
    if (id !== undefined) shares.push({ id, amount });
  }
  return { shares, pagination: { nextKey: new Uint8Array(0), total: 0n } };
}

function fromOffset(
  coins: Iterable<Coin>,
  { offset, end, countTotal }: Pick<PageRequest, "offset" | "countTotal"> & { readonly end: bigint },
) {
  const shares: PoolShares[] = [];
  let nextKey: Uint8Array = new Uint8Array(0);
  let hits = 0n;
  for (const { denom, amount } of coins) {
    const id = parsePoolDenom(denom);
    if (id === undefined) continue;
    if (hits >= offset && hits < end) shares.push({ id, amount });
    hits += 1n;
    if (hits !== end + 1n) continue;
    nextKey = utf8(denom);
    if (!countTotal) break;
  }
  return { shares, pagination: { nextKey, total: countTotal ? hits : 0n } };
}
