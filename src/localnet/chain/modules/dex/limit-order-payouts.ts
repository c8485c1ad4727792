import type {
  MsgCancelLimitOrderResponse,
  MsgWithdrawFilledLimitOrderResponse,
} from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { precFromInt, quoPrec, truncatePrec } from "../../../../platform/base/decimal.ts";
import { parseAddress } from "../../runtime/address.ts";
import { sumCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrCancelEmptyLimitOrder,
  ErrValidLimitOrderTrancheNotFound,
  ErrWithdrawEmptyLimitOrder,
} from "./errors.ts";
import { cancelLimitOrder as cancelLimitOrderEvent, totalWithdrawn, withdrawLimitOrder } from "./events.ts";
import { trancheRef } from "./keys.ts";
import type { TrancheRequest } from "./messages.ts";
import * as store from "./store.ts";
import {
  calcRefund,
  calcWithdrawable,
  findTranche,
  saveInactiveTranche,
  saveTranche,
  saveTrancheUser,
  takeReserves,
  withAmounts,
  withShares,
} from "./tranche.ts";
import type { DexKeepers, Tranche, TrancheUser } from "./types.ts";

/** MsgWithdrawFilledLimitOrder: pays out an order's filled part and, if its tranche is inactive, the unfilled part as well. */
export function withdrawFilled(
  context: Context,
  { creator, trancheKey }: TrancheRequest,
  keepers: DexKeepers,
): MsgWithdrawFilledLimitOrderResponse {
  const user = store.getTrancheUser(context, creator, trancheKey);
  if (user === undefined) throw ErrValidLimitOrderTrancheNotFound(trancheKey);
  const { makerOut, takerOut, sharesWithdrawn } = takeFilled(context, keepers.chainName, user);
  saveTrancheUser(context, withShares(user, user.sharesOwned, sharesWithdrawn));
  if (makerOut === 0n && takerOut === 0n) throw ErrWithdrawEmptyLimitOrder();
  const { tradePairId } = user;
  const takerCoin = { denom: tradePairId.takerDenom, amount: takerOut };
  const makerCoin = { denom: tradePairId.makerDenom, amount: makerOut };
  if (takerOut > 0n) context.emit(totalWithdrawn(keepers.chainName, takerCoin));
  const address = parseAddress(keepers.bech32Prefix, creator);
  keepers.bank.sendFromDex(context, address, sumCoins([takerCoin, makerCoin]));
  context.emit(withdrawLimitOrder({ creator, tradePairId, trancheKey, makerOut, takerOut }));
  return { takerCoinOut: toWireCoin(takerCoin), makerCoinOut: toWireCoin(makerCoin) };
}

interface Taken {
  readonly makerOut: bigint;
  readonly takerOut: bigint;
  readonly sharesWithdrawn: bigint;
}

/** Closes a record in an inactive tranche even if dust remains in the tranche. */
function takeFilled(context: Context, chainName: string, user: TrancheUser): Taken {
  const found = findTranche(context, user);
  if (found === undefined) return { makerOut: 0n, takerOut: 0n, sharesWithdrawn: user.sharesWithdrawn };
  const { tranche, isActive } = found;
  const { shares, amountOut } = calcWithdrawable(tranche, user);
  if (isActive) {
    saveTranche(context, chainName, takeReserves(tranche, { maker: 0n, taker: amountOut }));
    return { makerOut: 0n, takerOut: amountOut, sharesWithdrawn: user.sharesWithdrawn + shares };
  }
  const makerOut = calcRefund(tranche, user);
  saveInactiveTranche(context, takeReserves(tranche, { maker: makerOut, taker: amountOut }));
  return { makerOut, takerOut: amountOut, sharesWithdrawn: user.sharesOwned };
}

/** MsgCancelLimitOrder: pays out an order's unfilled part and any filled part that has not been withdrawn yet. */
export function cancelLimitOrder(
  context: Context,
  { creator, trancheKey }: TrancheRequest,
  keepers: DexKeepers,
): MsgCancelLimitOrderResponse {
  const user = store.getTrancheUser(context, creator, trancheKey);
  const found = user === undefined ? undefined : findTranche(context, user);
  if (user === undefined || found === undefined) throw ErrValidLimitOrderTrancheNotFound(trancheKey);
  const makerOut = calcRefund(found.tranche, user);
  const takerOut = calcWithdrawable(found.tranche, user).amountOut;
  if (makerOut === 0n && takerOut === 0n) throw ErrCancelEmptyLimitOrder(trancheKey);
  const tranche = removeOrder(found.tranche, user, { maker: makerOut, taker: takerOut });
  saveTrancheUser(context, withShares(user, user.sharesOwned, user.sharesOwned));
  if (found.isActive) saveTranche(context, keepers.chainName, tranche);
  else saveInactiveTranche(context, tranche);
  deleteExpirationOfEmpty(context, tranche);
  const { tradePairId } = user;
  const takerCoin = { denom: tradePairId.takerDenom, amount: takerOut };
  const makerCoin = { denom: tradePairId.makerDenom, amount: makerOut };
  const address = parseAddress(keepers.bech32Prefix, creator);
  keepers.bank.sendFromDex(context, address, sumCoins([takerCoin, makerCoin]));
  const facts = { creator, tradePairId, trancheKey, makerOut, takerOut };
  context.emit(cancelLimitOrderEvent(facts, context.profile));
  return { takerCoinOut: toWireCoin(takerCoin), makerCoinOut: toWireCoin(makerCoin) };
}

/**
 * Removes an order from the totals, as if it had never been placed. Earlier withdrawals are recorded in shares and converted to
 * taker units; rounding can leave a remainder in the total, which may be negative.
 */
function removeOrder(
  tranche: Tranche,
  user: TrancheUser,
  out: { readonly maker: bigint; readonly taker: bigint },
): Tranche {
  const withdrawn = truncatePrec(quoPrec(precFromInt(user.sharesWithdrawn), tranche.priceTakerToMaker));
  const { reservesMaker, reservesTaker } = takeReserves(tranche, out);
  return withAmounts(tranche, {
    reservesMaker,
    reservesTaker,
    totalMaker: tranche.totalMaker - user.sharesOwned,
    totalTaker: tranche.totalTaker - withdrawn - out.taker,
  });
}

function deleteExpirationOfEmpty(context: Context, { key, reservesMaker, expirationTimeNs }: Tranche): void {
  if (reservesMaker > 0n || expirationTimeNs === undefined) return;
  store.deleteExpiration(context, { timeNs: expirationTimeNs, trancheRef: trancheRef(key) });
}
