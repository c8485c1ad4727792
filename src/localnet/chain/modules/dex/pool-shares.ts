import { checkInt, minInt, OverflowError } from "../../../../platform/base/integers.ts";
import {
  addPrec,
  ceilPrec,
  mulPrec,
  mulPrecInt,
  PREC_ONE,
  precFromInt,
  type PrecDec,
  quoPrec,
  subPrec,
  truncatePrec,
} from "../../../../platform/base/decimal.ts";
import { calcPrice } from "./price.ts";

/** Amounts of token0 and token1. */
export type Amounts = readonly [amount0: bigint, amount1: bigint];

/** A pool as the share formulas see it. `tick` is the normalized centre, `supply` the supply of its shares. */
export interface PoolState {
  readonly reserves: Amounts;
  readonly tick: bigint;
  readonly fee: bigint;
  readonly supply: bigint;
}

/** What a deposit adds to the reserves, and the shares that it issues. */
export interface DepositResult {
  readonly amounts: Amounts;
  readonly shares: bigint;
}

/** Calculates a deposit. With autoswap everything that is offered goes in, for a fee on the unmatched part. */
export function calcDeposit(pool: PoolState, offered: Amounts, autoswap: boolean): DepositResult {
  const price = calcPrice(-pool.tick);
  if (!autoswap) {
    const amounts = matchReserves(pool.reserves, offered);
    return { amounts, shares: calcShares(pool, valueOf(amounts, price), { price, feeValue: 0n }) };
  }
  const feeValue = autoswapFee(pool, offered, price);
  const value = subPrec(valueOf(offered, price), feeValue);
  return { amounts: offered, shares: calcShares(pool, value, { price, feeValue }) };
}

/** Value in token0; `price` is the price of token0 in token1. */
function valueOf([amount0, amount1]: Amounts, price: PrecDec): PrecDec {
  return addPrec(precFromInt(amount0), quoPrec(precFromInt(amount1), price));
}

function calcShares(
  { reserves, supply }: PoolState,
  value: PrecDec,
  { price, feeValue }: { readonly price: PrecDec; readonly feeValue: PrecDec },
): bigint {
  const existing = valueOf(reserves, price);
  if (existing <= 0n) return checkInt(truncatePrec(value));
  return checkInt(truncatePrec(quoPrec(mulPrecInt(value, supply), addPrec(existing, feeValue))));
}

function autoswapFee({ reserves, fee }: PoolState, offered: Amounts, price: PrecDec): PrecDec {
  const residual = unmatched(reserves, offered, price);
  return mulPrec(subPrec(PREC_ONE, calcPrice(-fee)), valueOf(residual, price));
}

/** The part of an offer that does not fit the ratio of the reserves. */
function unmatched([reserve0, reserve1]: Amounts, [offer0, offer1]: Amounts, price: PrecDec): Amounts {
  if (reserve0 === 0n && reserve1 === 0n) return [0n, 0n];
  const excess = subPrec(
    mulPrecInt(precFromInt(reserve0), offer1),
    mulPrecInt(precFromInt(reserve1), offer0),
  );
  const residual = quoPrec(excess, valueOf([reserve0, reserve1], price));
  if (residual > 0n) return [0n, checkInt(ceilPrec(residual))];
  if (residual < 0n) return [checkInt(ceilPrec(quoPrec(-residual, price))), 0n];
  return [0n, 0n];
}

/** Returns the largest part of an offer in the ratio of the reserves. A side without reserves does not limit the other. */
export function matchReserves([reserve0, reserve1]: Amounts, [offer0, offer1]: Amounts): Amounts {
  return [
    reserve1 > 0n ? minInt(offer0, scaleLegacy(offer1, reserve0, reserve1)) : offer0,
    reserve0 > 0n ? minInt(offer1, scaleLegacy(offer0, reserve1, reserve0)) : offer1,
  ];
}

const LEGACY_ONE = 10n ** 18n;
const LEGACY_BITS = 315;
const LEGACY_BOUND = 1n << 315n;

/**
 * Calculates a * b / c with the SDK's 18-digit decimals: truncated at 36 digits, rounded half to even at 18, truncated. That is
 * the floor, or one more when the fraction is within half of 10^-18 below 1.
 */
function scaleLegacy(a: bigint, b: bigint, c: bigint): bigint {
  const product = checkLegacy(a * b * LEGACY_ONE);
  const doubled = (product * LEGACY_ONE) / c;
  const whole = doubled / LEGACY_ONE;
  const rest = (doubled - whole * LEGACY_ONE) * 2n;
  const roundsUp = rest > LEGACY_ONE || (rest === LEGACY_ONE && whole % 2n === 1n);
  return checkLegacy(roundsUp ? whole + 1n : whole) / LEGACY_ONE;
}

function checkLegacy(value: bigint): bigint {
  if (value >= LEGACY_BOUND) throw new OverflowError(LEGACY_BITS);
  return value;
}

/** Calculates what shares redeem, rounded down. */
export function calcWithdrawal([reserve0, reserve1]: Amounts, shares: bigint, supply: bigint): Amounts {
  return [checkInt(reserve0 * shares) / supply, checkInt(reserve1 * shares) / supply];
}
