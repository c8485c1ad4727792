import type { Coin as WireCoin } from "../../proto/gen/cosmos/base/v1beta1/coin.ts";
import { ErrTxDecode } from "./sdk-errors.ts";

/** An amount of one denomination. */
export interface Coin {
  readonly denom: string;
  readonly amount: bigint;
}

const DENOM = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/;
const AMOUNT = /^-?[0-9]{1,80}$/;
const MAX_BITS = 256;

/** Whether a denomination has the form that coins may have. */
export function isDenom(denom: string): boolean {
  return DENOM.test(denom);
}

/** Reads a coin of a message. Throws sdk/2 when the amount is not an integer of at most 256 bits; an empty amount is 0. */
function parseCoin(coin: WireCoin): Coin {
  const text = coin.amount === "" ? "0" : coin.amount;
  if (!AMOUNT.test(text))
    throw ErrTxDecode(`math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`);
  const amount = BigInt(text);
  if ((amount < 0n ? -amount : amount) >> BigInt(MAX_BITS) !== 0n)
    throw ErrTxDecode("integer out of range; got: more than 256 bits");
  return { denom: coin.denom, amount };
}

/** Reads the coins of a message, in their order. */
export function parseCoins(coins: readonly WireCoin[]): readonly Coin[] {
  return coins.map(parseCoin);
}

/** A coin as messages carry it. */
export function toWireCoin(coin: Coin): WireCoin {
  return { denom: coin.denom, amount: coin.amount.toString() };
}

/** "5000untrn". */
export function formatCoin(coin: Coin): string {
  return `${coin.amount}${coin.denom}`;
}

/** "1uatom,5000untrn"; empty for no coins. */
export function formatCoins(coins: readonly Coin[]): string {
  return coins.map(formatCoin).join(",");
}

/** Whether coins may be moved: proper denominations, strictly ascending, amounts above zero. Empty is valid. */
export function areValidCoins(coins: readonly Coin[]): boolean {
  return coins.every(
    (coin, index) =>
      isDenom(coin.denom) &&
      coin.amount > 0n &&
      (index === 0 || (coins[index - 1]?.denom ?? "") < coin.denom),
  );
}

/** Coins without zero amounts, ascending, those of one denomination added up. */
export function sumCoins(coins: readonly Coin[]): readonly Coin[] {
  const amounts = new Map<string, bigint>();
  for (const { denom, amount } of coins) amounts.set(denom, (amounts.get(denom) ?? 0n) + amount);
  return [...amounts]
    .map(([denom, amount]) => ({ denom, amount }))
    .filter(({ amount }) => amount !== 0n)
    .toSorted((a, b) => (a.denom < b.denom ? -1 : 1));
}
