import { checkInt, minInt } from "../../../../platform/base/integers.ts";
import {
  ceilPrec,
  mulPrecInt,
  PREC_ONE,
  precFromInt,
  type PrecDec,
  quoPrec,
  truncatePrec,
} from "../../../../platform/base/decimal.ts";
import type { Context } from "../../runtime/context.ts";
import { gasConsumed, type SwapAmounts } from "./events.ts";
import { isUpperSide, poolOfReserves, type PoolSides, savePool, withReserves } from "./pool.ts";
import * as store from "./store.ts";
import { isExpired, saveTranche, withAmounts } from "./tranche.ts";
import type { PoolReserves, TickLiquidity, TradePairId, Tranche } from "./types.ts";

export interface SwapRequest {
  readonly tradePairId: TradePairId;
  readonly amountIn: bigint;
  readonly maxAmountOut?: bigint | undefined;
  /** Highest price, in taker units per maker unit. */
  readonly limitPrice?: PrecDec | undefined;
}

/** A swap's result. `filled` means that the remaining amount is too small to buy anything, or that the maximum has been reached. */
export interface SwapResult extends SwapAmounts {
  readonly filled: boolean;
}

/** Liquidity with reserves. A pool includes the current state of its other side. */
type Liquidity =
  | { readonly kind: "pool"; readonly reserves: PoolReserves; readonly pool: PoolSides }
  | { readonly kind: "tranche"; readonly tranche: Tranche };

/**
 * Swaps against the book, best price first. Emits the gas used. The deployed module swaps on a branch that it always writes;
 * here, a failure discards the branch of the message or route.
 */
export function swap(context: Context, chainName: string, request: SwapRequest): SwapResult {
  const gasBefore = context.gas.used();
  const result = fill(context, chainName, request);
  context.emit(gasConsumed(chainName, context.gas.used() - gasBefore));
  return result;
}

function fill(context: Context, chainName: string, request: SwapRequest): SwapResult {
  const { limitPrice } = request;
  let remaining = request.amountIn;
  let remainingOut = request.maxAmountOut;
  let amountOut = 0n;
  let filled = false;
  for (const liquidity of walkLiquidity(context, request.tradePairId)) {
    const price = priceOf(liquidity);
    if (limitPrice !== undefined && price > limitPrice) break;
    const amounts = take(context, chainName, liquidity, { remaining, remainingOut });
    // Rounding up can make the last input one unit larger than the remainder.
    remaining -= amounts.amountIn;
    amountOut += amounts.amountOut;
    filled = quoPrec(precFromInt(remaining), price) < PREC_ONE;
    if (filled) break;
    if (remainingOut === undefined) continue;
    remainingOut -= amounts.amountOut;
    filled = remainingOut <= 0n;
    if (filled) break;
  }
  return { amountIn: request.amountIn - remaining, amountOut, filled };
}

/**
 * Iterates over the liquidity that a taker meets, using the records as they were at the start. The iterator advances past a
 * record before yielding it, because that is when the deployed iterator charges gas for the step.
 */
function* walkLiquidity(context: Context, tradePairId: TradePairId): IterableIterator<Liquidity> {
  const ticks = store.ticksOfSide(context, tradePairId);
  for (let at = ticks.next(); at.done !== true; ) {
    const record = at.value;
    const liquidity = hasLiquidity(context, record) ? wrap(context, record) : undefined;
    at = ticks.next();
    if (liquidity !== undefined) yield liquidity;
  }
}

/** Returns whether a record has maker reserves and has not expired. */
function hasLiquidity(context: Context, record: TickLiquidity): boolean {
  return record.kind === "pool"
    ? record.reserves.reserves > 0n
    : record.tranche.reservesMaker > 0n && !isExpired(context, record.tranche);
}

function wrap(context: Context, record: TickLiquidity): Liquidity {
  return record.kind === "pool" ? { ...record, pool: poolOfReserves(context, record.reserves) } : record;
}

function priceOf(liquidity: Liquidity): PrecDec {
  return liquidity.kind === "pool" ? liquidity.reserves.makerPrice : liquidity.tranche.makerPrice;
}

interface Remaining {
  readonly remaining: bigint;
  readonly remainingOut: bigint | undefined;
}

function take(context: Context, chainName: string, liquidity: Liquidity, want: Remaining): SwapAmounts {
  const price = priceOf(liquidity);
  const reserves = liquidity.kind === "pool" ? liquidity.reserves.reserves : liquidity.tranche.reservesMaker;
  // The output is rounded down and the input up: each rounding favours the maker, so no sequence of trades drains a record.
  const affordable = minInt(reserves, truncatePrec(quoPrec(precFromInt(want.remaining), price)));
  const amountOut = want.remainingOut === undefined ? affordable : minInt(affordable, want.remainingOut);
  const amounts = { amountIn: ceilPrec(mulPrecInt(price, amountOut)), amountOut };
  if (liquidity.kind === "pool") {
    const isUpper = isUpperSide(liquidity.reserves.key.tradePairId);
    savePool(context, chainName, swapPool(liquidity.pool, isUpper, amounts), { ...amounts, isUpper });
  } else {
    saveTranche(context, chainName, swapTranche(liquidity.tranche, amounts), amounts);
  }
  return amounts;
}

/** Swaps against a pool, whose other side receives the input. The fee is the distance between the ticks of the two sides. */
function swapPool({ lower, upper }: PoolSides, isUpper: boolean, amounts: SwapAmounts): PoolSides {
  const [from, to] = isUpper ? [upper, lower] : [lower, upper];
  const less = withReserves(from, from.reserves - amounts.amountOut);
  const more = withReserves(to, checkInt(to.reserves + amounts.amountIn));
  return isUpper ? { lower: more, upper: less } : { lower: less, upper: more };
}

function swapTranche(tranche: Tranche, { amountIn, amountOut }: SwapAmounts): Tranche {
  return withAmounts(tranche, {
    reservesMaker: tranche.reservesMaker - amountOut,
    reservesTaker: checkInt(tranche.reservesTaker + amountIn),
    totalMaker: tranche.totalMaker,
    totalTaker: checkInt(tranche.totalTaker + amountIn),
  });
}

/** Returns the first record with liquidity that a taker meets, or undefined if there is none. */
export function bestRecord(context: Context, tradePairId: TradePairId): TickLiquidity | undefined {
  for (const record of store.ticksOfSide(context, tradePairId))
    if (hasLiquidity(context, record)) return record;
  return undefined;
}

/** Returns the price of the first record with liquidity that a taker would reach, or undefined if there is none. */
export function bestPrice(context: Context, tradePairId: TradePairId): PrecDec | undefined {
  const best = bestRecord(context, tradePairId);
  if (best === undefined) return undefined;
  return best.kind === "pool" ? best.reserves.makerPrice : best.tranche.makerPrice;
}
