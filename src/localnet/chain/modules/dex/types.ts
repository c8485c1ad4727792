import type { PrecDec } from "../../../../platform/base/decimal.ts";
import type { LimitOrderType } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";

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

/** One side of a pool. */
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

/** A user's part of a tranche. */
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

/** An order book record. */
export type TickLiquidity =
  | { readonly kind: "pool"; readonly reserves: PoolReserves }
  | { readonly kind: "tranche"; readonly tranche: Tranche };

/** When a tranche expires. `trancheRef` is the active tranche's key, without its prefix. */
export interface Expiration {
  readonly timeNs: bigint;
  readonly trancheRef: Uint8Array;
}

/** Moves the module's coins. Every function throws `ModuleError` if coins are missing or a recipient is blocked. */
export interface DexBank {
  readonly balance: (context: Context, address: Uint8Array, denom: string) => bigint;
  readonly supply: (context: Context, denom: string) => bigint;
  readonly sendToDex: (context: Context, from: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendFromDex: (context: Context, to: Uint8Array, coins: readonly Coin[]) => void;
  /** Mints coins into the module's account. */
  readonly mint: (context: Context, coins: readonly Coin[]) => void;
  /** Burns coins from the module's account. */
  readonly burn: (context: Context, coins: readonly Coin[]) => void;
}

/** Chain settings that the module needs. */
export interface DexOptions {
  readonly chainName: string;
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the parameters. */
  readonly authority: string;
}

/** Dependencies of the message handlers. */
export interface DexKeepers extends DexOptions {
  readonly bank: DexBank;
}
