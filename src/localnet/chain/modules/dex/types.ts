import type { ChainNames } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import type { PrecDec } from "../../../../platform/base/decimal.ts";
import type { LimitOrderType } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { cachedOn } from "../../store/collections.ts";
import { concat, prefixEnd, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import { createRecentCache } from "../../../../platform/base/caches.ts";
import { GO_ZERO_TIME_NS, splitNs } from "../../../../platform/base/time.ts";
import { cacheKeyText } from "../../store/cache-store.ts";

/** A pair of denominations, with token0 before token1 in byte order. */
export interface PairId {
  readonly token0: string;
  readonly token1: string;
}

/** One side of a pair. On this side, a taker pays `takerDenom` and receives `makerDenom`. */
export interface TradePairId {
  readonly makerDenom: string;
  readonly takerDenom: string;
}

/** Identifies one side of a pool. `tick` is the tick from taker to maker. */
export interface PoolReservesKey {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly fee: bigint;
}

export interface PoolReserves {
  readonly key: PoolReservesKey;
  readonly reserves: bigint;
  readonly priceTakerToMaker: PrecDec;
  readonly priceOppositeTakerToMaker: PrecDec;
  /** Price in taker units per maker unit. */
  readonly makerPrice: PrecDec;
}

/** A pool. `lower` is the token0 side, and `upper` is the token1 side. */
export interface Pool {
  readonly id: bigint;
  readonly lower: PoolReserves;
  readonly upper: PoolReserves;
}

/** Identifies a pool by its pair, normalized centre tick and fee. */
export interface PoolKey {
  readonly pairId: PairId;
  readonly tick: bigint;
  readonly fee: bigint;
}

/** Identifies a tranche. `tick` is the tick from taker to maker. */
export interface TrancheKey {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly trancheKey: string;
}

/** Limit orders that share one price and are filled together. */
export interface Tranche {
  readonly key: TrancheKey;
  readonly reservesMaker: bigint;
  readonly reservesTaker: bigint;
  readonly totalMaker: bigint;
  readonly totalTaker: bigint;
  /** Expiration in nanoseconds since the Unix epoch. JIT orders have Go's zero time. If undefined, the tranche does not expire. */
  readonly expirationTimeNs: bigint | undefined;
  readonly priceTakerToMaker: PrecDec;
  readonly makerPrice: PrecDec;
}

export interface TrancheUser {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly trancheKey: string;
  /** Bech32 address. */
  readonly address: string;
  readonly sharesOwned: bigint;
  readonly sharesWithdrawn: bigint;
  readonly orderType: LimitOrderType;
}

export type TickLiquidity =
  | { readonly kind: "pool"; readonly reserves: PoolReserves }
  | { readonly kind: "tranche"; readonly tranche: Tranche };

/** A tranche's expiration. `trancheRef` is the active tranche's store key without its prefix. */
export interface Expiration {
  readonly timeNs: bigint;
  readonly trancheRef: Uint8Array;
}

export type DexOptions = Pick<ChainNames, "chainName" | "bech32Prefix" | "authority">;

/** The bank methods that the dex uses. Payments throw `ModuleError` if the payer has insufficient funds or the recipient is blocked. */
export type DexBank = Pick<
  BankKeeper,
  "balance" | "balances" | "holders" | "supply" | "sendToModule" | "sendFromModule" | "mint" | "burn"
>;

export interface DexKeepers extends DexOptions {
  readonly bank: DexBank;
}

export const MODULE_NAME = "dex";

/** Key prefix for the pool sides and active tranches on the order book (`TickLiquidity`). */
export const TICK_LIQUIDITY_PREFIX = utf8("TickLiquidity/value//");
/** Key prefix for the users' positions in tranches (`LimitOrderTrancheUser`). */
export const TRANCHE_USER_PREFIX = utf8("LimitOrderTrancheUser/value/");
/** Key prefix for filled, cancelled and expired tranches (`LimitOrderTranche`). */
export const INACTIVE_TRANCHE_PREFIX = utf8("InactiveLimitOrderTranche/value//");
/** Key prefix for tranche expirations (`LimitOrderExpiration`). */
export const EXPIRATION_PREFIX = utf8("LimitOrderExpiration/value//");
/** Key prefix for pool ids, which are encoded as 8 bytes, big-endian. */
export const POOL_ID_PREFIX = utf8("Pool/id//");
/** Key prefix for each pool's tick, fee and pair (`PoolMetadata`). */
export const POOL_METADATA_PREFIX = utf8("PoolMetadata/value//");
/** Key for the number of pools ever created, encoded as 8 bytes, big-endian. */
export const POOL_COUNT_KEY = utf8("Pool/count//");
export const PARAMS_KEY = utf8("Params/value//");
/** Key for the number of tranche keys ever assigned, encoded as 8 bytes, big-endian. */
export const TRANCHE_COUNT_KEY = utf8("Tranche/count//");
/** Key for the number of JIT orders in the current block, encoded as 8 bytes, big-endian. */
export const JITS_IN_BLOCK_KEY = utf8("JITsInBlock/count//");

const POOL_MARK = utf8("/A_PoolDeposit/");
const TRANCHE_MARK = utf8("/B_LODeposit/");
const SLASH = utf8("/");
const NEGATIVE = Uint8Array.of(0);
const POSITIVE = Uint8Array.of(1);

export const NO_PAIR: PairId = { token0: "", token1: "" };

/** Formats a pair as "token0<>token1". */
export function formatPair({ token0, token1 }: PairId): string {
  return `${token0}<>${token1}`;
}

/** Returns the pair to which a side belongs. */
export function pairOf({ makerDenom, takerDenom }: TradePairId): PairId {
  return makerDenom < takerDenom
    ? { token0: makerDenom, token1: takerDenom }
    : { token0: takerDenom, token1: makerDenom };
}

/** Encodes a tick so that the keys sort numerically: one sign byte, followed by the tick in two's complement (8 bytes, big-endian). */
function encodeTick(tick: bigint): Uint8Array {
  return concat(tick < 0n ? NEGATIVE : POSITIVE, uint64BigEndian(BigInt.asUintN(64, tick)));
}

/** Store keys for one side of a pair, and the end of the key range of its active records. */
interface SideKeys {
  readonly key: Uint8Array;
  /** The side's key, including {@link TICK_LIQUIDITY_PREFIX}. */
  readonly path: Uint8Array;
  readonly end: Uint8Array | undefined;
}

/** Caches the keys of each side, so that all id objects of the same side share the same arrays. */
const sides = createRecentCache<string, SideKeys>(4_096);

const sideKeys = cachedOn("keys of the side", (tradePairId: TradePairId): SideKeys => {
  const { makerDenom, takerDenom } = tradePairId;
  const create = (): SideKeys => {
    const key = utf8(`${formatPair(pairOf(tradePairId))}/${makerDenom}/`);
    const path = cacheKeyText(concat(TICK_LIQUIDITY_PREFIX, key));
    const end = prefixEnd(path);
    return { key, path, end: end === undefined ? undefined : cacheKeyText(end) };
  };
  return sides.get(`${makerDenom} ${takerDenom}`, create) ?? create();
});

/** Returns the part that all keys of one side have in common, without the store prefix. Callers must not modify the shared array. */
export function sideKey(tradePairId: TradePairId): Uint8Array {
  return sideKeys(tradePairId).key;
}

/** Returns the key bounds of a side's active records. Callers must not modify the shared arrays. */
export function sideRange(tradePairId: TradePairId): KeyRange {
  const { path, end } = sideKeys(tradePairId);
  return [path, end];
}

/** Returns a pool side's key, without {@link TICK_LIQUIDITY_PREFIX}. */
export function poolReservesKey({ tradePairId, tick, fee }: PoolReservesKey): Uint8Array {
  return concat(sideKey(tradePairId), encodeTick(tick), POOL_MARK, uint64BigEndian(fee), SLASH);
}

/**
 * Returns the complete store key of a pool side, cached on the key object that all versions of the side share. Callers must not
 * modify the array.
 */
export const poolReservesPath = cachedOn("path of a side", (key: PoolReservesKey) =>
  cacheKeyText(concat(TICK_LIQUIDITY_PREFIX, poolReservesKey(key))),
);

/** Returns a tranche's key, without {@link TICK_LIQUIDITY_PREFIX} or {@link INACTIVE_TRANCHE_PREFIX}. */
export function trancheRef({ tradePairId, tick, trancheKey }: TrancheKey): Uint8Array {
  return concat(sideKey(tradePairId), encodeTick(tick), TRANCHE_MARK, utf8(`${trancheKey}/`));
}

/** Returns the complete store key of an active tranche, cached on the key object. Callers must not modify the cached array. */
export const activeTranchePath = cachedOn("path of a tranche", (key: TrancheKey) =>
  cacheKeyText(concat(TICK_LIQUIDITY_PREFIX, trancheRef(key))),
);

type KeyRange = readonly [start: Uint8Array, end: Uint8Array | undefined];

/** Caches the key bounds of ticks, because every placed order iterates over the tranches at its tick. */
const tickRanges = createRecentCache<string, KeyRange>(4_096);

/** Returns the key bounds of the active tranches at one tick. Callers must not modify the shared arrays. */
export function trancheRange(tradePairId: TradePairId, tick: bigint): KeyRange {
  const create = (): KeyRange => {
    const start = cacheKeyText(concat(sideKeys(tradePairId).path, encodeTick(tick), TRANCHE_MARK));
    return [start, prefixEnd(start)];
  };
  const { makerDenom, takerDenom } = tradePairId;
  return tickRanges.get(`${makerDenom} ${takerDenom} ${tick}`, create) ?? create();
}

type TrancheUserKey = Pick<TrancheUser, "address" | "trancheKey">;

/** Returns the key of a user's position in a tranche, without {@link TRANCHE_USER_PREFIX}. */
export function trancheUserKey(address: string, trancheKey: string): Uint8Array {
  return utf8(`${address}/${trancheKey}/`);
}

/** The last key returned by {@link trancheUserPath}, cached because a message reads a user's position and then writes it. */
let lastUserPath = { address: "", trancheKey: "", path: TRANCHE_USER_PREFIX };

/** Returns the complete key of a user's position in a tranche. Callers must not modify the cached array. */
export function trancheUserPath({ address, trancheKey }: TrancheUserKey): Uint8Array {
  if (lastUserPath.trancheKey === trancheKey && lastUserPath.address === address) return lastUserPath.path;
  const path = cacheKeyText(concat(TRANCHE_USER_PREFIX, trancheUserKey(address, trancheKey)));
  lastUserPath = { address, trancheKey, path };
  return path;
}

/** Returns the common prefix of a user's keys, without {@link TRANCHE_USER_PREFIX}. */
export function trancheUserPrefix(address: string): Uint8Array {
  return utf8(`${address}/`);
}

/** Returns an expiration's key, without {@link EXPIRATION_PREFIX}. */
export function expirationKey(timeNs: bigint, ref: Uint8Array): Uint8Array {
  return concat(utf8(`${timeKey(timeNs)}/`), ref, SLASH);
}

/** Returns the key of a pool's id, without {@link POOL_ID_PREFIX}. */
export function poolIdKey({ pairId, tick, fee }: PoolKey): Uint8Array {
  return concat(utf8(`${formatPair(pairId)}/`), encodeTick(tick), SLASH, uint64BigEndian(fee), SLASH);
}

interface PoolPlace {
  /** The complete store key under which the pool's id is stored. */
  readonly idPath: Uint8Array;
  /** The key of the pool's token1 side. The side's path and the opposite side's key are cached on this object. */
  readonly upper: PoolReservesKey;
}

const places = createRecentCache<string, PoolPlace>(16_384);

/** Returns the keys of a pool's id and token1 side. Callers must not modify the cached keys. */
export const poolPlace = cachedOn("place of the pool", (key: PoolKey): PoolPlace => {
  const { pairId, tick, fee } = key;
  const create = (): PoolPlace => {
    const tradePairId = { makerDenom: pairId.token1, takerDenom: pairId.token0 };
    const idPath = cacheKeyText(concat(POOL_ID_PREFIX, poolIdKey(key)));
    return { idPath, upper: { tradePairId, tick: tick + fee, fee } };
  };
  return places.get(`${pairId.token0} ${pairId.token1} ${tick} ${fee}`, create) ?? create();
});

/** Formats the whole seconds of a time in base 36, preceded by the number of digits. Go's zero time (year 1) is formatted as "10". */
function timeKey(timeNs: bigint): string {
  return sortableNumber(timeNs === GO_ZERO_TIME_NS ? 0n : BigInt.asUintN(64, splitNs(timeNs).seconds));
}

/** Formats a number in base 36, preceded by its number of digits in base 36, so that the strings sort numerically. */
export function sortableNumber(value: bigint): string {
  const digits = value.toString(36);
  return `${digits.length.toString(36)}${digits}`;
}

export function poolDenom(id: bigint): string {
  return `neutron/pool/${id}`;
}
