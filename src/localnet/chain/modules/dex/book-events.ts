import type { Coin } from "../../runtime/coins.ts";
import { attribute, type ChainEvent } from "../../runtime/events.ts";
import { type Attribute, attributesOf, MODULE_ATTRIBUTE } from "./event-attributes.ts";
import type { PairId, PoolReserves, TradePairId, Tranche, TrancheUser } from "./types.ts";

const TICK_UPDATE = attribute("action", "TickUpdate");
const TRANCHE_USER_UPDATE = attribute("action", "TrancheUserUpdate");

/** Amounts of the swap that changed a record. */
export interface SwapAmounts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** A record as its update shows it. `identity` is what identifies it at its tick. */
interface SavedRecord {
  readonly key: { readonly tradePairId: TradePairId; readonly tick: bigint };
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

/** One side of a pool was saved. */
export function reservesUpdated({ key, reserves }: PoolReserves, swap?: SwapAmounts): ChainEvent {
  return tickUpdate({ key, reserves, identity: attribute("Fee", key.fee.toString()) }, swap);
}

/** A tranche was saved. */
export function trancheUpdated({ key, reservesMaker }: Tranche, swap?: SwapAmounts): ChainEvent {
  const identity = attribute("TrancheKey", key.trancheKey);
  return tickUpdate({ key, reserves: reservesMaker, identity }, swap);
}

/** A user's part of a tranche changed. */
export function trancheUserUpdated(user: TrancheUser): ChainEvent {
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
