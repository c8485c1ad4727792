import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { ErrTxDecode } from "./errors.ts";

/** An amount of one denomination. */
export interface Coin {
  readonly denom: string;
  readonly amount: bigint;
}

const DENOM = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/;
const AMOUNT = /^-?[0-9]{1,80}$/;
const MAX_BITS = 256;

/** Returns whether a denomination is valid (the SDK's `ValidateDenom`). */
export function isDenom(denom: string): boolean {
  return DENOM.test(denom);
}

/**
 * Parses a coin of a message. An empty amount is 0. Throws sdk/2 when the amount is not an integer of at most 256 bits:
 * Go rejects such an amount while it decodes the transaction.
 */
function parseCoin(coin: WireCoin): Coin {
  const text = coin.amount === "" ? "0" : coin.amount;
  if (!AMOUNT.test(text))
    throw ErrTxDecode(`math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`);
  const amount = BigInt(text);
  if ((amount < 0n ? -amount : amount) >> BigInt(MAX_BITS) !== 0n)
    throw ErrTxDecode("integer out of range; got: more than 256 bits");
  return { denom: coin.denom, amount };
}

/** Parses the coins of a message in their order. Throws sdk/2. */
export function parseCoins(coins: readonly WireCoin[]): readonly Coin[] {
  return coins.map(parseCoin);
}

/** Converts a coin to protobuf. */
export function toWireCoin(coin: Coin): WireCoin {
  return { denom: coin.denom, amount: coin.amount.toString() };
}

/** Formats a coin as "5000untrn". */
export function formatCoin(coin: Coin): string {
  return `${coin.amount}${coin.denom}`;
}

/** Formats coins as "1uatom,5000untrn". No coins: "". */
export function formatCoins(coins: readonly Coin[]): string {
  const [first] = coins;
  return first !== undefined && coins.length === 1 ? formatCoin(first) : coins.map(formatCoin).join(",");
}

/**
 * Returns whether coins are valid (the SDK's `Coins.Validate`): valid denominations in strictly ascending order, amounts above
 * zero. An empty list is valid.
 */
export function areValidCoins(coins: readonly Coin[]): boolean {
  return coins.every(
    (coin, index) =>
      isDenom(coin.denom) &&
      coin.amount > 0n &&
      (index === 0 || (coins[index - 1]?.denom ?? "") < coin.denom),
  );
}

/** Adds up coins by denomination. Returns the sums in ascending order of denomination, without zero amounts. */
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
