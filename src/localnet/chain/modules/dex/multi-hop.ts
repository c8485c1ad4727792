import { MODULE_NAME, formatPair, pairOf } from "./keys.ts";
import { unregisteredError, ModuleError, wrapErrors } from "../../runtime/errors.ts";
import { mulPrec, PREC_ONE, precFromInt, type PrecDec, quoPrec } from "../../../../platform/base/decimal.ts";
import type { MsgMultiHopSwapResponse } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { ErrLimitPriceNotSatisfied, ErrNoLiquidity, panicked } from "./errors.ts";
import { multihopSwap as multihopSwapEvent } from "./events.ts";
import type { MultiHopRequest } from "./messages.ts";
import { bestPrice, swap } from "./swap.ts";
import type { DexKeepers, TradePairId } from "./types.ts";

/** An executed route. `out` is undefined if the route has only one token and therefore swaps nothing. */
interface RouteResult {
  readonly hops: readonly string[];
  readonly out: Coin | undefined;
  readonly dust: readonly Coin[];
}

/** MsgMultiHopSwap: takes the first route that succeeds, or the route with the largest output. */
export function multiHopSwap(
  context: Context,
  request: MultiHopRequest,
  keepers: DexKeepers,
): MsgMultiHopSwapResponse {
  const route = chooseRoute(context, keepers, request);
  const { hops, dust } = route;
  const received = transferCoins(context, request, route, keepers);
  const amounts = { amountIn: request.amountIn, amountOut: received.amount };
  context.emit(multihopSwapEvent(request, { ...amounts, hops, dust }, context.profile));
  return { coinOut: toWireCoin(received), route: { hops: [...hops] }, dust: dust.map(toWireCoin) };
}

/** Simulates MsgMultiHopSwap. Because nothing is paid out, it succeeds even if the route has only one token and yields no coin. */
export function simulateMultiHopSwap(
  context: Context,
  request: MultiHopRequest,
  keepers: DexKeepers,
): MsgMultiHopSwapResponse {
  const { hops, out = { denom: "", amount: 0n }, dust } = chooseRoute(context, keepers, request);
  return { coinOut: toWireCoin(out), route: { hops: [...hops] }, dust: dust.map(toWireCoin) };
}

function chooseRoute(context: Context, { chainName }: DexKeepers, request: MultiHopRequest): RouteResult {
  return request.pickBestRoute
    ? bestRoute(context, chainName, request)
    : firstRoute(context, chainName, request);
}

/** State shared by a message's routes while they run. */
interface RouteScope {
  readonly request: MultiHopRequest;
  /** Route prefixes whose swaps have already been charged; other routes with the same prefix are not charged again. */
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

/** Dry-runs every route, then runs the best one again without charging its gas twice. */
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
    if (thrown instanceof ModuleError && thrown.codespace === MODULE_NAME) return thrown;
    throw thrown;
  }
}

/** The deployed module joins the errors with Go's `errors.Join`, which drops code 1141. */
function allFailed(failures: readonly ModuleError[]): ModuleError {
  const texts = failures.map(({ message }) => message);
  return unregisteredError(
    ["All multihop routes failed limitPrice check or had insufficient liquidity", ...texts].join("\n"),
  );
}

/** Returns a route's coin. Throws for a one-token route, whose missing coin Go dereferences. */
function outOf({ out }: RouteResult): Coin {
  if (out === undefined) throw panicked("invalid memory address or nil pointer dereference");
  return out;
}

/** Swaps along a route. Throws dex/1154 or dex/1164. */
function runRoute(
  context: Context,
  chainName: string,
  { request: { amountIn, exitLimitPrice }, paid }: RouteScope,
  hops: readonly string[],
): RouteResult {
  const pairs = pairsOf(hops);
  const bestPrices = remainingPrices(context, pairs);
  const dust: Coin[] = [];
  let current = PREC_ONE;
  let out: Coin | undefined;
  for (const [index, pair] of pairs.entries()) {
    if (exitLimitPrice > mulPrec(current, bestPrices[index] ?? 0n)) throw ErrLimitPriceNotSatisfied();
    const beginning = JSON.stringify(hops.slice(0, index + 2));
    const payer = paid.has(beginning) ? context.withGas(createGasMeter()) : context;
    paid.add(beginning);
    const step = runHop(payer, chainName, pair, out?.amount ?? amountIn);
    dust.push(step.dust);
    out = step.out;
    current = quoPrec(precFromInt(out.amount), precFromInt(amountIn));
  }
  if (exitLimitPrice > current) throw ErrLimitPriceNotSatisfied();
  return { hops, out, dust: sumCoins(dust) };
}

function pairsOf(hops: readonly string[]): readonly TradePairId[] {
  return hops.slice(1).map((makerDenom, index) => ({ makerDenom, takerDenom: hops[index] ?? "" }));
}

/** Returns, for each hop, the product of the best prices from there to the exit. Throws dex/1154 for a pair without liquidity. */
function remainingPrices(context: Context, pairs: readonly TradePairId[]): readonly PrecDec[] {
  const prices: PrecDec[] = [];
  let product = PREC_ONE;
  for (const pair of pairs.toReversed()) {
    const price = bestPrice(context, pair);
    if (price === undefined) throw ErrLimitPriceNotSatisfied();
    product = quoPrec(product, price);
    prices.push(product);
  }
  return prices.toReversed();
}

function runHop(
  context: Context,
  chainName: string,
  tradePairId: TradePairId,
  amount: bigint,
): { readonly out: Coin; readonly dust: Coin } {
  const { amountIn, amountOut, filled } = swap(context, chainName, { tradePairId, amountIn: amount });
  if (!filled) throw ErrNoLiquidity(`Failed at pair: ${formatPair(pairOf(tradePairId))}`);
  if (amountIn > amount) throw panicked("negative coin amount");
  return {
    out: { denom: tradePairId.makerDenom, amount: amountOut },
    dust: { denom: tradePairId.takerDenom, amount: amount - amountIn },
  };
}

/** Charges the creator the whole amount, and pays the output and the dust to the receiver. */
function transferCoins(
  context: Context,
  request: MultiHopRequest,
  route: RouteResult,
  { bank, bech32Prefix }: DexKeepers,
): Coin {
  const creator = parseAddress(bech32Prefix, request.creator);
  bank.sendToModule(context, creator, MODULE_NAME, [
    { denom: route.hops[0] ?? "", amount: request.amountIn },
  ]);
  const received = outOf(route);
  wrapErrors(
    // The deployed module wraps with Go's `fmt.Errorf`, which loses the code.
    ({ message }) => unregisteredError(`failed to send out coin and dust to the receiver: ${message}`),
    () =>
      bank.sendFromModule(
        context,
        MODULE_NAME,
        parseAddress(bech32Prefix, request.receiver),
        sumCoins([received, ...route.dust]),
      ),
  );
  return received;
}
