import { checkInt } from "../../../../platform/base/integers.ts";
import {
  formatPrecDec,
  PREC_ONE,
  precFromInt,
  type PrecDec,
  quoPrec,
  quoPrecInt,
  addPrec,
} from "../../../../platform/base/decimal.ts";
import { GO_ZERO_TIME_NS, goTimeText } from "../../../../platform/base/time.ts";
import {
  LimitOrderType,
  type MsgPlaceLimitOrderResponse,
} from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import type { Profile } from "../../deviations/deviations.ts";
import { parseAddress } from "../../runtime/address.ts";
import { toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import * as errors from "./errors.ts";
import { placeLimitOrder as placeLimitOrderEvent } from "./events.ts";
import { trancheRef } from "./keys.ts";
import { isTakerOnly, type OrderRequest } from "./messages.ts";
import { moduleParams } from "./params.ts";
import { calcPrice, calcTickIndexFromPrice, requireFairOutput } from "./price.ts";
import * as store from "./store.ts";
import { swap, type SwapResult } from "./swap.ts";
import {
  countTranche,
  findPlaceTranche,
  newTranche,
  saveTranche,
  withAmounts,
  getOrNewTrancheUser,
  saveTrancheUser,
  withShares,
} from "./tranche.ts";
import type { DexKeepers, TradePairId, Tranche } from "./types.ts";

/** Gas charged to an expiring order for its later purge. */
const EXPIRING_ORDER_GAS = 10_000n;

/** An order's price limits. `price` is the tick's price, in units of token in per unit of token out. */
interface Limit {
  readonly tick: bigint;
  readonly price: PrecDec;
  /** Minimum average price, in units of token out per unit of token in. */
  readonly minAveragePrice: PrecDec;
}

/** MsgPlaceLimitOrder: swaps against the book within the limit; if the order is a maker order, places the remainder. */
export function placeLimitOrder(
  context: Context,
  request: OrderRequest,
  keepers: DexKeepers,
): MsgPlaceLimitOrderResponse {
  const { tokenIn, tokenOut, amountIn, orderType } = request;
  requireFutureExpiration(context, request);
  const limit = limitOf(request, context.profile);
  requireFairOutput(amountIn, limit.price);
  const taker = takerPart(context, keepers.chainName, request, limit);
  const maker = makerPart(context, keepers.chainName, { request, limit, taker });
  const totalIn = checkInt(taker.amountIn + (maker.shares ?? 0n));
  if (orderType === LimitOrderType.JUST_IN_TIME) countJit(context);
  transferCoins(context, { request, totalIn, out: taker.amountOut }, keepers);
  context.emit(
    placeLimitOrderEvent(
      request,
      {
        tokenIn,
        tokenOut,
        totalIn,
        limitTick: limit.tick,
        orderType,
        shares: maker.shares,
        trancheKey: maker.trancheKey,
        swapIn: taker.amountIn,
        swapOut: taker.amountOut,
        minAveragePrice: limit.minAveragePrice,
        maxAmountOut: request.maxAmountOut,
        amountIn,
        expirationTimeNs: request.expirationTimeNs,
      },
      context.profile,
    ),
  );
  return {
    trancheKey: maker.trancheKey,
    coinIn: totalIn > 0n ? toWireCoin({ denom: tokenIn, amount: totalIn }) : { denom: "", amount: "0" },
    takerCoinOut: toWireCoin({ denom: tokenOut, amount: taker.amountOut }),
    takerCoinIn: toWireCoin({ denom: tokenIn, amount: taker.amountIn }),
  };
}

/** Throws dex/1139. */
function requireFutureExpiration({ timeNs }: Context, { expirationTimeNs }: OrderRequest): void {
  if (expirationTimeNs === undefined || expirationTimeNs > timeNs) return;
  throw errors.ErrExpirationTimeInPast(
    `Current BlockTime: ${goTimeText(timeNs)}; Provided ExpirationTime: ${goTimeText(expirationTimeNs)}`,
  );
}

/** An omitted minimum defaults to the limit price (dex.md, "Messages"), or to the tick's price if there is no limit price. */
function limitOf({ tick, limitSellPrice, minAverageSellPrice }: OrderRequest, { deployed }: Profile): Limit {
  const limitTick = limitSellPrice === undefined ? tick : tickOfSellPrice(limitSellPrice);
  const price = calcPrice(limitTick);
  const omitted = deployed("dexMinAveragePrice") ? undefined : limitSellPrice;
  const minAveragePrice = minAverageSellPrice ?? omitted ?? quoPrec(PREC_ONE, price);
  return { tick: limitTick, price, minAveragePrice };
}

function tickOfSellPrice(price: PrecDec): bigint {
  return wrapErrors(
    (error) => error.wrap(`invalid LimitSellPrice ${formatPrecDec(price)}`),
    () => calcTickIndexFromPrice(quoPrec(PREC_ONE, price)),
  );
}

function takerPart(context: Context, chainName: string, request: OrderRequest, limit: Limit): SwapResult {
  const { tokenIn, tokenOut, amountIn, orderType } = request;
  const isTaker = isTakerOnly(orderType);
  const result = swap(context, chainName, {
    tradePairId: { makerDenom: tokenOut, takerDenom: tokenIn },
    amountIn,
    limitPrice: limit.price,
    maxAmountOut: isTaker ? request.maxAmountOut : undefined,
  });
  if (isTaker) requireTakerResult(result, orderType, limit);
  else if (result.amountIn > 0n) requireMakerResult(result, amountIn, limit);
  return result;
}

function requireTakerResult(result: SwapResult, orderType: LimitOrderType, limit: Limit): void {
  if (orderType === LimitOrderType.FILL_OR_KILL && !result.filled) throw errors.ErrFoKLimitOrderNotFilled();
  if (result.amountIn === 0n) throw errors.ErrNoLiquidity();
  if (quoPrecInt(precFromInt(result.amountOut), result.amountIn) < limit.minAveragePrice)
    throw errors.ErrLimitPriceNotSatisfied();
}

/** Throws if the average price is too low. The remainder, which becomes a maker order, counts at the tick's price. */
function requireMakerResult(result: SwapResult, amountIn: bigint, limit: Limit): void {
  const makerOut = quoPrec(precFromInt(amountIn - result.amountIn), limit.price);
  const average = quoPrecInt(addPrec(makerOut, precFromInt(result.amountOut)), amountIn);
  if (average < limit.minAveragePrice) throw errors.ErrLimitPriceNotSatisfied();
}

/** `shares` is undefined if nothing was placed. */
interface Placed {
  readonly trancheKey: string;
  readonly shares: bigint | undefined;
}

interface MakerScope {
  readonly request: OrderRequest;
  readonly limit: Limit;
  readonly taker: SwapResult;
}

/** Every order gets a tranche, even if nothing is placed in it; the deployed module then only assigns the tranche key. */
function makerPart(context: Context, chainName: string, { request, limit, taker }: MakerScope): Placed {
  const { tokenIn, tokenOut, amountIn, orderType, receiver } = request;
  const side = { makerDenom: tokenIn, takerDenom: tokenOut };
  const tranche = trancheFor(context, chainName, request, { side, tick: -limit.tick });
  const user = getOrNewTrancheUser(context, receiver, tranche, orderType);
  const remaining = amountIn - taker.amountIn;
  const isPlaced = remaining > 0n && !taker.filled && isMaker(orderType);
  if (isPlaced) {
    requireFairOutput(remaining, limit.price);
    addToTranche(context, chainName, tranche, remaining);
  }
  saveTrancheUser(
    context,
    isPlaced ? withShares(user, checkInt(user.sharesOwned + remaining), user.sharesWithdrawn) : user,
  );
  return { trancheKey: tranche.key.trancheKey, shares: isPlaced ? remaining : undefined };
}

function isMaker(orderType: LimitOrderType): boolean {
  return (
    orderType === LimitOrderType.GOOD_TIL_CANCELLED ||
    orderType === LimitOrderType.JUST_IN_TIME ||
    orderType === LimitOrderType.GOOD_TIL_TIME
  );
}

/** Expiring orders get a tranche of their own; other orders join a tranche that nobody has traded against. */
function trancheFor(
  context: Context,
  chainName: string,
  { orderType, expirationTimeNs }: OrderRequest,
  { side, tick }: { readonly side: TradePairId; readonly tick: bigint },
): Tranche {
  const isJitOrder = orderType === LimitOrderType.JUST_IN_TIME;
  const isTimed = orderType === LimitOrderType.GOOD_TIL_TIME;
  if (!isJitOrder && !isTimed) {
    const found = findPlaceTranche(context, side, tick);
    if (found !== undefined) return found;
  }
  const expiration = isJitOrder ? GO_ZERO_TIME_NS : isTimed ? expirationTimeNs : undefined;
  const tranche = newTranche(context, side, tick, expiration);
  countTranche(context, chainName, { action: "inc", isExpiring: isTimed, tranche });
  return tranche;
}

function addToTranche(context: Context, chainName: string, tranche: Tranche, amount: bigint): void {
  const { expirationTimeNs } = tranche;
  if (expirationTimeNs !== undefined) {
    store.setExpiration(context, { timeNs: expirationTimeNs, trancheRef: trancheRef(tranche.key) });
    context.gas.consume(EXPIRING_ORDER_GAS, "Expiring LimitOrder Fee");
  }
  const reservesMaker = checkInt(tranche.reservesMaker + amount);
  const totalMaker = checkInt(tranche.totalMaker + amount);
  const { reservesTaker, totalTaker } = tranche;
  const amounts = { reservesMaker, reservesTaker, totalMaker, totalTaker };
  saveTranche(context, chainName, withAmounts(tranche, amounts));
}

/** Throws dex/1156 at the limit. As in the deployed module, a count above a limit that was lowered passes. */
function countJit(context: Context): void {
  const count = store.getJitsInBlock(context);
  if (count === moduleParams.get(context).maxJitsPerBlock) throw errors.ErrOverJitPerBlockLimit();
  store.setJitsInBlock(context, store.getJitsInBlock(context) + 1n);
}

interface Payments {
  readonly request: OrderRequest;
  readonly totalIn: bigint;
  readonly out: bigint;
}

/** Pays the receiver first, then charges the creator. */
function transferCoins(
  context: Context,
  { request, totalIn, out }: Payments,
  { bank, bech32Prefix }: DexKeepers,
): void {
  const { creator, receiver, tokenIn, tokenOut } = request;
  if (out > 0n)
    bank.sendFromDex(context, parseAddress(bech32Prefix, receiver), [{ denom: tokenOut, amount: out }]);
  if (totalIn > 0n)
    bank.sendToDex(context, parseAddress(bech32Prefix, creator), [{ denom: tokenIn, amount: totalIn }]);
}
