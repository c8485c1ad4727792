import type { LimitOrderType } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrTrancheKeyInUse } from "./errors.ts";
import { trancheUserUpdated } from "./book-events.ts";
import * as store from "./store.ts";
import type { Tranche, TrancheKey, TrancheUser } from "./types.ts";

/** Returns a user's part of a tranche, or a new one. Throws dex/1171 when the key belongs to another pair or tick. */
export function getOrNewTrancheUser(
  context: Context,
  address: string,
  { key }: Tranche,
  orderType: LimitOrderType,
): TrancheUser {
  const user = store.getTrancheUser(context, address, key.trancheKey);
  if (user === undefined) return newTrancheUser(address, key, orderType);
  const { tradePairId, tick } = user;
  const isSame =
    tick === key.tick &&
    tradePairId.makerDenom === key.tradePairId.makerDenom &&
    tradePairId.takerDenom === key.tradePairId.takerDenom;
  if (!isSame) throw ErrTrancheKeyInUse();
  return user;
}

function newTrancheUser(
  address: string,
  { tradePairId, tick, trancheKey }: TrancheKey,
  orderType: LimitOrderType,
): TrancheUser {
  return { tradePairId, tick, trancheKey, address, sharesOwned: 0n, sharesWithdrawn: 0n, orderType };
}

/** Writes a user's part of a tranche; it is deleted when everything was withdrawn. */
export function saveTrancheUser(context: Context, user: TrancheUser): void {
  if (user.sharesOwned === user.sharesWithdrawn) store.deleteTrancheUser(context, user);
  else store.setTrancheUser(context, user);
  context.emit(trancheUserUpdated(user));
}

/** Returns a user's part of a tranche with other shares. */
export function withShares(
  { tradePairId, tick, trancheKey, address, orderType }: TrancheUser,
  sharesOwned: bigint,
  sharesWithdrawn: bigint,
): TrancheUser {
  return { tradePairId, tick, trancheKey, address, sharesOwned, sharesWithdrawn, orderType };
}
