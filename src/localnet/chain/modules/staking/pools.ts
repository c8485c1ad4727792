import type { Context } from "../../runtime/context.ts";
import type { Coin } from "../../runtime/coins.ts";
import { BONDED_POOL, NOT_BONDED_POOL } from "./keys.ts";
import { paramsOf } from "./params.ts";
import type { Validator } from "./records.ts";
import { isBonded } from "./shares.ts";
import type { Environment } from "./types.ts";

/** Returns an amount as coins of the bonded denomination; no coins for zero. */
export function bondCoins(context: Context, amount: bigint): readonly Coin[] {
  return amount === 0n ? [] : [{ denom: paramsOf(context).bondDenom, amount }];
}

/** The module account that holds the tokens of a validator. */
export function poolOf(validator: Validator): string {
  return isBonded(validator) ? BONDED_POOL : NOT_BONDED_POOL;
}

export function bondedToNotBonded(context: Context, { bank }: Environment, amount: bigint): void {
  bank.sendBetweenModules(context, BONDED_POOL, NOT_BONDED_POOL, bondCoins(context, amount));
}

export function notBondedToBonded(context: Context, { bank }: Environment, amount: bigint): void {
  bank.sendBetweenModules(context, NOT_BONDED_POOL, BONDED_POOL, bondCoins(context, amount));
}

/** Burns tokens of a pool; nothing for an amount of zero. */
export function burnFrom(context: Context, { bank }: Environment, pool: string, amount: bigint): void {
  if (amount > 0n) bank.burn(context, pool, bondCoins(context, amount));
}
