import type { MsgWithdrawFilledLimitOrderResponse } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { sumCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrValidLimitOrderTrancheNotFound, ErrWithdrawEmptyLimitOrder } from "./errors.ts";
import { totalWithdrawn } from "./book-events.ts";
import { withdrawLimitOrder } from "./events.ts";
import type { TrancheRequest } from "./messages.ts";
import * as store from "./store.ts";
import {
  calcRefund,
  calcWithdrawable,
  findTranche,
  saveInactiveTranche,
  saveTranche,
  takeReserves,
} from "./tranche.ts";
import { saveTrancheUser, withShares } from "./tranche-user.ts";
import type { DexEnvironment, TrancheUser } from "./types.ts";

/** MsgWithdrawFilledLimitOrder: pays the filled part of an order, and of an inactive tranche also the unfilled part. */
export function withdrawFilled(
  context: Context,
  { creator, trancheKey }: TrancheRequest,
  environment: DexEnvironment,
): MsgWithdrawFilledLimitOrderResponse {
  const user = store.getTrancheUser(context, creator, trancheKey);
  if (user === undefined) throw ErrValidLimitOrderTrancheNotFound(trancheKey);
  const { makerOut, takerOut, sharesWithdrawn } = takeFilled(context, environment.chainName, user);
  saveTrancheUser(context, withShares(user, user.sharesOwned, sharesWithdrawn));
  if (makerOut === 0n && takerOut === 0n) throw ErrWithdrawEmptyLimitOrder();
  const { tradePairId } = user;
  const takerCoin = { denom: tradePairId.takerDenom, amount: takerOut };
  const makerCoin = { denom: tradePairId.makerDenom, amount: makerOut };
  if (takerOut > 0n) context.emit(totalWithdrawn(environment.chainName, takerCoin));
  const address = parseAddress(environment.bech32Prefix, creator);
  environment.bank.sendFromDex(context, address, sumCoins([takerCoin, makerCoin]));
  context.emit(withdrawLimitOrder({ creator, tradePairId, trancheKey, makerOut, takerOut }));
  return { takerCoinOut: toWireCoin(takerCoin), makerCoinOut: toWireCoin(makerCoin) };
}

interface Taken {
  readonly makerOut: bigint;
  readonly takerOut: bigint;
  readonly sharesWithdrawn: bigint;
}

/** A record of an inactive tranche is closed, also when dust stays in the tranche. */
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
