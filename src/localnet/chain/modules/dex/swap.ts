import { checkInt, minInt } from "../../../../platform/base/integers.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { gasConsumed, type SwapAmounts, multihopSwap as multihopSwapEvent } from "./events.ts";
import { isUpperSide, poolOfReserves, type PoolSides, savePool, withReserves } from "./pool.ts";
import * as store from "./store.ts";
import { isExpired, saveTranche, withAmounts } from "./tranche.ts";
import * as types from "./types.ts";
import { unregisteredError, ModuleError, wrapErrors } from "../../runtime/errors.ts";
import type { MsgMultiHopSwapResponse } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { ErrLimitPriceNotSatisfied, ErrNoLiquidity, panicked } from "./errors.ts";
import type { MultiHopRequest } from "./messages.ts";

interface SwapRequest {
  readonly tradePairId: types.TradePairId;
  readonly amountIn: bigint;
  readonly maxAmountOut?: bigint | undefined;
  /** Highest price that the taker pays, in taker units per maker unit. */
  readonly limitPrice?: decimal.PrecDec | undefined;
}

/** A swap's result. `filled` is true if the remaining input is too small to buy anything, or if the maximum output has been reached. */
export interface SwapResult extends SwapAmounts {
  readonly filled: boolean;
}

/** A pool side or tranche with reserves. For a pool side, `pool` also contains the current state of the opposite side. */
type Liquidity =
  | { readonly kind: "pool"; readonly reserves: types.PoolReserves; readonly pool: PoolSides }
  | { readonly kind: "tranche"; readonly tranche: types.Tranche };

/**
 * Swaps against the book, best price first, and emits an event with the gas used. The deployed module swaps in a cache context, but
 * always writes the changes back. This function needs no cache context, because the writes of a failed message or route are
 * discarded anyway.
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
    // Each input is rounded up, so `remaining` can become -1.
    remaining -= amounts.amountIn;
    amountOut += amounts.amountOut;
    filled = decimal.quoPrec(decimal.precFromInt(remaining), price) < decimal.PREC_ONE;
    if (filled) break;
    if (remainingOut === undefined) continue;
    remainingOut -= amounts.amountOut;
    filled = remainingOut <= 0n;
    if (filled) break;
  }
  return { amountIn: request.amountIn - remaining, amountOut, filled };
}

/**
 * Iterates over a snapshot of the liquidity from which a taker can buy. Advances the store's iterator before yielding a record,
 * because the deployed module also pays an iteration's gas before it uses the record.
 */
function* walkLiquidity(context: Context, tradePairId: types.TradePairId): IterableIterator<Liquidity> {
  const ticks = store.ticksOfSide(context, tradePairId);
  for (let at = ticks.next(); at.done !== true; ) {
    const record = at.value;
    const liquidity = hasLiquidity(context, record) ? wrap(context, record) : undefined;
    at = ticks.next();
    if (liquidity !== undefined) yield liquidity;
  }
}

/** Returns whether a record has maker reserves and has not expired. */
function hasLiquidity(context: Context, record: types.TickLiquidity): boolean {
  return record.kind === "pool"
    ? record.reserves.reserves > 0n
    : record.tranche.reservesMaker > 0n && !isExpired(context, record.tranche);
}

function wrap(context: Context, record: types.TickLiquidity): Liquidity {
  return record.kind === "pool" ? { ...record, pool: poolOfReserves(context, record.reserves) } : record;
}

function priceOf(liquidity: Liquidity): decimal.PrecDec {
  return liquidity.kind === "pool" ? liquidity.reserves.makerPrice : liquidity.tranche.makerPrice;
}

interface Remaining {
  readonly remaining: bigint;
  readonly remainingOut: bigint | undefined;
}

function take(context: Context, chainName: string, liquidity: Liquidity, want: Remaining): SwapAmounts {
  const price = priceOf(liquidity);
  const reserves = liquidity.kind === "pool" ? liquidity.reserves.reserves : liquidity.tranche.reservesMaker;
  // Round the output down and the input up. Both roundings favour the maker, so repeated trades cannot drain a record.
  const affordable = minInt(
    reserves,
    decimal.truncatePrec(decimal.quoPrec(decimal.precFromInt(want.remaining), price)),
  );
  const amountOut = want.remainingOut === undefined ? affordable : minInt(affordable, want.remainingOut);
  const amounts = { amountIn: decimal.ceilPrec(decimal.mulPrecInt(price, amountOut)), amountOut };
  if (liquidity.kind === "pool") {
    const isUpper = isUpperSide(liquidity.reserves.key.tradePairId);
    savePool(context, chainName, swapPool(liquidity.pool, isUpper, amounts), { ...amounts, isUpper });
  } else {
    saveTranche(context, chainName, swapTranche(liquidity.tranche, amounts), amounts);
  }
  return amounts;
}

/** Returns a pool after a swap. The entire input, including the fee, is added to the opposite side's reserves. */
function swapPool({ lower, upper }: PoolSides, isUpper: boolean, amounts: SwapAmounts): PoolSides {
  const [from, to] = isUpper ? [upper, lower] : [lower, upper];
  const less = withReserves(from, from.reserves - amounts.amountOut);
  const more = withReserves(to, checkInt(to.reserves + amounts.amountIn));
  return isUpper ? { lower: more, upper: less } : { lower: less, upper: more };
}

function swapTranche(tranche: types.Tranche, { amountIn, amountOut }: SwapAmounts): types.Tranche {
  return withAmounts(tranche, {
    reservesMaker: tranche.reservesMaker - amountOut,
    reservesTaker: checkInt(tranche.reservesTaker + amountIn),
    totalMaker: tranche.totalMaker,
    totalTaker: checkInt(tranche.totalTaker + amountIn),
  });
}

/** Returns the first record with liquidity for a taker, or undefined if the side has no liquidity. */
export function bestRecord(
  context: Context,
  tradePairId: types.TradePairId,
): types.TickLiquidity | undefined {
  for (const record of store.ticksOfSide(context, tradePairId))
    if (hasLiquidity(context, record)) return record;
  return undefined;
}

/** Returns the best price for a taker, or undefined if there is no liquidity. */
function bestPrice(context: Context, tradePairId: types.TradePairId): decimal.PrecDec | undefined {
  const best = bestRecord(context, tradePairId);
  if (best === undefined) return undefined;
  return best.kind === "pool" ? best.reserves.makerPrice : best.tranche.makerPrice;
}

/** A route's result. `out` is undefined for a route with one token, which swaps nothing. */
interface RouteResult {
  readonly hops: readonly string[];
  readonly out: Coin | undefined;
  readonly dust: readonly Coin[];
}

/** MsgMultiHopSwap: uses the first route that succeeds or, if requested, the route with the largest output. */
export function multiHopSwap(
  context: Context,
  request: MultiHopRequest,
  keepers: types.DexKeepers,
): MsgMultiHopSwapResponse {
  const route = chooseRoute(context, keepers, request);
  const { hops, dust } = route;
  const received = transferCoins(context, request, route, keepers);
  const amounts = { amountIn: request.amountIn, amountOut: received.amount };
  context.emit(multihopSwapEvent(request, { ...amounts, hops, dust }, context.profile));
  return { coinOut: toWireCoin(received), route: { hops: [...hops] }, dust: dust.map(toWireCoin) };
}

/** Simulates MsgMultiHopSwap. Nothing is paid out, so a route with only one token can succeed with an empty output coin. */
export function simulateMultiHopSwap(
  context: Context,
  request: MultiHopRequest,
  keepers: types.DexKeepers,
): MsgMultiHopSwapResponse {
  const { hops, out = { denom: "", amount: 0n }, dust } = chooseRoute(context, keepers, request);
  return { coinOut: toWireCoin(out), route: { hops: [...hops] }, dust: dust.map(toWireCoin) };
}

function chooseRoute(
  context: Context,
  { chainName }: types.DexKeepers,
  request: MultiHopRequest,
): RouteResult {
  return request.pickBestRoute
    ? bestRoute(context, chainName, request)
    : firstRoute(context, chainName, request);
}

/** State shared by all routes of a MsgMultiHopSwap. */
interface RouteScope {
  readonly request: MultiHopRequest;
  /** Route prefixes for whose last swap gas has already been charged. A later route with the same prefix is not charged again. */
  readonly paid: Set<string>;
}

function firstRoute(context: Context, chainName: string, request: MultiHopRequest): RouteResult {
  const failures: ModuleError[] = [];
  const scope = { request, paid: new Set<string>() };
  for (const hops of request.routes) {
    const result = tryRoute(() => context.atomically((inner) => runRoute(inner, chainName, scope, hops)));
    if (!(result instanceof ModuleError)) return result;
    failures.push(result);
  }
  throw allFailed(failures);
}

/** Runs every route without keeping its writes, then executes the best route without charging its gas a second time. */
function bestRoute(context: Context, chainName: string, request: MultiHopRequest): RouteResult {
  const failures: ModuleError[] = [];
  const scope = { request, paid: new Set<string>() };
  let best: Required<RouteResult> | undefined;
  for (const hops of request.routes) {
    const result = tryRoute(() => dryRun(context, (inner) => runRoute(inner, chainName, scope, hops)));
    if (result instanceof ModuleError) failures.push(result);
    else if (best === undefined || outOf(result).amount > outOf(best).amount) best = result;
  }
  if (best === undefined) throw allFailed(failures);
  outOf(best);
  return runRoute(context.withGas(createGasMeter()), chainName, scope, best.hops);
}

function tryRoute(run: () => RouteResult): RouteResult | ModuleError {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof ModuleError && thrown.codespace === types.MODULE_NAME) return thrown;
    throw thrown;
  }
}

/**
 * Creates the error thrown if all routes fail. The error does not have code 1141, because the deployed module joins the errors with
 * Go's `errors.Join`, which drops the code.
 */
function allFailed(failures: readonly ModuleError[]): ModuleError {
  const texts = failures.map(({ message }) => message);
  return unregisteredError(
    ["All multihop routes failed limitPrice check or had insufficient liquidity", ...texts].join("\n"),
  );
}

/** Returns the coin that a route pays out. Throws for a route with only one token, because Go panics with a nil pointer dereference. */
function outOf({ out }: RouteResult): Coin {
  if (out === undefined) throw panicked("invalid memory address or nil pointer dereference");
  return out;
}

/** Swaps along a route. Throws dex/1154 if the exit limit price cannot be reached, and dex/1164 if a pair has too little liquidity. */
function runRoute(
  context: Context,
  chainName: string,
  { request: { amountIn, exitLimitPrice }, paid }: RouteScope,
  hops: readonly string[],
): RouteResult {
  const pairs = pairsOf(hops);
  const bestPrices = remainingPrices(context, pairs);
  const dust: Coin[] = [];
  let current = decimal.PREC_ONE;
  let out: Coin | undefined;
  for (const [index, pair] of pairs.entries()) {
    if (exitLimitPrice > decimal.mulPrec(current, bestPrices[index] ?? 0n)) throw ErrLimitPriceNotSatisfied();
    const beginning = JSON.stringify(hops.slice(0, index + 2));
    const payer = paid.has(beginning) ? context.withGas(createGasMeter()) : context;
    paid.add(beginning);
    const step = runHop(payer, chainName, pair, out?.amount ?? amountIn);
    dust.push(step.dust);
    out = step.out;
    current = decimal.quoPrec(decimal.precFromInt(out.amount), decimal.precFromInt(amountIn));
  }
  if (exitLimitPrice > current) throw ErrLimitPriceNotSatisfied();
  return { hops, out, dust: sumCoins(dust) };
}

function pairsOf(hops: readonly string[]): readonly types.TradePairId[] {
  return hops.slice(1).map((makerDenom, index) => ({ makerDenom, takerDenom: hops[index] ?? "" }));
}

/**
 * Returns, for each hop, the product of the best prices from that hop to the route's end. Throws dex/1154 for a pair without
 * liquidity.
 */
function remainingPrices(context: Context, pairs: readonly types.TradePairId[]): readonly decimal.PrecDec[] {
  const prices: decimal.PrecDec[] = [];
  let product = decimal.PREC_ONE;
  for (const pair of pairs.toReversed()) {
    const price = bestPrice(context, pair);
    if (price === undefined) throw ErrLimitPriceNotSatisfied();
    product = decimal.quoPrec(product, price);
    prices.push(product);
  }
  return prices.toReversed();
}

function runHop(
  context: Context,
  chainName: string,
  tradePairId: types.TradePairId,
  amount: bigint,
): { readonly out: Coin; readonly dust: Coin } {
  const { amountIn, amountOut, filled } = swap(context, chainName, { tradePairId, amountIn: amount });
  if (!filled) throw ErrNoLiquidity(`Failed at pair: ${types.formatPair(types.pairOf(tradePairId))}`);
  if (amountIn > amount) throw panicked("negative coin amount");
  return {
    out: { denom: tradePairId.makerDenom, amount: amountOut },
    dust: { denom: tradePairId.takerDenom, amount: amount - amountIn },
  };
}

/** Charges the creator the whole amount, then pays the output and the dust to the receiver. */
function transferCoins(
  context: Context,
  request: MultiHopRequest,
  route: RouteResult,
  { bank, bech32Prefix }: types.DexKeepers,
): Coin {
  const creator = parseAddress(bech32Prefix, request.creator);
  bank.sendToModule(context, creator, types.MODULE_NAME, [
    { denom: route.hops[0] ?? "", amount: request.amountIn },
  ]);
  const received = outOf(route);
  wrapErrors(
    // The wrapped error has no code, because the deployed module wraps errors with Go's `fmt.Errorf`.
    ({ message }) => unregisteredError(`failed to send out coin and dust to the receiver: ${message}`),
    () =>
      bank.sendFromModule(
        context,
        types.MODULE_NAME,
        parseAddress(bech32Prefix, request.receiver),
        sumCoins([received, ...route.dust]),
      ),
  );
  return received;
}
