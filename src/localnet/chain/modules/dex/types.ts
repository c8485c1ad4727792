import type { ChainNames } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import type { PrecDec } from "../../../../platform/base/decimal.ts";
import type { LimitOrderType } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";

/** Two denominations, in byte order. */
export interface PairId {
  readonly token0: string;
  readonly token1: string;
}

/** One side of a pair, on which a taker pays `takerDenom` and receives `makerDenom`. */
export interface TradePairId {
  readonly makerDenom: string;
  readonly takerDenom: string;
}

/** Identifies one side of a pool. `tick` is the tick from taker to maker. */
export interface PoolReservesKey {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly fee: bigint;
}

export interface PoolReserves {
  readonly key: PoolReservesKey;
  readonly reserves: bigint;
  readonly priceTakerToMaker: PrecDec;
  readonly priceOppositeTakerToMaker: PrecDec;
  /** Taker units per maker unit. */
  readonly makerPrice: PrecDec;
}

/** A pool. Its token0 side is `lower`, and its token1 side is `upper`. */
export interface Pool {
  readonly id: bigint;
  readonly lower: PoolReserves;
  readonly upper: PoolReserves;
}

/** Identifies a pool. `tick` is the normalized centre. */
export interface PoolKey {
  readonly pairId: PairId;
  readonly tick: bigint;
  readonly fee: bigint;
}

/** Identifies a tranche. `tick` is the tick from taker to maker. */
export interface TrancheKey {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly trancheKey: string;
}

/** Limit orders at one price. */
export interface Tranche {
  readonly key: TrancheKey;
  readonly reservesMaker: bigint;
  readonly reservesTaker: bigint;
  readonly totalMaker: bigint;
  readonly totalTaker: bigint;
  /** Nanoseconds since the Unix epoch. Go's zero time marks JIT orders; undefined means that the tranche does not expire. */
  readonly expirationTimeNs: bigint | undefined;
  readonly priceTakerToMaker: PrecDec;
  readonly makerPrice: PrecDec;
}

export interface TrancheUser {
  readonly tradePairId: TradePairId;
  readonly tick: bigint;
  readonly trancheKey: string;
  /** Bech32. */
  readonly address: string;
  readonly sharesOwned: bigint;
  readonly sharesWithdrawn: bigint;
  readonly orderType: LimitOrderType;
}

export type TickLiquidity =
  | { readonly kind: "pool"; readonly reserves: PoolReserves }
  | { readonly kind: "tranche"; readonly tranche: Tranche };

/** When a tranche expires. `trancheRef` is the active tranche's key, without its prefix. */
export interface Expiration {
  readonly timeNs: bigint;
  readonly trancheRef: Uint8Array;
}

export type DexOptions = Pick<ChainNames, "chainName" | "bech32Prefix" | "authority">;

/** Moves and reads coins. Every payment throws `ModuleError` if coins are missing or a recipient is blocked. */
export type DexBank = Pick<
  BankKeeper,
  "balance" | "balances" | "holders" | "supply" | "sendToModule" | "sendFromModule" | "mint" | "burn"
>;

export interface DexKeepers extends DexOptions {
  readonly bank: DexBank;
}
