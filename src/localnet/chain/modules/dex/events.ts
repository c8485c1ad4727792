import type { OrderRequest } from "./messages.ts";
import * as types from "./types.ts";
import { cachedOn } from "../../store/collections.ts";
import { formatPrecDec, type PrecDec } from "../../../../platform/base/decimal.ts";
import { formatRfc3339Ns } from "../../../../platform/base/time.ts";
import { type Coin, formatCoins, sumCoins } from "../../runtime/coins.ts";
import type { Profile } from "../../deviations/deviations.ts";
import { attribute, type ChainEvent } from "../../runtime/context.ts";

const DEPOSIT_LP = attribute("action", "DepositLP");
const WITHDRAW_LP = attribute("action", "WithdrawLP");
const PLACE_LIMIT_ORDER = attribute("action", "PlaceLimitOrder");
const WITHDRAW_LIMIT_ORDER = attribute("action", "WithdrawLimitOrder");
const CANCEL_LIMIT_ORDER = attribute("action", "CancelLimitOrder");
const MULTIHOP_SWAP = attribute("action", "MultihopSwap");

/** Abbreviated names of the order types, indexed by number (dex.md, "Resources and their fields"). */
const SHORT_ORDER_TYPES = ["GTC", "FOK", "IOC", "JIT", "GTT"];

/** The deployed module's names of the order types, indexed by number. */
const ORDER_TYPES = [
  "GOOD_TIL_CANCELLED",
  "FILL_OR_KILL",
  "IMMEDIATE_OR_CANCEL",
  "JUST_IN_TIME",
  "GOOD_TIL_TIME",
];

/** Bech32 addresses of the message's sender and of the account that receives the output. */
export interface Parties {
  readonly creator: string;
  readonly receiver: string;
}

/** The result of one deposited position. The creator pays `amountsIn`, and the reserves grow by `deposited`. */
export interface DepositFacts extends types.PoolKey {
  readonly deposited: readonly [bigint, bigint];
  readonly amountsIn: readonly [bigint, bigint];
  readonly shares: bigint;
}

export function depositLp(parties: Parties, facts: DepositFacts): ChainEvent {
  const attributes = [
    MODULE_ATTRIBUTE,
    DEPOSIT_LP,
    attribute("Creator", parties.creator),
    attribute("Receiver", parties.receiver),
    attribute("TokenZero", facts.pairId.token0),
    attribute("TokenOne", facts.pairId.token1),
    attribute("TickIndex", facts.tick.toString()),
    attribute("Fee", facts.fee.toString()),
    attribute("ReservesZeroDeposited", facts.deposited[0].toString()),
    attribute("ReservesOneDeposited", facts.deposited[1].toString()),
    attribute("SharesMinted", facts.shares.toString()),
    attribute("AmountInTokenZero", facts.amountsIn[0].toString()),
    attribute("AmountInTokenOne", facts.amountsIn[1].toString()),
  ];
  return { type: "message", attributes };
}

export interface WithdrawalFacts extends types.PoolKey {
  readonly withdrawn: readonly [bigint, bigint];
  readonly shares: bigint;
}

export function withdrawLp(parties: Parties, facts: WithdrawalFacts): ChainEvent {
  const attributes = [
    MODULE_ATTRIBUTE,
    WITHDRAW_LP,
    attribute("Creator", parties.creator),
    attribute("Receiver", parties.receiver),
    attribute("TokenZero", facts.pairId.token0),
    attribute("TokenOne", facts.pairId.token1),
    attribute("TickIndex", facts.tick.toString()),
    attribute("Fee", facts.fee.toString()),
    attribute("ReservesZeroWithdrawn", facts.withdrawn[0].toString()),
    attribute("ReservesOneWithdrawn", facts.withdrawn[1].toString()),
    attribute("SharesRemoved", facts.shares.toString()),
  ];
  return { type: "message", attributes };
}

/** The result of placing a limit order. `shares` is undefined if no part of the order was placed on the book. */
export interface OrderFacts {
  readonly limitTick: bigint;
  readonly minAveragePrice: PrecDec;
  readonly totalIn: bigint;
  readonly shares: bigint | undefined;
  readonly trancheKey: string;
  readonly swapped: SwapAmounts;
}

/** Creates the event for a placed limit order. `ExpirationTime` is an RFC 3339 time, or empty if the order does not expire. */
export function placeLimitOrder(request: OrderRequest, facts: OrderFacts, { deployed }: Profile): ChainEvent {
  const { tokenIn, tokenOut, orderType, expirationTimeNs } = request;
  const orderTypes = deployed("dexOrderTypes") ? ORDER_TYPES : SHORT_ORDER_TYPES;
  const expiration = expirationTimeNs === undefined ? "" : formatRfc3339Ns(expirationTimeNs);
  const { token0, token1 } = types.pairOf({ makerDenom: tokenIn, takerDenom: tokenOut });
  const attributes = [
    MODULE_ATTRIBUTE,
    PLACE_LIMIT_ORDER,
    attribute("Creator", request.creator),
    attribute("Receiver", request.receiver),
    attribute("TokenZero", token0),
    attribute("TokenOne", token1),
    attribute("TokenIn", tokenIn),
    attribute("TokenOut", tokenOut),
    attribute("AmountIn", facts.totalIn.toString()),
    attribute("LimitTick", facts.limitTick.toString()),
    attribute("OrderType", orderTypes[orderType] ?? String(orderType)),
    attribute("Shares", facts.shares?.toString() ?? "<nil>"),
    attribute("TrancheKey", facts.trancheKey),
    attribute("SwapAmountIn", facts.swapped.amountIn.toString()),
    attribute("SwapAmountOut", facts.swapped.amountOut.toString()),
    attribute("MinAvgSellPrice", formatPrecDec(facts.minAveragePrice)),
    attribute("MaxAmountOut", request.maxAmountOut?.toString() ?? ""),
    attribute("RequestAmountIn", request.amountIn.toString()),
  ];
  if (!deployed("dexExpirationTime")) attributes.push(attribute("ExpirationTime", expiration));
  return { type: "message", attributes };
}

/** Amounts that a creator withdrew from a tranche. */
export interface TrancheOutFacts {
  readonly creator: string;
  readonly tradePairId: types.TradePairId;
  readonly trancheKey: string;
  readonly makerOut: bigint;
  readonly takerOut: bigint;
}

export function withdrawLimitOrder(facts: TrancheOutFacts): ChainEvent {
  const [zero, one, tokenIn] = attributesOf(facts.tradePairId);
  const attributes = [
    MODULE_ATTRIBUTE,
    WITHDRAW_LIMIT_ORDER,
    attribute("Creator", facts.creator),
    attribute("Receiver", facts.creator),
    zero,
    one,
    tokenIn,
    attribute("TokenOut", facts.tradePairId.takerDenom),
    attribute("TrancheKey", facts.trancheKey),
    attribute("AmountOut", facts.takerOut.toString()),
    attribute("TokenOutAmountOut", facts.takerOut.toString()),
    attribute("TokenInAmountOut", facts.makerOut.toString()),
  ];
  return { type: "message", attributes };
}

/**
 * Creates the event for a cancelled limit order. `AmountIn` is the maker amount paid back, and `AmountOut` is the taker amount paid
 * out. In the deployed module, `AmountOut` lists both coins, and there is no `AmountIn`.
 */
export function cancelLimitOrder(facts: TrancheOutFacts, { deployed }: Profile): ChainEvent {
  const { makerDenom, takerDenom } = facts.tradePairId;
  const returned = (): readonly Coin[] =>
    sumCoins([
      { denom: makerDenom, amount: facts.makerOut },
      { denom: takerDenom, amount: facts.takerOut },
    ]);
  const amounts = deployed("dexCancelAmounts")
    ? [attribute("AmountOut", formatCoins(returned()))]
    : [attribute("AmountIn", facts.makerOut.toString()), attribute("AmountOut", facts.takerOut.toString())];
  const [zero, one, tokenIn] = attributesOf(facts.tradePairId);
  const attributes = [
    MODULE_ATTRIBUTE,
    CANCEL_LIMIT_ORDER,
    attribute("Creator", facts.creator),
    attribute("Receiver", facts.creator),
    zero,
    one,
    tokenIn,
    attribute("TokenOut", takerDenom),
    ...amounts,
    attribute("TokenInAmountOut", facts.makerOut.toString()),
    attribute("TokenOutAmountOut", facts.takerOut.toString()),
    attribute("TrancheKey", facts.trancheKey),
  ];
  return { type: "message", attributes };
}

export interface MultiHopFacts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly hops: readonly string[];
  readonly dust: readonly Coin[];
}

export function multihopSwap(parties: Parties, facts: MultiHopFacts, { deployed }: Profile): ChainEvent {
  const { hops } = facts;
  const attributes = [
    MODULE_ATTRIBUTE,
    MULTIHOP_SWAP,
    attribute("Creator", parties.creator),
    attribute("Receiver", parties.receiver),
    attribute(deployed("dexMultihopInput") ? "TokenIn" : "MakerDenom", hops[0] ?? ""),
    attribute("TokenOut", hops[hops.length - 1] ?? ""),
    attribute("AmountIn", facts.amountIn.toString()),
    attribute("AmountOut", facts.amountOut.toString()),
    attribute("Route", hops.join(",")),
    attribute("Dust", formatCoins(facts.dust)),
  ];
  return { type: "message", attributes };
}

// Attribute lists are written without spreads, because V8 grows a spread array in several steps, and each step is an allocation.
// Events already cause many of a message's allocations.

type Attribute = ChainEvent["attributes"][number];

/** The first attribute of each event from this module. */
const MODULE_ATTRIBUTE: Attribute = attribute("module", types.MODULE_NAME);

/** Attributes for one side of a pair: the two tokens in byte order, and the token that the maker sells. */
type SideAttributes = readonly [zero: Attribute, one: Attribute, tokenIn: Attribute];

/**
 * Returns the attributes that every update event of a pair's side needs. The attributes are cached on the side's id object, which
 * all records of the side share.
 */
const attributesOf = cachedOn("attributes of the side", (tradePairId: types.TradePairId): SideAttributes => {
  const { token0, token1 } = types.pairOf(tradePairId);
  return [
    attribute("TokenZero", token0),
    attribute("TokenOne", token1),
    attribute("TokenIn", tradePairId.makerDenom),
  ];
});

const TICK_UPDATE = attribute("action", "TickUpdate");
const TRANCHE_USER_UPDATE = attribute("action", "TrancheUserUpdate");

/** Input and output amounts of the swap that changed a pool side or tranche. */
export interface SwapAmounts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** The values of a saved record that an update event reports. `identity` distinguishes records at the same tick. */
interface SavedRecord {
  readonly key: { readonly tradePairId: types.TradePairId; readonly tick: bigint };
  readonly reserves: bigint;
  readonly identity: Attribute;
}

function tickUpdate({ key, reserves, identity }: SavedRecord, swap: SwapAmounts | undefined): ChainEvent {
  const [zero, one, tokenIn] = attributesOf(key.tradePairId);
  const tickIndex = attribute("TickIndex", key.tick.toString());
  const left = attribute("Reserves", reserves.toString());
  const attributes =
    swap === undefined
      ? [MODULE_ATTRIBUTE, TICK_UPDATE, zero, one, tokenIn, tickIndex, left, identity]
      : [
          MODULE_ATTRIBUTE,
          TICK_UPDATE,
          zero,
          one,
          tokenIn,
          tickIndex,
          left,
          identity,
          attribute("SwapAmountIn", swap.amountIn.toString()),
          attribute("SwapAmountOut", swap.amountOut.toString()),
        ];
  return { type: "TickUpdate", attributes };
}

export function reservesUpdated({ key, reserves }: types.PoolReserves, swap?: SwapAmounts): ChainEvent {
  return tickUpdate({ key, reserves, identity: attribute("Fee", key.fee.toString()) }, swap);
}

export function trancheUpdated({ key, reservesMaker }: types.Tranche, swap?: SwapAmounts): ChainEvent {
  const identity = attribute("TrancheKey", key.trancheKey);
  return tickUpdate({ key, reserves: reservesMaker, identity }, swap);
}

export function trancheUserUpdated(user: types.TrancheUser): ChainEvent {
  const [zero, one, tokenIn] = attributesOf(user.tradePairId);
  const attributes = [
    MODULE_ATTRIBUTE,
    TRANCHE_USER_UPDATE,
    attribute("TrancheKey", user.trancheKey),
    attribute("Creator", user.address),
    attribute("TickIndex", user.tick.toString()),
    zero,
    one,
    tokenIn,
    attribute("SharesOwned", user.sharesOwned.toString()),
    attribute("SharesWithdrawn", user.sharesWithdrawn.toString()),
  ];
  return { type: "TrancheUserUpdate", attributes };
}

export function purgeHitGasLimit(gas: bigint): ChainEvent {
  return {
    type: "GoodTilPurgeHitGasLimit",
    attributes: [MODULE_ATTRIBUTE, attribute("Gas", gas.toString())],
  };
}

/**
 * Creates the event that reports the gas used by a swap. The event type is the chain's name, as for {@link totalWithdrawn} and
 * {@link tickCount}.
 */
export function gasConsumed(chainName: string, gas: bigint): ChainEvent {
  return { type: chainName, attributes: [MODULE_ATTRIBUTE, attribute("gas_consumed", gas.toString())] };
}

export function totalWithdrawn(chainName: string, { denom, amount }: Coin): ChainEvent {
  return {
    type: chainName,
    attributes: [
      MODULE_ATTRIBUTE,
      attribute("denom", denom),
      attribute("total_withdrawn", amount.toString()),
    ],
  };
}

/** A change by one in the number of records on the order book. */
export interface CountChange {
  readonly action: "inc" | "dec";
  readonly kind: "lp" | "limit_order";
  readonly isExpiring: boolean;
  /** The pair formatted with {@link pairText} or {@link tradePairText}, or an empty string. */
  readonly pair: string;
}

export function tickCount(chainName: string, change: CountChange): ChainEvent {
  return {
    type: chainName,
    attributes: [
      MODULE_ATTRIBUTE,
      attribute("action", change.action),
      attribute("liquidity_tick_type", change.kind),
      attribute("is_expiring_limit_order", change.isExpiring ? "true" : "false"),
      attribute("pair_id", change.pair),
    ],
  };
}

/** Formats a pair in gogoproto's compact text format, including its trailing space. */
export function pairText({ token0, token1 }: types.PairId): string {
  return `token0:"${token0}" token1:"${token1}" `;
}

/** Formats one side of a pair in gogoproto's compact text format, including its trailing space. */
export function tradePairText({ makerDenom, takerDenom }: types.TradePairId): string {
  return `maker_denom:"${makerDenom}" taker_denom:"${takerDenom}" `;
}
