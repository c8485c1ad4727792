import { wrapErrors } from "../../runtime/errors.ts";
import * as types from "./types.ts";
import { checkInt } from "../../../../platform/base/integers.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import { GO_ZERO_TIME_NS, goTimeText } from "../../../../platform/base/time.ts";
import type { Profile } from "../../deviations/deviations.ts";
import { parseAddress } from "../../runtime/address.ts";
import { toWireCoin, sumCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import * as errors from "./errors.ts";
import * as events from "./events.ts";
import { isTakerOnly, type OrderRequest, type TrancheRequest } from "./messages.ts";
import { moduleParams } from "./params.ts";
import { calcPrice, calcTickIndexFromPrice, requireFairOutput } from "./price.ts";
import * as store from "./store.ts";
import { swap, type SwapResult } from "./swap.ts";
import * as tranches from "./tranche.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";

/** Gas that an expiring order pays in advance for its later removal from the book. */
const EXPIRING_ORDER_GAS = 10_000n;

/** A limit order's tick and price limits. `price` is the tick's price, in units of the input token per unit of the output token. */
interface Limit {
  readonly tick: bigint;
  readonly price: decimal.PrecDec;
  /** Minimum average price, in units of the output token per unit of the input token. */
  readonly minAveragePrice: decimal.PrecDec;
}

/** MsgPlaceLimitOrder: swaps against the book up to the price limit. If the order is a maker order, places the remainder on the book. */
export function placeLimitOrder(
  context: Context,
  request: OrderRequest,
  keepers: types.DexKeepers,
): tx.MsgPlaceLimitOrderResponse {
  const { tokenIn, tokenOut, amountIn, orderType } = request;
  requireFutureExpiration(context, request);
  const limit = limitOf(request, context.profile);
  requireFairOutput(amountIn, limit.price);
  const taker = takerPart(context, keepers.chainName, request, limit);
  const maker = makerPart(context, keepers.chainName, { request, limit, taker });
  const totalIn = checkInt(taker.amountIn + (maker.shares ?? 0n));
  if (orderType === tx.LimitOrderType.JUST_IN_TIME) countJit(context);
  transferCoins(context, { request, totalIn, out: taker.amountOut }, keepers);
  const { tick: limitTick, minAveragePrice } = limit;
  const facts = { limitTick, minAveragePrice, totalIn, ...maker, swapped: taker };
  context.emit(events.placeLimitOrder(request, facts, context.profile));
  return {
    trancheKey: maker.trancheKey,
    coinIn: totalIn > 0n ? toWireCoin({ denom: tokenIn, amount: totalIn }) : { denom: "", amount: "0" },
    takerCoinOut: toWireCoin({ denom: tokenOut, amount: taker.amountOut }),
    takerCoinIn: toWireCoin({ denom: tokenIn, amount: taker.amountIn }),
  };
}

/** Throws dex/1139 unless the expiration time is later than the block time. */
function requireFutureExpiration({ timeNs }: Context, { expirationTimeNs }: OrderRequest): void {
  if (expirationTimeNs === undefined || expirationTimeNs > timeNs) return;
  throw errors.ErrExpirationTimeInPast(
    `Current BlockTime: ${goTimeText(timeNs)}; Provided ExpirationTime: ${goTimeText(expirationTimeNs)}`,
  );
}

/**
 * Returns an order's limits. The minimum average price defaults to the limit price (dex.md, "Messages"), or to the tick's price in
 * the deployed module.
 */
function limitOf({ tick, limitSellPrice, minAverageSellPrice }: OrderRequest, { deployed }: Profile): Limit {
  const limitTick = limitSellPrice === undefined ? tick : tickOfSellPrice(limitSellPrice);
  const price = calcPrice(limitTick);
  const omitted = deployed("dexMinAveragePrice") ? undefined : limitSellPrice;
  const minAveragePrice = minAverageSellPrice ?? omitted ?? decimal.quoPrec(decimal.PREC_ONE, price);
  return { tick: limitTick, price, minAveragePrice };
}

function tickOfSellPrice(price: decimal.PrecDec): bigint {
  return wrapErrors(`invalid LimitSellPrice ${decimal.formatPrecDec(price)}`, () =>
    calcTickIndexFromPrice(decimal.quoPrec(decimal.PREC_ONE, price)),
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

function requireTakerResult(result: SwapResult, orderType: tx.LimitOrderType, limit: Limit): void {
  if (orderType === tx.LimitOrderType.FILL_OR_KILL && !result.filled)
    throw errors.ErrFoKLimitOrderNotFilled();
  if (result.amountIn === 0n) throw errors.ErrNoLiquidity();
  if (decimal.quoPrecInt(decimal.precFromInt(result.amountOut), result.amountIn) < limit.minAveragePrice)
    throw errors.ErrLimitPriceNotSatisfied();
}

/** Throws if an order's average price is too low. The remainder that is placed on the book is valued at the tick's price. */
function requireMakerResult(result: SwapResult, amountIn: bigint, limit: Limit): void {
  const makerOut = decimal.quoPrec(decimal.precFromInt(amountIn - result.amountIn), limit.price);
  const average = decimal.quoPrecInt(
    decimal.addPrec(makerOut, decimal.precFromInt(result.amountOut)),
    amountIn,
  );
  if (average < limit.minAveragePrice) throw errors.ErrLimitPriceNotSatisfied();
}

interface MakerScope {
  readonly request: OrderRequest;
  readonly limit: Limit;
  readonly taker: SwapResult;
}

/**
 * Places an order's remainder on the book. If nothing is placed, the returned shares are undefined, but the order still gets a
 * tranche key, as in the deployed module.
 */
function makerPart(context: Context, chainName: string, { request, limit, taker }: MakerScope) {
  const { tokenIn, tokenOut, amountIn, orderType, receiver } = request;
  const side = { makerDenom: tokenIn, takerDenom: tokenOut };
  const tranche = trancheFor(context, chainName, request, { side, tick: -limit.tick });
  const user = tranches.getOrNewTrancheUser(context, receiver, tranche, orderType);
  const remaining = amountIn - taker.amountIn;
  const isPlaced = remaining > 0n && !taker.filled && isMaker(orderType);
  if (isPlaced) {
    requireFairOutput(remaining, limit.price);
    addToTranche(context, chainName, tranche, remaining);
  }
  tranches.saveTrancheUser(
    context,
    isPlaced ? tranches.withShares(user, checkInt(user.sharesOwned + remaining), user.sharesWithdrawn) : user,
  );
  return { trancheKey: tranche.key.trancheKey, shares: isPlaced ? remaining : undefined };
}

function isMaker(orderType: tx.LimitOrderType): boolean {
  return (
    orderType === tx.LimitOrderType.GOOD_TIL_CANCELLED ||
    orderType === tx.LimitOrderType.JUST_IN_TIME ||
    orderType === tx.LimitOrderType.GOOD_TIL_TIME
  );
}

/**
 * Returns an order's tranche. An order that expires gets a new tranche. Any other order can join an existing tranche from which no
 * taker has bought yet.
 */
function trancheFor(
  context: Context,
  chainName: string,
  { orderType, expirationTimeNs }: OrderRequest,
  { side, tick }: { readonly side: types.TradePairId; readonly tick: bigint },
): types.Tranche {
  const isJitOrder = orderType === tx.LimitOrderType.JUST_IN_TIME;
  const isTimed = orderType === tx.LimitOrderType.GOOD_TIL_TIME;
  if (!isJitOrder && !isTimed) {
    const found = tranches.findPlaceTranche(context, side, tick);
    if (found !== undefined) return found;
  }
  const expiration = isJitOrder ? GO_ZERO_TIME_NS : isTimed ? expirationTimeNs : undefined;
  const tranche = tranches.newTranche(context, side, tick, expiration);
  tranches.countTranche(context, chainName, { action: "inc", isExpiring: isTimed, tranche });
  return tranche;
}

function addToTranche(context: Context, chainName: string, tranche: types.Tranche, amount: bigint): void {
  const { expirationTimeNs } = tranche;
  if (expirationTimeNs !== undefined) {
    store.setExpiration(context, { timeNs: expirationTimeNs, trancheRef: types.trancheRef(tranche.key) });
    context.gas.consume(EXPIRING_ORDER_GAS, "Expiring LimitOrder Fee");
  }
  const reservesMaker = checkInt(tranche.reservesMaker + amount);
  const totalMaker = checkInt(tranche.totalMaker + amount);
  const { reservesTaker, totalTaker } = tranche;
  const amounts = { reservesMaker, reservesTaker, totalMaker, totalTaker };
  tranches.saveTranche(context, chainName, tranches.withAmounts(tranche, amounts));
}

/**
 * Counts a JIT order. Throws dex/1156 if the block's count equals the limit. As in the deployed module, a count that already
 * exceeds the limit is accepted, which can happen if the limit was lowered.
 */
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
  { bank, bech32Prefix }: types.DexKeepers,
): void {
  const { creator, receiver, tokenIn, tokenOut } = request;
  if (out > 0n)
    bank.sendFromModule(context, types.MODULE_NAME, parseAddress(bech32Prefix, receiver), [
      { denom: tokenOut, amount: out },
    ]);
  if (totalIn > 0n)
    bank.sendToModule(context, parseAddress(bech32Prefix, creator), types.MODULE_NAME, [
      { denom: tokenIn, amount: totalIn },
    ]);
}

/** MsgWithdrawFilledLimitOrder: pays out the filled part of an order and, if the tranche is inactive, the unfilled part as well. */
export function withdrawFilled(
  context: Context,
  { creator, trancheKey }: TrancheRequest,
  keepers: types.DexKeepers,
): tx.MsgWithdrawFilledLimitOrderResponse {
  const user = store.trancheUsers.get(context, { address: creator, trancheKey });
  if (user === undefined) throw errors.ErrValidLimitOrderTrancheNotFound(trancheKey);
  const { makerOut, takerOut, sharesWithdrawn } = takeFilled(context, keepers.chainName, user);
  tranches.saveTrancheUser(context, tranches.withShares(user, user.sharesOwned, sharesWithdrawn));
  if (makerOut === 0n && takerOut === 0n) throw errors.ErrWithdrawEmptyLimitOrder();
  const { tradePairId } = user;
  const takerCoin = { denom: tradePairId.takerDenom, amount: takerOut };
  const makerCoin = { denom: tradePairId.makerDenom, amount: makerOut };
  if (takerOut > 0n) context.emit(events.totalWithdrawn(keepers.chainName, takerCoin));
  const address = parseAddress(keepers.bech32Prefix, creator);
  keepers.bank.sendFromModule(context, types.MODULE_NAME, address, sumCoins([takerCoin, makerCoin]));
  context.emit(events.withdrawLimitOrder({ creator, tradePairId, trancheKey, makerOut, takerOut }));
  return { takerCoinOut: toWireCoin(takerCoin), makerCoinOut: toWireCoin(makerCoin) };
}

/**
 * Withdraws an order's filled part. If the tranche is inactive, withdraws the unfilled part as well, and closes the position even
 * if dust remains.
 */
function takeFilled(context: Context, chainName: string, user: types.TrancheUser) {
  const found = tranches.findTranche(context, user);
  if (found === undefined) return { makerOut: 0n, takerOut: 0n, sharesWithdrawn: user.sharesWithdrawn };
  const { tranche, isActive } = found;
  const { shares, amountOut } = tranches.calcWithdrawable(tranche, user);
  if (isActive) {
    tranches.saveTranche(context, chainName, tranches.takeReserves(tranche, { maker: 0n, taker: amountOut }));
    return { makerOut: 0n, takerOut: amountOut, sharesWithdrawn: user.sharesWithdrawn + shares };
  }
  const makerOut = tranches.calcRefund(tranche, user);
  tranches.saveInactiveTranche(
    context,
    tranches.takeReserves(tranche, { maker: makerOut, taker: amountOut }),
  );
  return { makerOut, takerOut: amountOut, sharesWithdrawn: user.sharesOwned };
}

/** MsgCancelLimitOrder: pays out an order's unfilled part, and the filled part that has not been withdrawn yet. */
export function cancelLimitOrder(
  context: Context,
  { creator, trancheKey }: TrancheRequest,
  keepers: types.DexKeepers,
): tx.MsgCancelLimitOrderResponse {
  const user = store.trancheUsers.get(context, { address: creator, trancheKey });
  const found = user === undefined ? undefined : tranches.findTranche(context, user);
  if (user === undefined || found === undefined) throw errors.ErrValidLimitOrderTrancheNotFound(trancheKey);
  const makerOut = tranches.calcRefund(found.tranche, user);
  const takerOut = tranches.calcWithdrawable(found.tranche, user).amountOut;
  if (makerOut === 0n && takerOut === 0n) throw errors.ErrCancelEmptyLimitOrder(trancheKey);
  const tranche = removeOrder(found.tranche, user, { maker: makerOut, taker: takerOut });
  tranches.saveTrancheUser(context, tranches.withShares(user, user.sharesOwned, user.sharesOwned));
  if (found.isActive) tranches.saveTranche(context, keepers.chainName, tranche);
  else tranches.saveInactiveTranche(context, tranche);
  deleteExpirationOfEmpty(context, tranche);
  const { tradePairId } = user;
  const takerCoin = { denom: tradePairId.takerDenom, amount: takerOut };
  const makerCoin = { denom: tradePairId.makerDenom, amount: makerOut };
  const address = parseAddress(keepers.bech32Prefix, creator);
  keepers.bank.sendFromModule(context, types.MODULE_NAME, address, sumCoins([takerCoin, makerCoin]));
  const facts = { creator, tradePairId, trancheKey, makerOut, takerOut };
  context.emit(events.cancelLimitOrder(facts, context.profile));
  return { takerCoinOut: toWireCoin(takerCoin), makerCoinOut: toWireCoin(makerCoin) };
}

/**
 * Subtracts an order from its tranche's totals, as if the order had never been placed. Earlier withdrawals are converted from
 * shares to taker units, so the new taker total can be slightly too high or too low due to rounding.
 */
function removeOrder(
  tranche: types.Tranche,
  user: types.TrancheUser,
  out: { readonly maker: bigint; readonly taker: bigint },
): types.Tranche {
  const withdrawn = decimal.truncatePrec(
    decimal.quoPrec(decimal.precFromInt(user.sharesWithdrawn), tranche.priceTakerToMaker),
  );
  const { reservesMaker, reservesTaker } = tranches.takeReserves(tranche, out);
  return tranches.withAmounts(tranche, {
    reservesMaker,
    reservesTaker,
    totalMaker: tranche.totalMaker - user.sharesOwned,
    totalTaker: tranche.totalTaker - withdrawn - out.taker,
  });
}

function deleteExpirationOfEmpty(
  context: Context,
  { key, reservesMaker, expirationTimeNs }: types.Tranche,
): void {
  if (reservesMaker > 0n || expirationTimeNs === undefined) return;
  store.expirations.delete(context, { timeNs: expirationTimeNs, trancheRef: types.trancheRef(key) });
}
