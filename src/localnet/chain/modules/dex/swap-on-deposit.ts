import {
  addPrec,
  mulPrec,
  PREC_ONE,
  precFromInt,
  type PrecDec,
  quoPrec,
  quoPrecInt,
} from "../../../../platform/base/decimal.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrDoubleSidedSwapOnDeposit,
  ErrSwapOnDepositSlopTolerance,
  ErrTickOutsideRange,
  panicked,
} from "./errors.ts";
import { buyingSide } from "./pool.ts";
import type { Amounts } from "./pool-shares.ts";
import { calcPrice, MAX_TICK } from "./price.ts";
import { swap, type SwapResult } from "./swap.ts";
import type { PoolKey } from "./types.ts";

/** What the creator pays, and what is offered to the pool after the swaps. */
export interface SwappedOffer {
  readonly amountsIn: Amounts;
  readonly offered: Amounts;
}

/** A position that swaps before it deposits. */
export interface SwappingPosition {
  readonly key: PoolKey;
  readonly amounts: Amounts;
  readonly slopToleranceBps: bigint;
}

/** Swaps each offered token against liquidity that is strictly better than the price of the deposit. */
export function swapOnDeposit(context: Context, chainName: string, position: SwappingPosition): SwappedOffer {
  const { amounts } = position;
  const first = swapToken(context, chainName, position, 0);
  const second = swapToken(context, chainName, position, 1);
  if (first !== undefined && second !== undefined) throw ErrDoubleSidedSwapOnDeposit();
  if (first !== undefined) return afterSwap(amounts, first, 0);
  return second === undefined ? { amountsIn: amounts, offered: amounts } : afterSwap(amounts, second, 1);
}

/** Swaps one token; undefined when nothing was swapped. */
function swapToken(
  context: Context,
  chainName: string,
  { key, amounts, slopToleranceBps }: SwappingPosition,
  token: 0 | 1,
): SwapResult | undefined {
  if (amounts[token] === 0n) return undefined;
  const { pairId, tick, fee } = key;
  const limitPrice = calcPriceOrPanic((token === 0 ? tick - fee : -(tick + fee)) - 1n);
  const tradePairId = buyingSide(pairId, token);
  const result = swap(context, chainName, { tradePairId, amountIn: amounts[token], limitPrice });
  if (result.amountIn === 0n) return undefined;
  requireWithinSlop(result, limitPrice, slopToleranceBps);
  return result;
}

/** Throws dex/1168. */
function requireWithinSlop(
  { amountIn, amountOut }: SwapResult,
  limit: PrecDec,
  slopToleranceBps: bigint,
): void {
  const tolerance = quoPrec(precFromInt(slopToleranceBps), precFromInt(10_000n));
  const highest = mulPrec(limit, addPrec(PREC_ONE, tolerance));
  if (quoPrecInt(precFromInt(amountIn), amountOut) >= highest) throw ErrSwapOnDepositSlopTolerance();
}

/** A swap that is filled leaves a rest that buys nothing; the rest is not taken. */
function afterSwap(
  amounts: Amounts,
  { amountIn, amountOut, filled }: SwapResult,
  token: 0 | 1,
): SwappedOffer {
  const paid = filled ? amountIn : amounts[token];
  const kept = paid - amountIn;
  return token === 0
    ? { amountsIn: [paid, amounts[1]], offered: [kept, amounts[1] + amountOut] }
    : { amountsIn: [amounts[0], paid], offered: [amounts[0] + amountOut, kept] };
}

/** At the lowest ticks the limit lies outside of the range, where the deployed module panics. */
function calcPriceOrPanic(tick: bigint): PrecDec {
  if (tick < -MAX_TICK) throw panicked(ErrTickOutsideRange().message);
  return calcPrice(tick);
}
