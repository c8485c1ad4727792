import { NO_PAIR, poolDenom } from "./keys.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { DepositRecord } from "../../../../cosmos/proto/gen/neutron/dex/deposit_record.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { getPool } from "./pool.ts";
import { toWirePool } from "./records.ts";
import { poolMetadata } from "./store.ts";

const POOL_DENOM = /^neutron\/pool\/(\d{1,20})$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Returns the pool id from a pool share denomination, or undefined for any other denomination. */
function parsePoolDenom(denom: string): bigint | undefined {
  const digits = POOL_DENOM.exec(denom)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= MAX_UINT64 ? id : undefined;
}

/** Builds a deposit record from a pool's shares. Since shares are coins, deposits have no record in the store. */
export function toDepositRecord(context: Context, id: bigint, shares: bigint): DepositRecord {
  const { tick, fee, pairId } =
    poolMetadata.get(context, id) ?? unreachable(`shares of pool ${id} without its metadata`);
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

/** Adds the pool and its total shares to a record. */
export function withPoolData(
  context: Context,
  record: DepositRecord,
  supplyOf: (denom: string) => bigint,
): DepositRecord {
  const { pairId = NO_PAIR, centerTickIndex, fee } = record;
  const pool = getPool(context, { pairId, tick: centerTickIndex, fee });
  if (pool === undefined) return unreachable("a deposit into a pool that was never created");
  return { ...record, totalShares: supplyOf(poolDenom(pool.id)).toString(), pool: toWirePool(pool) };
}

interface PoolShares {
  readonly id: bigint;
  readonly amount: bigint;
}

export interface SharesPage {
  readonly shares: readonly PoolShares[];
  readonly pagination: PageResponse;
}

const DEFAULT_LIMIT = 100n;

/**
 * Pages through the pool shares in an address' balances, following x/dex's own rules: page keys are denominations, a page
 * requested by key has no total, and its next key can be any coin. Throws QueryError 13.
 */
export function pagePoolShares(coins: Iterable<Coin>, request: PageRequest | undefined): SharesPage {
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

function fromKey(coins: Iterable<Coin>, first: string, limit: bigint): SharesPage {
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

interface OffsetPage {
  readonly offset: bigint;
  readonly end: bigint;
  readonly countTotal: boolean;
}

function fromOffset(coins: Iterable<Coin>, { offset, end, countTotal }: OffsetPage): SharesPage {
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
