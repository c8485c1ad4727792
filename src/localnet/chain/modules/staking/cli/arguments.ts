import { Argument, InvalidArgumentError } from "commander";
import { decodeBech32, encodeBech32 } from "../../../../../platform/base/bytes.ts";
import { errorText } from "../../../../../platform/base/errors.ts";
import { parseDec18 } from "../../../../../platform/base/decimal.ts";
import { ascending } from "../../../../../platform/base/order.ts";

/** The argument of an operator address. */
export function operatorArgument(name = "<validator>", description = "operator address"): Argument {
  return new Argument(name, description);
}

/** The argument `<amount>`: coins of one denomination. */
export function coinArgument(): Argument {
  return new Argument("<amount>", "amount with its denomination: 1000000untrn").argParser(parseCoin);
}

/** A coin in proto JSON. */
export type Coin = Readonly<Record<"amount" | "denom", string>>;

/** Parses "1000000untrn". */
export function parseCoin(text: string): Coin {
  const [, amount, denom] = /^(\d{1,77})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(text) ?? [];
  if (amount === undefined || denom === undefined)
    throw new InvalidArgumentError("an amount with its denomination such as 1000000untrn was expected");
  return { amount, denom };
}

/** Parses "1uibcatom,5untrn". The chain accepts coins in the order of their denominations, each once. */
export function parseCoins(text: string): readonly Coin[] {
  const coins = text.split(",").map((coin) => parseCoin(coin.trim()));
  if (new Set(coins.map(({ denom }) => denom)).size < coins.length)
    throw new InvalidArgumentError("each denomination only once was expected");
  return coins.toSorted((a, b) => ascending(a.denom, b.denom));
}

/** Parses a decimal from 0 to 1 with up to 18 digits. */
export function parseRate(text: string): string {
  try {
    if (parseDec18(text) >= 0n && parseDec18(text) <= parseDec18("1")) return text;
  } catch (error) {
    throw new InvalidArgumentError(errorText(error));
  }
  throw new InvalidArgumentError("a decimal from 0 to 1 such as 0.05 was expected");
}

/** The operator address of an account: the same bytes under the prefix of operators. */
export function operatorOf(account: string): string {
  const { prefix, bytes } = decodeBech32(account);
  return encodeBech32(`${prefix}valoper`, bytes);
}
