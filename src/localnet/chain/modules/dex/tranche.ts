import type { LimitOrderType } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import { minInt } from "../../../../platform/base/integers.ts";
import { GO_ZERO_TIME_NS } from "../../../../platform/base/time.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientReserves, ErrTrancheKeyInUse } from "./errors.ts";
import { calcPrice } from "./price.ts";
import * as store from "./store.ts";
import type { TradePairId, Tranche, TrancheKey, TrancheUser } from "./types.ts";
import * as events from "./events.ts";

/** Returns whether a tranche's orders have expired. JIT orders never expire by time. */
export function isExpired(context: Context, tranche: Tranche): boolean {
  const { expirationTimeNs } = tranche;
  return (
    expirationTimeNs !== undefined &&
    expirationTimeNs !== GO_ZERO_TIME_NS &&
    isPast(context, expirationTimeNs)
  );
}

/**
 * Returns whether an expiration time has passed. An order is valid while block time <= expiration_time (spec 001). In the deployed
 * module, an order is valid only while block time < expiration_time.
 */
export function isPast({ timeNs, profile }: Context, expirationTimeNs: bigint): boolean {
  return timeNs > expirationTimeNs || (timeNs === expirationTimeNs && profile.deployed("dexTimedOrders"));
}

/** Creates a tranche without reserves under a new key. */
export function newTranche(
  context: Context,
  tradePairId: TradePairId,
  tick: bigint,
  expirationTimeNs?: bigint,
): Tranche {
  const makerPrice = calcPrice(tick);
  return {
    key: { tradePairId, tick, trancheKey: store.nextTrancheKey(context) },
    reservesMaker: 0n,
    reservesTaker: 0n,
    totalMaker: 0n,
    totalTaker: 0n,
    expirationTimeNs,
    priceTakerToMaker: decimal.quoPrec(decimal.PREC_ONE, makerPrice),
    makerPrice,
  };
}

/** Returns the first tranche at this tick that does not expire and from which no taker has bought yet. */
export function findPlaceTranche(
  context: Context,
  tradePairId: TradePairId,
  tick: bigint,
): Tranche | undefined {
  for (const tranche of store.activeTranchesAtTick(context, tradePairId, tick))
    if (tranche.reservesMaker === tranche.totalMaker && tranche.expirationTimeNs === undefined)
      return tranche;
  return undefined;
}

/** Finds a tranche on the book (`isActive`) or among the inactive tranches. */
export function findTranche(context: Context, key: TrancheKey) {
  const active = store.getActiveTranche(context, key);
  if (active !== undefined) return { tranche: active, isActive: true };
  const inactive = store.inactiveTranches.get(context, key);
  return inactive === undefined ? undefined : { tranche: inactive, isActive: false };
}

/** Saves an active tranche. A tranche without maker reserves becomes inactive, and a tranche without any reserves is deleted. */
export function saveTranche(
  context: Context,
  chainName: string,
  tranche: Tranche,
  swap?: events.SwapAmounts,
): void {
  if (tranche.reservesMaker > 0n) {
    store.setActiveTranche(context, tranche);
  } else {
    if (tranche.reservesTaker > 0n) store.inactiveTranches.set(context, tranche.key, tranche);
    store.deleteActiveTranche(context, tranche.key);
    countTranche(context, chainName, { action: "dec", isExpiring: false, tranche });
  }
  context.emit(events.trancheUpdated(tranche, swap));
}

/** Writes an inactive tranche, or deletes it if it has no reserves. */
export function saveInactiveTranche(context: Context, tranche: Tranche): void {
  if (tranche.reservesMaker > 0n || tranche.reservesTaker > 0n)
    store.inactiveTranches.set(context, tranche.key, tranche);
  else store.inactiveTranches.delete(context, tranche.key);
}

/** Emits the event that reports that a tranche was added to the book or removed from the book. */
export function countTranche(
  context: Context,
  chainName: string,
  change: Pick<events.CountChange, "action" | "isExpiring"> & { readonly tranche: Tranche },
): void {
  const { action, isExpiring, tranche } = change;
  const pair = events.tradePairText(tranche.key.tradePairId);
  context.emit(events.tickCount(chainName, { action, kind: "limit_order", isExpiring, pair }));
}

/** Calculates how much of the filled part a user can still withdraw, as shares and as an amount of the taker's token. */
export function calcWithdrawable(tranche: Tranche, user: TrancheUser) {
  const unclaimed = decimal.subPrec(
    decimal.mulPrecInt(filledRatio(tranche), user.sharesOwned),
    decimal.precFromInt(user.sharesWithdrawn),
  );
  // Round the shares up and the coins down, so that all users together can never withdraw more than the reserves.
  if (unclaimed <= 0n) return { shares: 0n, amountOut: 0n };
  return {
    shares: decimal.ceilPrec(unclaimed),
    amountOut: decimal.truncatePrec(decimal.mulPrec(unclaimed, tranche.makerPrice)),
  };
}

/** Calculates a user's part of the maker amount that has not been filled, rounded down. */
export function calcRefund(tranche: Tranche, user: TrancheUser): bigint {
  const { totalMaker } = tranche;
  const unfilled = decimal.subPrec(decimal.precFromInt(totalMaker), filledAmount(tranche));
  // Due to rounding, the calculated filled amount can exceed the tranche's total. In this case, there is nothing to refund.
  if (unfilled <= 0n) return 0n;
  return decimal.truncatePrec(decimal.quoPrecInt(decimal.mulPrecInt(unfilled, user.sharesOwned), totalMaker));
}

function filledAmount({ totalTaker, makerPrice }: Tranche): decimal.PrecDec {
  return decimal.quoPrec(decimal.precFromInt(totalTaker), makerPrice);
}

function filledRatio(tranche: Tranche): decimal.PrecDec {
  return minInt(decimal.quoPrecInt(filledAmount(tranche), tranche.totalMaker), decimal.PREC_ONE);
}

/** Returns a copy of a tranche with reduced reserves. Throws dex/1170 if the tranche's reserves are too small. */
export function takeReserves(
  tranche: Tranche,
  out: { readonly maker: bigint; readonly taker: bigint },
): Tranche {
  const reservesMaker = tranche.reservesMaker - out.maker;
  const reservesTaker = tranche.reservesTaker - out.taker;
  if (reservesMaker < 0n || reservesTaker < 0n) throw ErrInsufficientReserves(tranche.key.trancheKey);
  const { totalMaker, totalTaker } = tranche;
  return withAmounts(tranche, { reservesMaker, reservesTaker, totalMaker, totalTaker });
}

/** Returns a copy of a tranche with new amounts. Listing the fields is faster than an object spread. */
export function withAmounts(
  { key, expirationTimeNs, priceTakerToMaker, makerPrice }: Tranche,
  amounts: Pick<Tranche, "reservesMaker" | "reservesTaker" | "totalMaker" | "totalTaker">,
): Tranche {
  const { reservesMaker, reservesTaker, totalMaker, totalTaker } = amounts;
  return {
    key,
    reservesMaker,
    reservesTaker,
    totalMaker,
    totalTaker,
    expirationTimeNs,
    priceTakerToMaker,
    makerPrice,
  };
}

/** Returns or creates a user's position in a tranche. Throws dex/1171 if the tranche key belongs to another pair or tick. */
export function getOrNewTrancheUser(
  context: Context,
  address: string,
  { key }: Tranche,
  orderType: LimitOrderType,
): TrancheUser {
  const user = store.trancheUsers.get(context, { address, trancheKey: key.trancheKey });
  if (user === undefined) return newTrancheUser(address, key, orderType);
  const { tradePairId, tick } = user;
  const isSame =
    tick === key.tick &&
    tradePairId.makerDenom === key.tradePairId.makerDenom &&
    tradePairId.takerDenom === key.tradePairId.takerDenom;
  if (!isSame)
    throw ErrTrancheKeyInUse("tranche key already exists for different trade pair id or tick index");
  return user;
}

function newTrancheUser(
  address: string,
  { tradePairId, tick, trancheKey }: TrancheKey,
  orderType: LimitOrderType,
): TrancheUser {
  return { tradePairId, tick, trancheKey, address, sharesOwned: 0n, sharesWithdrawn: 0n, orderType };
}

/** Writes a user's position in a tranche, or deletes the position once everything has been withdrawn. */
export function saveTrancheUser(context: Context, user: TrancheUser): void {
  if (user.sharesOwned === user.sharesWithdrawn) store.trancheUsers.delete(context, user);
  else store.trancheUsers.set(context, user, user);
  context.emit(events.trancheUserUpdated(user));
}

export function withShares(
  { tradePairId, tick, trancheKey, address, orderType }: TrancheUser,
  sharesOwned: bigint,
  sharesWithdrawn: bigint,
): TrancheUser {
  return { tradePairId, tick, trancheKey, address, sharesOwned, sharesWithdrawn, orderType };
}
