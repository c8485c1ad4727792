import { formatPrecDec, type PrecDec } from "../../../base/prec-dec.ts";
import { formatRfc3339Ns } from "../../../base/rfc3339.ts";
import { type Coin, formatCoins } from "../../runtime/coins.ts";
import type { ChainEvent } from "../../runtime/events.ts";
import { MODULE_NAME, pairOf } from "./keys.ts";
import type { PairId, PoolReserves, TradePairId, Tranche, TrancheUser } from "./types.ts";

type Attributes = ChainEvent["attributes"];

function attribute(key: string, value: string): Attributes[number] {
  return { key, value, index: true };
}

const MODULE_ATTRIBUTE = attribute("module", MODULE_NAME);

/** Short forms of the order types (dex.md, "Resources and their fields"), by number. */
const SHORT_ORDER_TYPES = ["GTC", "FOK", "IOC", "JIT", "GTT"];

function moduleEvent(type: string, action: string, attributes: Attributes): ChainEvent {
  return { type, attributes: [MODULE_ATTRIBUTE, attribute("action", action), ...attributes] };
}

function pairAttributes({ token0, token1 }: PairId): Attributes {
  return [attribute("TokenZero", token0), attribute("TokenOne", token1)];
}

/** Who sends a message and who receives its result; bech32. */
export interface Parties {
  readonly creator: string;
  readonly receiver: string;
}

function partyAttributes({ creator, receiver }: Parties): Attributes {
  return [attribute("Creator", creator), attribute("Receiver", receiver)];
}

/** One position of a deposit. `in` is what the creator pays, `deposited` what the reserves gain. */
export interface DepositFacts {
  readonly pairId: PairId;
  readonly tick: bigint;
  readonly fee: bigint;
  readonly deposited: readonly [bigint, bigint];
  readonly amountsIn: readonly [bigint, bigint];
  readonly shares: bigint;
}

/** Liquidity was deposited. */
export function depositLp(parties: Parties, facts: DepositFacts): ChainEvent {
  return moduleEvent("message", "DepositLP", [
    ...partyAttributes(parties),
    ...pairAttributes(facts.pairId),
    attribute("TickIndex", facts.tick.toString()),
    attribute("Fee", facts.fee.toString()),
    attribute("ReservesZeroDeposited", facts.deposited[0].toString()),
    attribute("ReservesOneDeposited", facts.deposited[1].toString()),
    attribute("SharesMinted", facts.shares.toString()),
    attribute("AmountInTokenZero", facts.amountsIn[0].toString()),
    attribute("AmountInTokenOne", facts.amountsIn[1].toString()),
  ]);
}

/** One position of a withdrawal. */
export interface WithdrawalFacts {
  readonly pairId: PairId;
  readonly tick: bigint;
  readonly fee: bigint;
  readonly withdrawn: readonly [bigint, bigint];
  readonly shares: bigint;
}

/** Liquidity was withdrawn. */
export function withdrawLp(parties: Parties, facts: WithdrawalFacts): ChainEvent {
  return moduleEvent("message", "WithdrawLP", [
    ...partyAttributes(parties),
    ...pairAttributes(facts.pairId),
    attribute("TickIndex", facts.tick.toString()),
    attribute("Fee", facts.fee.toString()),
    attribute("ReservesZeroWithdrawn", facts.withdrawn[0].toString()),
    attribute("ReservesOneWithdrawn", facts.withdrawn[1].toString()),
    attribute("SharesRemoved", facts.shares.toString()),
  ]);
}

/** An executed limit order. `shares` is undefined when nothing was placed on the book. */
export interface OrderFacts {
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly totalIn: bigint;
  readonly limitTick: bigint;
  readonly orderType: number;
  readonly shares: bigint | undefined;
  readonly trancheKey: string;
  readonly swapIn: bigint;
  readonly swapOut: bigint;
  readonly minAveragePrice: PrecDec;
  readonly maxAmountOut: bigint | undefined;
  readonly amountIn: bigint;
  readonly expirationTimeNs: bigint | undefined;
}

/** A limit order was placed. `ExpirationTime` is RFC 3339, empty for an order without one. */
export function placeLimitOrder(parties: Parties, facts: OrderFacts): ChainEvent {
  const { tokenIn, tokenOut, expirationTimeNs } = facts;
  return moduleEvent("message", "PlaceLimitOrder", [
    ...partyAttributes(parties),
    ...pairAttributes(pairOf({ makerDenom: tokenIn, takerDenom: tokenOut })),
    attribute("TokenIn", tokenIn),
    attribute("TokenOut", tokenOut),
    attribute("AmountIn", facts.totalIn.toString()),
    attribute("LimitTick", facts.limitTick.toString()),
    attribute("OrderType", SHORT_ORDER_TYPES[facts.orderType] ?? facts.orderType.toString()),
    attribute("Shares", facts.shares?.toString() ?? "<nil>"),
    attribute("TrancheKey", facts.trancheKey),
    attribute("SwapAmountIn", facts.swapIn.toString()),
    attribute("SwapAmountOut", facts.swapOut.toString()),
    attribute("MinAvgSellPrice", formatPrecDec(facts.minAveragePrice)),
    attribute("MaxAmountOut", facts.maxAmountOut?.toString() ?? ""),
    attribute("RequestAmountIn", facts.amountIn.toString()),
    attribute("ExpirationTime", expirationTimeNs === undefined ? "" : formatRfc3339Ns(expirationTimeNs)),
  ]);
}

/** What a creator took out of a tranche. */
export interface TrancheOutFacts {
  readonly creator: string;
  readonly tradePairId: TradePairId;
  readonly trancheKey: string;
  readonly makerOut: bigint;
  readonly takerOut: bigint;
}

function trancheOutAttributes({ creator, tradePairId }: TrancheOutFacts): Attributes {
  return [
    ...partyAttributes({ creator, receiver: creator }),
    ...pairAttributes(pairOf(tradePairId)),
    attribute("TokenIn", tradePairId.makerDenom),
    attribute("TokenOut", tradePairId.takerDenom),
  ];
}

/** Proceeds of an order were withdrawn. */
export function withdrawLimitOrder(facts: TrancheOutFacts): ChainEvent {
  return moduleEvent("message", "WithdrawLimitOrder", [
    ...trancheOutAttributes(facts),
    attribute("TrancheKey", facts.trancheKey),
    attribute("AmountOut", facts.takerOut.toString()),
    attribute("TokenOutAmountOut", facts.takerOut.toString()),
    attribute("TokenInAmountOut", facts.makerOut.toString()),
  ]);
}

/** An order was cancelled. `AmountIn` is the returned maker amount, `AmountOut` the taker amount. */
export function cancelLimitOrder(facts: TrancheOutFacts): ChainEvent {
  return moduleEvent("message", "CancelLimitOrder", [
    ...trancheOutAttributes(facts),
    attribute("AmountIn", facts.makerOut.toString()),
    attribute("AmountOut", facts.takerOut.toString()),
    attribute("TokenInAmountOut", facts.makerOut.toString()),
    attribute("TokenOutAmountOut", facts.takerOut.toString()),
    attribute("TrancheKey", facts.trancheKey),
  ]);
}

/** An executed multi-hop swap. */
export interface MultiHopFacts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly hops: readonly string[];
  readonly dust: readonly Coin[];
}

/** A multi-hop swap was executed. */
export function multihopSwap(parties: Parties, facts: MultiHopFacts): ChainEvent {
  const { hops } = facts;
  return moduleEvent("message", "MultihopSwap", [
    ...partyAttributes(parties),
    attribute("MakerDenom", hops[0] ?? ""),
    attribute("TokenOut", hops[hops.length - 1] ?? ""),
    attribute("AmountIn", facts.amountIn.toString()),
    attribute("AmountOut", facts.amountOut.toString()),
    attribute("Route", hops.join(",")),
    attribute("Dust", formatCoins(facts.dust)),
  ]);
}

/** Amounts of the swap that changed a record. */
export interface SwapAmounts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

function tickUpdate(
  tradePairId: TradePairId,
  tick: bigint,
  last: Attributes,
  swap: SwapAmounts | undefined,
): ChainEvent {
  return moduleEvent("TickUpdate", "TickUpdate", [
    ...pairAttributes(pairOf(tradePairId)),
    attribute("TokenIn", tradePairId.makerDenom),
    attribute("TickIndex", tick.toString()),
    ...last,
    ...(swap === undefined
      ? []
      : ([
          attribute("SwapAmountIn", swap.amountIn.toString()),
          attribute("SwapAmountOut", swap.amountOut.toString()),
        ] as const)),
  ]);
}

/** One side of a pool was saved. */
export function reservesUpdated({ key, reserves }: PoolReserves, swap?: SwapAmounts): ChainEvent {
  const last = [attribute("Reserves", reserves.toString()), attribute("Fee", key.fee.toString())] as const;
  return tickUpdate(key.tradePairId, key.tick, last, swap);
}

/** A tranche was saved. */
export function trancheUpdated({ key, reservesMaker }: Tranche, swap?: SwapAmounts): ChainEvent {
  const last = [
    attribute("Reserves", reservesMaker.toString()),
    attribute("TrancheKey", key.trancheKey),
  ] as const;
  return tickUpdate(key.tradePairId, key.tick, last, swap);
}

/** A user's part of a tranche changed. */
export function trancheUserUpdated(user: TrancheUser): ChainEvent {
  return moduleEvent("TrancheUserUpdate", "TrancheUserUpdate", [
    attribute("TrancheKey", user.trancheKey),
    attribute("Creator", user.address),
    attribute("TickIndex", user.tick.toString()),
    ...pairAttributes(pairOf(user.tradePairId)),
    attribute("TokenIn", user.tradePairId.makerDenom),
    attribute("SharesOwned", user.sharesOwned.toString()),
    attribute("SharesWithdrawn", user.sharesWithdrawn.toString()),
  ]);
}

/** The purge stopped at its allowance. */
export function purgeHitGasLimit(gas: bigint): ChainEvent {
  return {
    type: "GoodTilPurgeHitGasLimit",
    attributes: [MODULE_ATTRIBUTE, attribute("Gas", gas.toString())],
  };
}

/** Gas of one swap. The type of this event and of the two below is the name of the chain. */
export function gasConsumed(chainName: string, gas: bigint): ChainEvent {
  return { type: chainName, attributes: [MODULE_ATTRIBUTE, attribute("gas_consumed", gas.toString())] };
}

/** A coin left the module. */
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

/** Change of the number of records on the book. */
export interface CountChange {
  readonly action: "inc" | "dec";
  readonly kind: "lp" | "limit_order";
  readonly isExpiring: boolean;
  /** Text of the pair: {@link pairText}, {@link tradePairText} or empty. */
  readonly pair: string;
}

/** A record came on the book or left it. */
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

/** Formats a pair as gogoproto's compact text, with its trailing space. */
export function pairText({ token0, token1 }: PairId): string {
  return `token0:"${token0}" token1:"${token1}" `;
}

/** Formats a side of a pair as gogoproto's compact text, with its trailing space. */
export function tradePairText({ makerDenom, takerDenom }: TradePairId): string {
  return `maker_denom:"${makerDenom}" taker_denom:"${takerDenom}" `;
}
