import { checkInt } from "../../../../platform/base/integers.ts";
import type { MsgWithdrawalResponse } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientShares } from "./errors.ts";
import { totalWithdrawn, type WithdrawalFacts, withdrawLp } from "./events.ts";
import { poolDenom } from "./keys.ts";
import type { WithdrawalEntry, WithdrawalRequest } from "./messages.ts";
import { getOrCreatePool, savePool, withReserves, type Amounts, calcWithdrawal } from "./pool.ts";
import type { DexKeepers, PairId } from "./types.ts";

interface Withdrawn {
  readonly facts: WithdrawalFacts;
  readonly shares: Coin;
}

/** MsgWithdrawal: burns the creator's shares and pays the corresponding reserves to the receiver. */
export function withdraw(
  context: Context,
  request: WithdrawalRequest,
  keepers: DexKeepers,
): MsgWithdrawalResponse {
  const { tokenA, tokenB } = request;
  const isSorted = tokenA < tokenB;
  const pairId = isSorted ? { token0: tokenA, token1: tokenB } : { token0: tokenB, token1: tokenA };
  /** This message's shares by denomination. They are burned after the last position. */
  const requested = new Map<string, bigint>();
  const withdrawn = request.entries.map((entry) => {
    const position = isSorted ? entry : { ...entry, tick: -entry.tick };
    return withdrawPosition(context, { pairId, creator: request.creator, position, requested }, keepers);
  });
  for (const { facts } of withdrawn) context.emit(withdrawLp(request, facts));
  const shares = sumCoins(withdrawn.map((position) => position.shares));
  const totals: Amounts = [totalOf(withdrawn, 0), totalOf(withdrawn, 1)];
  burnShares(context, request.creator, shares, keepers);
  payOut(context, { pairId, totals, receiver: request.receiver }, keepers);
  return {
    reserve0Withdrawn: totals[0].toString(),
    reserve1Withdrawn: totals[1].toString(),
    sharesBurned: shares.map(toWireCoin),
  };
}

interface PositionScope {
  readonly pairId: PairId;
  readonly creator: string;
  readonly position: WithdrawalEntry;
  readonly requested: Map<string, bigint>;
}

function withdrawPosition(
  context: Context,
  { pairId, creator, position, requested }: PositionScope,
  { chainName, bank, bech32Prefix }: DexKeepers,
): Withdrawn {
  const { tick, fee, shares } = position;
  const pool = getOrCreatePool(context, chainName, { pairId, tick, fee });
  const denom = poolDenom(pool.id);
  const already = requested.get(denom) ?? 0n;
  const owned = bank.balance(context, parseAddress(bech32Prefix, creator), denom) - already;
  if (owned < shares)
    throw ErrInsufficientShares(`${creator} does not have ${shares} shares of type ${denom}`);
  const { lower, upper } = pool;
  const supply = bank.supply(context, denom) - already;
  const out = calcWithdrawal([lower.reserves, upper.reserves], shares, supply);
  requested.set(denom, already + shares);
  savePool(context, chainName, {
    lower: withReserves(lower, lower.reserves - out[0]),
    upper: withReserves(upper, upper.reserves - out[1]),
  });
  return { facts: { pairId, tick, fee, withdrawn: out, shares }, shares: { denom, amount: shares } };
}

function totalOf(withdrawn: readonly Withdrawn[], token: 0 | 1): bigint {
  return withdrawn.reduce((sum, { facts }) => checkInt(sum + facts.withdrawn[token]), 0n);
}

function burnShares(
  context: Context,
  creator: string,
  shares: readonly Coin[],
  { bank, bech32Prefix }: DexKeepers,
): void {
  bank.sendToDex(context, parseAddress(bech32Prefix, creator), shares);
  bank.burn(context, shares);
}

interface Payout {
  readonly pairId: PairId;
  readonly totals: Amounts;
  readonly receiver: string;
}

/** Pays token0 and then token1. */
function payOut(
  context: Context,
  { pairId, totals, receiver }: Payout,
  { bank, bech32Prefix, chainName }: DexKeepers,
): void {
  const coins = [
    { denom: pairId.token0, amount: totals[0] },
    { denom: pairId.token1, amount: totals[1] },
  ];
  for (const coin of coins.filter(({ amount }) => amount > 0n)) {
    bank.sendFromDex(context, parseAddress(bech32Prefix, receiver), [coin]);
    context.emit(totalWithdrawn(chainName, coin));
  }
}
