import * as decimal from "../../../../platform/base/decimal.ts";
import { ErrInvalidFee, ErrPriceOutsideRange, ErrTickOutsideRange, ErrTradeTooSmall } from "./errors.ts";

export const MAX_TICK = 559_680n;

const MAX_INDEX = 559_680;
const BASE = decimal.parsePrecDec("1.0001");
const MIN_PRICE = decimal.parsePrecDec("0.000000000000000000000000495");
/** The deployed module's maximum price, which is slightly above the highest tick's price. */
const MAX_PRICE = decimal.parsePrecDec("2020125331305056766452345.127500016657360222036663651");

/**
 * Prices of ticks 0 and above, indexed by tick. Each price is the previous price times 1.0001, rounded. The table grows on demand
 * up to the highest tick that was used. All chains share the table, because it contains no chain state.
 */
const table: decimal.PrecDec[] = [decimal.PREC_ONE];

function tablePrice(index: number): decimal.PrecDec {
  for (let last = table[table.length - 1] ?? decimal.PREC_ONE; table.length <= index; ) {
    last = decimal.mulPrec(last, BASE);
    table.push(last);
  }
  return table[index] ?? decimal.PREC_ONE;
}

/** Returns 1.0001^tick as in the deployed table. Throws dex/1117 for ticks outside the range -559680 to 559680. */
export function calcPrice(tick: bigint): decimal.PrecDec {
  if (tick > MAX_TICK || tick < -MAX_TICK) throw ErrTickOutsideRange();
  const index = Number(tick);
  return index >= 0 ? tablePrice(index) : inversePrice(-index);
}

/** Prices of the ticks below 0. The prices are cached, because a division is slower than a lookup. */
const inverseOf = new Map<number, decimal.PrecDec>();

function inversePrice(index: number): decimal.PrecDec {
  const known = inverseOf.get(index);
  if (known !== undefined) return known;
  const price = decimal.quoPrec(decimal.PREC_ONE, tablePrice(index));
  inverseOf.set(index, price);
  return price;
}

/** Returns whether a price is within the deployed module's bounds (inclusive). */
export function isPriceInRange(price: decimal.PrecDec): boolean {
  return price >= MIN_PRICE && price <= MAX_PRICE;
}

/** Converts a price to a tick index. Throws dex/1160 if the price is out of bounds. */
export function calcTickIndexFromPrice(price: decimal.PrecDec): bigint {
  if (!isPriceInRange(price)) throw ErrPriceOutsideRange();
  return price < decimal.PREC_ONE
    ? -BigInt(search(decimal.quoPrec(decimal.PREC_ONE, price)))
    : BigInt(search(price));
}

/**
 * Follows the deployed module's binary search step by step, because the search path determines the result for a price between two
 * ticks. The table grows only until a price in it exceeds `price`, because all later prices exceed `price`, too.
 */
function search(price: decimal.PrecDec): number {
  const bound = firstAbove(price);
  let left = 0;
  let right = MAX_INDEX;
  while (left < right) {
    const middle = (left + right) >>> 1;
    const found = middle >= bound ? undefined : tablePrice(middle);
    if (found === price) return middle;
    if (found !== undefined && found < price) left = middle + 1;
    else right = middle - 1;
  }
  return right;
}

/** Returns an index from which all table prices exceed `price`, or an index beyond the table if no table price exceeds `price`. */
function firstAbove(price: decimal.PrecDec): number {
  while ((table[table.length - 1] ?? decimal.PREC_ONE) <= price) {
    if (table.length > MAX_INDEX) return table.length;
    tablePrice(table.length);
  }
  return table.length - 1;
}

/** Throws dex/1148 if the fee is too high, and dex/1117 if a side of the pool would be outside the tick range. */
export function validateTickFee(tick: bigint, fee: bigint): void {
  if (fee >= MAX_TICK) throw ErrInvalidFee();
  const magnitude = tick < 0n ? -tick : tick;
  if (magnitude > MAX_TICK - fee) throw ErrTickOutsideRange();
}

/** Throws dex/1159 if `amountIn` would buy less than one unit of the output token. */
export function requireFairOutput(amountIn: bigint, price: decimal.PrecDec): void {
  const output = decimal.quoPrec(decimal.precFromInt(amountIn), price);
  if (output < decimal.PREC_ONE)
    throw ErrTradeTooSmall(
      `True output for ${amountIn} tokens at price ${decimal.formatPrecDec(price)} is ${decimal.formatPrecDec(output)}`,
    );
}
