import { orThrowWith, orThrow, ErrTxDecode, unregisteredError } from "../../runtime/errors.ts";
import { parseWirePrecDec, type PrecDec } from "../../../../platform/base/decimal.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { parseAddress } from "../../runtime/address.ts";
import { isDenom, parseWireInt } from "../../runtime/coins.ts";
import * as errors from "./errors.ts";
import { validateParams } from "./params.ts";
import { isPriceInRange, MAX_TICK, validateTickFee } from "./price.ts";
import { timestampNs } from "./records.ts";
import { errorMessage } from "../../../../platform/base/errors.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";

/** One position in a deposit. The amounts are in the order in which the message lists the tokens. */
export interface DepositEntry {
  readonly amountA: bigint;
  readonly amountB: bigint;
  readonly tick: bigint;
  readonly fee: bigint;
  readonly options: tx.DepositOptions;
}

/** A MsgDeposit or MsgWithdrawal that has passed the stateless checks. */
interface PositionsRequest<Entry> {
  readonly creator: string;
  readonly receiver: string;
  readonly tokenA: string;
  readonly tokenB: string;
  readonly entries: readonly Entry[];
}

export type DepositRequest = PositionsRequest<DepositEntry>;

/** Validates a MsgDeposit without reading the state. The checks run in the same order as in the deployed module. */
export function parseDeposit(message: tx.MsgDeposit, bech32Prefix: string): DepositRequest {
  const { creator, receiver, tokenA, tokenB, amountsA, amountsB, tickIndexesAToB, fees, options } = message;
  const amounts = [amountsA.map(parseWireInt), amountsB.map(parseWireInt)] as const;
  checkParties(message, bech32Prefix);
  checkTokens([tokenA, "TokenA denom"], [tokenB, "TokenB denom"], "tokenA cannot equal tokenB");
  const { length } = amountsA;
  if ([fees, tickIndexesAToB, amountsB, options].some((list) => list.length !== length))
    throw errors.ErrUnbalancedTxArray();
  if (length === 0) throw errors.ErrZeroDeposit();
  const seen = new Set<string>();
  const entries = options.map((option, index) => {
    const entry: DepositEntry = {
      amountA: amounts[0][index] ?? 0n,
      amountB: amounts[1][index] ?? 0n,
      tick: tickIndexesAToB[index] ?? 0n,
      fee: fees[index] ?? 0n,
      options: option,
    };
    checkDepositEntry(entry, seen);
    return entry;
  });
  return { creator, receiver, tokenA, tokenB, entries };
}

const MAX_SLOP_BPS = 10_000n;

function checkDepositEntry({ amountA, amountB, tick, fee, options }: DepositEntry, seen: Set<string>): void {
  const position = `${tick} ${fee}`;
  if (seen.has(position)) throw errors.ErrDuplicatePoolDeposit();
  seen.add(position);
  if (amountA < 0n || amountB < 0n || (amountA === 0n && amountB === 0n)) throw errors.ErrZeroDeposit();
  validateTickFee(tick, fee);
  if (options.disableAutoswap && options.swapOnDeposit) throw errors.ErrSwapOnDepositWithoutAutoswap();
  if (options.swapOnDepositSlopToleranceBps > MAX_SLOP_BPS) throw errors.ErrInvalidSlopTolerance();
}

/** One position in a withdrawal. The sign of the tick depends on the order in which the message lists the tokens. */
export interface WithdrawalEntry {
  readonly shares: bigint;
  readonly tick: bigint;
  readonly fee: bigint;
}

export type WithdrawalRequest = PositionsRequest<WithdrawalEntry>;

/** Validates a MsgWithdrawal without reading the state. The checks run in the same order as in the deployed module. */
export function parseWithdrawal(message: tx.MsgWithdrawal, bech32Prefix: string): WithdrawalRequest {
  const { creator, receiver, tokenA, tokenB, sharesToRemove, tickIndexesAToB, fees } = message;
  const shares = sharesToRemove.map(parseWireInt);
  checkParties(message, bech32Prefix);
  checkTokens([tokenA, "TokenA denom"], [tokenB, "TokenB denom"], "tokenA cannot equal tokenB");
  const { length } = shares;
  if (fees.length !== length || tickIndexesAToB.length !== length) throw errors.ErrUnbalancedTxArray();
  if (length === 0) throw errors.ErrZeroWithdraw();
  const entries = shares.map((amount, index) => {
    const entry = { shares: amount, tick: tickIndexesAToB[index] ?? 0n, fee: fees[index] ?? 0n };
    if (amount <= 0n) throw errors.ErrZeroWithdraw();
    validateTickFee(entry.tick, entry.fee);
    return entry;
  });
  return { creator, receiver, tokenA, tokenB, entries };
}

/** A MsgPlaceLimitOrder that has passed the stateless checks. */
export interface OrderRequest {
  readonly creator: string;
  readonly receiver: string;
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly tick: bigint;
  readonly amountIn: bigint;
  readonly orderType: tx.LimitOrderType;
  readonly expirationTimeNs: bigint | undefined;
  readonly maxAmountOut: bigint | undefined;
  readonly limitSellPrice: PrecDec | undefined;
  readonly minAverageSellPrice: PrecDec | undefined;
}

/** Returns whether orders of this type are never placed on the book. */
export function isTakerOnly(orderType: tx.LimitOrderType): boolean {
  return orderType === tx.LimitOrderType.FILL_OR_KILL || orderType === tx.LimitOrderType.IMMEDIATE_OR_CANCEL;
}

/** Validates a MsgPlaceLimitOrder without reading the state. The checks run in the same order as in the deployed module. */
export function parsePlaceLimitOrder(message: tx.MsgPlaceLimitOrder, bech32Prefix: string): OrderRequest {
  const { creator, receiver, tokenIn, tokenOut, orderType, expirationTime } = message;
  const request: OrderRequest = {
    creator,
    receiver,
    tokenIn,
    tokenOut,
    tick: message.tickIndexInToOut,
    amountIn: parseWireInt(message.amountIn),
    orderType,
    expirationTimeNs: expirationTime === undefined ? undefined : timestampNs(expirationTime),
    maxAmountOut: optional(message.maxAmountOut, parseWireInt),
    limitSellPrice: optional(message.limitSellPrice, parseDecimal),
    minAverageSellPrice: optional(message.minAverageSellPrice, parseDecimal),
  };
  checkParties(message, bech32Prefix);
  checkTokens(
    [tokenIn, "Error TokenIn denom"],
    [tokenOut, "Error TokenOut denom"],
    "tokenIn cannot equal tokenOut",
  );
  checkOrderTerms(request);
  checkOrderPrices(request);
  return request;
}

function checkOrderTerms({ amountIn, orderType, expirationTimeNs, maxAmountOut }: OrderRequest): void {
  const isTimed = orderType === tx.LimitOrderType.GOOD_TIL_TIME;
  if (amountIn <= 0n) throw errors.ErrZeroLimitOrder();
  if (isTimed && expirationTimeNs === undefined) throw errors.ErrGoodTilOrderWithoutExpiration();
  if (!isTimed && expirationTimeNs !== undefined) throw errors.ErrExpirationOnWrongOrderType();
  if (maxAmountOut !== undefined && maxAmountOut <= 0n) throw errors.ErrZeroMaxAmountOut();
  if (maxAmountOut !== undefined && !isTakerOnly(orderType)) throw errors.ErrInvalidMaxAmountOutForMaker();
}

function checkOrderPrices({ tick, limitSellPrice, minAverageSellPrice }: OrderRequest): void {
  if (tick > MAX_TICK || tick < -MAX_TICK) throw errors.ErrTickOutsideRange();
  if (limitSellPrice !== undefined && !isPriceInRange(limitSellPrice)) throw errors.ErrPriceOutsideRange();
  if (limitSellPrice !== undefined && tick !== 0n) throw errors.ErrInvalidPriceAndTick();
  if (minAverageSellPrice === 0n) throw errors.ErrZeroMinAverageSellPrice();
}

/** A MsgWithdrawFilledLimitOrder or MsgCancelLimitOrder that has passed the stateless checks. */
export interface TrancheRequest {
  readonly creator: string;
  readonly trancheKey: string;
}

/** Validates a MsgWithdrawFilledLimitOrder or MsgCancelLimitOrder without reading the state. */
export function parseTrancheMessage(
  message: tx.MsgWithdrawFilledLimitOrder | tx.MsgCancelLimitOrder,
  bech32Prefix: string,
): TrancheRequest {
  checkAddress(message.creator, "creator", bech32Prefix);
  return message;
}

/** A MsgMultiHopSwap that has passed the stateless checks. */
export interface MultiHopRequest {
  readonly creator: string;
  readonly receiver: string;
  /** Each route's denominations, from the token paid to the token received. */
  readonly routes: readonly (readonly string[])[];
  readonly amountIn: bigint;
  readonly exitLimitPrice: PrecDec;
  readonly pickBestRoute: boolean;
}

/** Validates a MsgMultiHopSwap without reading the state. The checks run in the same order as in the deployed module. */
export function parseMultiHopSwap(message: tx.MsgMultiHopSwap, bech32Prefix: string): MultiHopRequest {
  const { creator, receiver, pickBestRoute } = message;
  const amountIn = parseWireInt(message.amountIn);
  const exitLimitPrice = parseDecimal(message.exitLimitPrice);
  const routes = message.routes.map(({ hops }) => hops);
  checkParties(message, bech32Prefix);
  checkRoutes(routes);
  if (amountIn <= 0n) throw errors.ErrZeroSwap();
  if (exitLimitPrice <= 0n) throw errors.ErrZeroExitPrice();
  return { creator, receiver, routes, amountIn, exitLimitPrice, pickBestRoute };
}

function checkRoutes(routes: readonly (readonly string[])[]): void {
  const [first] = routes;
  if (first === undefined) throw errors.ErrMissingMultihopRoute();
  const exit = first[first.length - 1];
  for (const hops of routes) {
    checkHops(hops);
    if (hops.length === 0) throw errors.panicked("index out of range [-1]");
    if (hops[hops.length - 1] !== exit) throw errors.ErrMultihopExitTokensMismatch();
    if (hops[0] !== first[0]) throw errors.ErrMultihopEntryTokensMismatch();
  }
}

const MIN_DENOM_LENGTH = 2;

/**
 * Checks each hop of a route. As in the deployed module, each hop must have at least two characters, but a route can have fewer
 * than two hops.
 */
function checkHops(hops: readonly string[]): void {
  const seen = new Set<string>();
  for (const hop of hops) {
    if (hop.length < MIN_DENOM_LENGTH) throw errors.ErrRouteWithoutExitToken();
    if (seen.has(hop)) throw errors.ErrCycleInHops();
    seen.add(hop);
    if (!isDenom(hop)) throw errors.ErrInvalidDenom(`invalid denom in route: (invalid denom: ${hop})`);
  }
}

export function checkUpdateParams(message: tx.MsgUpdateParams, bech32Prefix: string): void {
  orThrowWith(unregisteredError, "authority is invalid", () => parseAddress(bech32Prefix, message.authority));
  if (message.params !== undefined) validateParams(message.params, bech32Prefix);
}

function checkParties(
  { creator, receiver }: { readonly creator: string; readonly receiver: string },
  prefix: string,
): void {
  checkAddress(creator, "creator", prefix);
  checkAddress(receiver, "receiver", prefix);
}

/** Throws unless `text` is a bech32 address with this prefix. `role` names the address in the error text. */
function checkAddress(text: string, role: string, bech32Prefix: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (thrown) {
    throw errors.ErrInvalidAddress(`invalid ${role} address (${errorMessage(thrown)})`);
  }
}

type NamedDenom = readonly [denom: string, words: string];

/** Throws unless the two tokens are valid, different denominations. `words` and `equalText` are Go's error texts. */
function checkTokens(first: NamedDenom, second: NamedDenom, equalText: string): void {
  for (const [denom, words] of [first, second])
    if (!isDenom(denom)) throw errors.ErrInvalidDenom(`${words} (invalid denom: ${denom})`);
  if (first[0] === second[0]) throw errors.ErrInvalidDenom(equalText);
}

/** Parses an optional number. An empty string means that the field is unset. */
function optional<T>(text: string, parse: (text: string) => T): T | undefined {
  return text === "" ? undefined : parse(text);
}

/** Like {@link parseWireInt}, but for a 27-digit decimal. */
function parseDecimal(text: string): PrecDec {
  return orThrow(() => (text === "" ? 0n : parseWirePrecDec(text)), ErrTxDecode);
}

/**
 * Matches unsigned numbers without leading zeros. Such numbers are valid both as integers and as 27-digit decimals, so they need no
 * further check.
 */
const USUAL_NUMBER = /^(?:0|[1-9]\d{0,75})$/;

/** Checks the integers that a message contains as text, as Go does while decoding the message. Throws a plain error with Go's text. */
export function checkAmountTexts(...texts: readonly string[]): void {
  for (const text of texts) if (text !== "" && !USUAL_NUMBER.test(text)) parseInt256(text);
}

/** Like {@link checkAmountTexts}, but for 27-digit decimals. */
export function checkDecimalTexts(...texts: readonly string[]): void {
  for (const text of texts) if (text !== "" && !USUAL_NUMBER.test(text)) parseWirePrecDec(text);
}
