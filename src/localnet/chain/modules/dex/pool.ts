import { createObjectSlot } from "../../../../platform/base/caches.ts";
import {
  addPrec,
  ceilPrec,
  mulPrec,
  mulPrecInt,
  PREC_ONE,
  type PrecDec,
  precFromInt,
  quoPrec,
  subPrec,
  truncatePrec,
} from "../../../../platform/base/decimal.ts";
import { checkInt, minInt, OverflowError } from "../../../../platform/base/integers.ts";
import type { Context } from "../../runtime/context.ts";
import { pairText, reservesUpdated, type SwapAmounts, tickCount } from "./events.ts";
import * as types from "./types.ts";
import { calcPrice } from "./price.ts";
import * as store from "./store.ts";

export type PoolSides = Pick<types.Pool, "lower" | "upper">;

function opposite({ makerDenom, takerDenom }: types.TradePairId): types.TradePairId {
  return { makerDenom: takerDenom, takerDenom: makerDenom };
}

/** Returns the side of a pair from which a taker buys when paying with token0 (0) or token1 (1). */
export function buyingSide({ token0, token1 }: types.PairId, payment: 0 | 1): types.TradePairId {
  return payment === 0
    ? { makerDenom: token1, takerDenom: token0 }
    : { makerDenom: token0, takerDenom: token1 };
}

/** Caches the opposite side's key on the key object of each pool side, because swaps visit the same pools repeatedly. */
const counterparts = createObjectSlot<types.PoolReservesKey, types.PoolReservesKey>("other side");

function counterpartKey(key: types.PoolReservesKey): types.PoolReservesKey {
  const known = counterparts.get(key);
  if (known !== undefined) return known;
  const { tradePairId, tick, fee } = key;
  const other = { tradePairId: opposite(tradePairId), tick: 2n * fee - tick, fee };
  counterparts.set(key, other);
  counterparts.set(other, key);
  return other;
}

/** Returns the pool with this key, or undefined if it was never created. A side without reserves is not stored, so it is rebuilt here. */
export function getPool(context: Context, key: types.PoolKey): types.Pool | undefined {
  const id = store.getPoolId(context, key);
  if (id === undefined) return undefined;
  const { upper: reservesKey } = types.poolPlace(key);
  const upper = store.getReserves(context, reservesKey);
  const lower = store.getReserves(context, counterpartKey(reservesKey));
  if (upper === undefined && lower === undefined) return { id, ...newSides(key) };
  return { id, ...completeSides(lower, upper) };
}

/** Returns the pool with this key, creating an empty pool if it does not exist. */
export function getOrCreatePool(context: Context, chainName: string, key: types.PoolKey): types.Pool {
  return getPool(context, key) ?? createPool(context, chainName, key);
}

function createPool(context: Context, chainName: string, key: types.PoolKey): types.Pool {
  const id = store.poolCount.get(context);
  const { token0, token1 } = key.pairId;
  store.setPoolMetadata(context, { id, tick: key.tick, fee: key.fee, pairId: { token0, token1 } });
  // Like Go, read the count a second time before incrementing it, because each read consumes gas.
  store.poolCount.set(context, store.poolCount.get(context) + 1n);
  const pair = pairText(key.pairId);
  context.emit(tickCount(chainName, { action: "inc", kind: "lp", isExpiring: false, pair }));
  return { id, ...newSides(key) };
}

export function poolOfReserves(context: Context, reserves: types.PoolReserves): PoolSides {
  const other = store.getReserves(context, counterpartKey(reserves.key));
  const isUpper = isUpperSide(reserves.key.tradePairId);
  return isUpper ? completeSides(other, reserves) : completeSides(reserves, other);
}

/** Returns true for the token1 side of a pair, where the maker sells token1. */
export function isUpperSide({ makerDenom, takerDenom }: types.TradePairId): boolean {
  return takerDenom < makerDenom;
}

/** Rebuilds a pool side that is not stored. As in the deployed module, its opposite price is copied from the stored side. */
function completeSides(
  lower: types.PoolReserves | undefined,
  upper: types.PoolReserves | undefined,
): PoolSides {
  if (lower !== undefined && upper !== undefined) return { lower, upper };
  if (upper !== undefined) return { lower: fromCounterpart(upper), upper };
  if (lower !== undefined) return { lower, upper: fromCounterpart(lower) };
  throw new Error("this is a bug: a pool without a side");
}

/** Creates the two empty sides of a pool. As in the deployed module, the token0 side's opposite price is copied from the token1 side. */
function newSides(key: types.PoolKey): PoolSides {
  const { upper: own } = types.poolPlace(key);
  const upper = emptyReserves(own, calcPrice(-counterpartKey(own).tick));
  return { lower: fromCounterpart(upper), upper };
}

/** Caches a pool's empty side on the key object of the opposite side. */
const emptySides = createObjectSlot<types.PoolReservesKey, types.PoolReserves>("empty other side");

function fromCounterpart(other: types.PoolReserves): types.PoolReserves {
  const known = emptySides.get(other.key);
  if (known?.priceOppositeTakerToMaker === other.priceTakerToMaker) return known;
  const side = emptyReserves(counterpartKey(other.key), other.priceTakerToMaker);
  emptySides.set(other.key, side);
  return side;
}

function emptyReserves(key: types.PoolReservesKey, priceOppositeTakerToMaker: bigint): types.PoolReserves {
  const makerPrice = calcPrice(key.tick);
  const priceTakerToMaker = quoPrec(PREC_ONE, makerPrice);
  return { key, reserves: 0n, priceTakerToMaker, priceOppositeTakerToMaker, makerPrice };
}

/** Returns a copy of a pool side with new reserves. Listing the fields is faster than an object spread. */
export function withReserves(side: types.PoolReserves, reserves: bigint): types.PoolReserves {
  const { key, priceTakerToMaker, priceOppositeTakerToMaker, makerPrice } = side;
  return { key, reserves, priceTakerToMaker, priceOppositeTakerToMaker, makerPrice };
}

/** Amounts of the swap that changed a pool. `isUpper` is true if the taker bought from the token1 side. */
export interface PoolSwap extends SwapAmounts {
  readonly isUpper: boolean;
}

/** Saves both sides of a pool, the token0 side first. A side without reserves is deleted. */
export function savePool(context: Context, chainName: string, pool: PoolSides, swap?: PoolSwap): void {
  saveSide(context, chainName, pool.lower, swap?.isUpper === false ? swap : undefined);
  saveSide(context, chainName, pool.upper, swap?.isUpper === true ? swap : undefined);
}

/**
 * Saves one side of a pool. As in the deployed module, saving an empty side emits a decrement of the record count even if the
 * side was already empty.
 */
function saveSide(context: Context, chainName: string, side: types.PoolReserves, swap?: SwapAmounts): void {
  if (side.reserves > 0n) {
    store.setReserves(context, side);
  } else {
    store.deleteReserves(context, side.key);
    const pair = pairText(types.pairOf(side.key.tradePairId));
    context.emit(tickCount(chainName, { action: "dec", kind: "lp", isExpiring: false, pair }));
  }
  context.emit(reservesUpdated(side, swap));
}

/** Amounts of a pair's two tokens, token0 first. */
export type Amounts = readonly [amount0: bigint, amount1: bigint];

/**
 * The pool's values from which the amounts and shares of a deposit are calculated. `tick` is the normalized centre, and `supply` is
 * the pool's total number of shares.
 */
interface PoolState {
  readonly reserves: Amounts;
  readonly tick: bigint;
  readonly fee: bigint;
  readonly supply: bigint;
}

/**
 * Calculates the amounts that a deposit adds to the reserves, and the shares issued for these amounts. With autoswap, the whole
 * offer is deposited, and a fee is charged on the part that does not match the reserves' ratio.
 */
export function calcDeposit(pool: PoolState, offered: Amounts, autoswap: boolean) {
  const price = calcPrice(-pool.tick);
  if (!autoswap) {
    const amounts = matchReserves(pool.reserves, offered);
    return { amounts, shares: calcShares(pool, valueOf(amounts, price), { price, feeValue: 0n }) };
  }
  const feeValue = autoswapFee(pool, offered, price);
  const value = subPrec(valueOf(offered, price), feeValue);
  return { amounts: offered, shares: calcShares(pool, value, { price, feeValue }) };
}

/** Returns the total value of both amounts in units of token0. `price` is the price of token0 in units of token1. */
function valueOf([amount0, amount1]: Amounts, price: PrecDec): PrecDec {
  return addPrec(precFromInt(amount0), quoPrec(precFromInt(amount1), price));
}

function calcShares(
  { reserves, supply }: PoolState,
  value: PrecDec,
  { price, feeValue }: { readonly price: PrecDec; readonly feeValue: PrecDec },
): bigint {
  const existing = valueOf(reserves, price);
  // The first deposit gets one share per unit of token0 that it is worth.
  if (existing <= 0n) return checkInt(truncatePrec(value));
  // The fee raises the pool's value without new shares, so earlier owners earn the fee. Rounding shares down also favours earlier owners.
  return checkInt(truncatePrec(quoPrec(mulPrecInt(value, supply), addPrec(existing, feeValue))));
}

function autoswapFee({ reserves, fee }: PoolState, offered: Amounts, price: PrecDec): PrecDec {
  const residual = unmatched(reserves, offered, price);
  // A swap in this pool returns the value multiplied by 1.0001^-fee. A deposit with autoswap pays the same fee on its unmatched part.
  return mulPrec(subPrec(PREC_ONE, calcPrice(-fee)), valueOf(residual, price));
}

/** Returns the part of an offer that does not match the reserves' ratio. */
function unmatched([reserve0, reserve1]: Amounts, [offer0, offer1]: Amounts, price: PrecDec): Amounts {
  if (reserve0 === 0n && reserve1 === 0n) return [0n, 0n];
  // Compare cross products instead of ratios. A side without reserves then needs no special case, and fewer divisions are rounded.
  // If the excess is positive, too much token1 is offered. If the excess is negative, too much token0 is offered.
  const excess = subPrec(
    mulPrecInt(precFromInt(reserve0), offer1),
    mulPrecInt(precFromInt(reserve1), offer0),
  );
  const residual = quoPrec(excess, valueOf([reserve0, reserve1], price));
  if (residual > 0n) return [0n, checkInt(ceilPrec(residual))];
  if (residual < 0n) return [checkInt(ceilPrec(quoPrec(-residual, price))), 0n];
  return [0n, 0n];
}

/** Returns the largest part of an offer at the reserves' ratio. A side without reserves does not limit the other side. */
export function matchReserves([reserve0, reserve1]: Amounts, [offer0, offer1]: Amounts): Amounts {
  return [
    reserve1 > 0n ? minInt(offer0, scaleLegacy(offer1, reserve0, reserve1)) : offer0,
    reserve0 > 0n ? minInt(offer1, scaleLegacy(offer0, reserve1, reserve0)) : offer1,
  ];
}

const LEGACY_ONE = 10n ** 18n;
const LEGACY_BITS = 315;
const LEGACY_BOUND = 1n << 315n;

/**
 * Calculates a * b / c like the SDK's 18-digit decimals. The quotient is truncated to 36 digits, rounded half to even to 18 digits,
 * and then truncated to an integer. The result is the floor of the quotient, or one more if the quotient is within half of 10^-18
 * below the next integer.
 */
function scaleLegacy(a: bigint, b: bigint, c: bigint): bigint {
  // Go multiplies before dividing, and the results of both steps are limited to 315 bits.
  const product = checkLegacy(a * b * LEGACY_ONE);
  const doubled = (product * LEGACY_ONE) / c;
  const whole = doubled / LEGACY_ONE;
  // Compare twice the remainder with the divisor, to avoid fractions.
  const rest = (doubled - whole * LEGACY_ONE) * 2n;
  const roundsUp = rest > LEGACY_ONE || (rest === LEGACY_ONE && whole % 2n === 1n);
  return checkLegacy(roundsUp ? whole + 1n : whole) / LEGACY_ONE;
}

function checkLegacy(value: bigint): bigint {
  if (value >= LEGACY_BOUND) throw new OverflowError(LEGACY_BITS);
  return value;
}

/** Calculates the amounts of both tokens that are paid out for `shares`, rounded down. */
export function calcWithdrawal([reserve0, reserve1]: Amounts, shares: bigint, supply: bigint): Amounts {
  return [checkInt(reserve0 * shares) / supply, checkInt(reserve1 * shares) / supply];
}
