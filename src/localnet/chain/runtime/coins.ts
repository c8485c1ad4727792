import { orThrow, ErrTxDecode } from "./errors.ts";
import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { parseInt256 } from "../../../platform/base/integers.ts";

export interface Coin {
  readonly denom: string;
  readonly amount: bigint;
}

const DENOM = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/;

/** Returns whether a denomination is valid (the SDK's `ValidateDenom`). */
export function isDenom(denom: string): boolean {
  return DENOM.test(denom);
}

/**
 * Parses an integer in a message as Go's `math.Int` does, where "010" is octal (8) and "" is 0. Throws sdk/2 for an invalid string
 * and for a value of more than 256 bits, which Go rejects while decoding the transaction.
 */
export function parseWireInt(text: string): bigint {
  return text === "" ? 0n : orThrow(() => parseInt256(text), ErrTxDecode);
}

/** Parses a message's coins, preserving their order. Throws sdk/2 for an invalid amount. */
export function parseCoins(coins: readonly WireCoin[]): readonly Coin[] {
  return coins.map(({ denom, amount }) => ({ denom, amount: parseWireInt(amount) }));
}

export function toWireCoin(coin: Coin): WireCoin {
  return { denom: coin.denom, amount: coin.amount.toString() };
}

/** Formats a coin as its amount followed by its denomination, e.g. "5000untrn". */
export function formatCoin(coin: Coin): string {
  return `${coin.amount}${coin.denom}`;
}

/** Formats coins as "1uatom,5000untrn". An empty list becomes an empty string. */
export function formatCoins(coins: readonly Coin[]): string {
  const [first] = coins;
  return first !== undefined && coins.length === 1 ? formatCoin(first) : coins.map(formatCoin).join(",");
}

/**
 * Returns whether coins are valid (the SDK's `Coins.Validate`): either an empty list, or valid denominations in strictly ascending
 * order, with positive amounts.
 */
export function areValidCoins(coins: readonly Coin[]): boolean {
  return coins.every(
    (coin, index) =>
      isDenom(coin.denom) &&
      coin.amount > 0n &&
      (index === 0 || (coins[index - 1]?.denom ?? "") < coin.denom),
  );
}

/** Returns whether the list is not empty and its coins are valid. */
export function arePositive(coins: readonly Coin[]): boolean {
  return coins.length > 0 && areValidCoins(coins);
}

/** Returns the amount of one denomination, or 0 if the list does not contain the denomination. */
export function amountOf(coins: readonly Coin[], denom: string): bigint {
  return coins.find((coin) => coin.denom === denom)?.amount ?? 0n;
}

/** Returns the same coins, with each amount replaced by the result of `change`. */
export function mapAmounts(
  coins: readonly Coin[],
  change: (amount: bigint, denom: string) => bigint,
): readonly Coin[] {
  return coins.map(({ denom, amount }) => ({ denom, amount: change(amount, denom) }));
}

/** Sums coins by denomination. The result is sorted by denomination and omits zero amounts. */
export function sumCoins(coins: readonly Coin[]): readonly Coin[] {
  const [first] = coins;
  if (first !== undefined && coins.length === 1) return first.amount === 0n ? [] : [first];
  const amounts = new Map<string, bigint>();
  for (const { denom, amount } of coins) amounts.set(denom, (amounts.get(denom) ?? 0n) + amount);
  return [...amounts]
    .map(([denom, amount]) => ({ denom, amount }))
    .filter(({ amount }) => amount !== 0n)
    .toSorted((a, b) => (a.denom < b.denom ? -1 : 1));
}
