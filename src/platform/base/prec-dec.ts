import { OverflowError, parseGoBigInt } from "./int256.ts";

/** Fixed-point decimal with 27 fractional digits, as neutron's `PrecDec`: the bigint v represents v / 10^27. */
export type PrecDec = bigint;

const PRECISION = 27;

/** The number 1 as a {@link PrecDec}: 10^27. */
export const PREC_ONE: PrecDec = 10n ** 27n;

const HALF = PREC_ONE / 2n;

/** 256 bits of an integer and 89 bits of 10^27. */
const MAX_BITS = 345;
const BOUND = 1n << 345n;

/** Multiplies; rounds half to even. Throws `OverflowError` above 345 bits. */
export function mulPrec(a: PrecDec, b: PrecDec): PrecDec {
  return check(chopHalfEven(a * b));
}

/** Divides; truncates at 54 fractional digits, then rounds half to even. Throws `OverflowError` above 345 bits, `RangeError` for 0. */
export function quoPrec(a: PrecDec, b: PrecDec): PrecDec {
  if (a < 0n) return -quoPrec(-a, b);
  if (b < 0n) return -quoPrec(a, -b);
  // The fraction that decides the rounding is floor(rest * 10^27 / b). It is compared without the division: it is at least one
  // half when 2 * rest >= b, and more than one half when (2 * rest - b) * 10^27 >= 2 * b.
  const scaled = a * PREC_ONE;
  const whole = scaled / b;
  const excess = 2n * (scaled - whole * b) - b;
  if (excess < 0n) return check(whole);
  const roundsUp = excess * PREC_ONE >= 2n * b || (whole & 1n) === 1n;
  return check(roundsUp ? whole + 1n : whole);
}

/** Adds. Throws `OverflowError` above 345 bits. */
export function addPrec(a: PrecDec, b: PrecDec): PrecDec {
  return check(a + b);
}

/** Subtracts. Throws `OverflowError` above 345 bits. */
export function subPrec(a: PrecDec, b: PrecDec): PrecDec {
  return check(a - b);
}

/** Multiplies by an integer. Throws `OverflowError` above 345 bits. */
export function mulPrecInt(a: PrecDec, factor: bigint): PrecDec {
  return check(a * factor);
}

/** Divides by an integer; truncates towards zero. Throws `RangeError` for 0. */
export function quoPrecInt(a: PrecDec, divisor: bigint): PrecDec {
  return a / divisor;
}

/** Converts an integer. */
export function precFromInt(value: bigint): PrecDec {
  return value * PREC_ONE;
}

/** Rounds towards zero to an integer. */
export function truncatePrec(value: PrecDec): bigint {
  return value / PREC_ONE;
}

/** Rounds up to an integer. */
export function ceilPrec(value: PrecDec): bigint {
  const whole = value / PREC_ONE;
  return value > 0n && whole * PREC_ONE !== value ? whole + 1n : whole;
}

/**
 * Parses "12" or "-0.5", with at most 27 fractional digits, as Go does: a second sign in front is accepted ("+1", "--5").
 * Throws an `Error` with Go's text for any other text.
 */
export function parsePrecDec(text: string): PrecDec {
  const negative = text.startsWith("-");
  const magnitude = negative ? text.slice(1) : text;
  if (magnitude === "") throw new Error("decimal string cannot be empty");
  const [whole = "", fraction, ...more] = magnitude.split(".");
  if (more.length > 0) throw new Error("invalid decimal string");
  if (fraction === "" || (fraction !== undefined && whole === "")) throw new Error("invalid decimal length");
  const excess = (fraction ?? "").length - PRECISION;
  if (excess > 0)
    throw new Error(
      `value '${magnitude}' exceeds max precision by ${-excess} decimal places: max precision ${PRECISION}`,
    );
  const value = parseDigits(`${whole}${(fraction ?? "").padEnd(PRECISION, "0")}`);
  return negative ? -value : value;
}

function parseDigits(digits: string): bigint {
  if (!/^[+-]?\d+$/.test(digits)) throw new Error(`failed to set decimal string with base 10: ${digits}`);
  const unsigned = digits.replace(/^[+-]/, "");
  const value = unsigned.length > 200 ? BOUND : BigInt(unsigned);
  if (value >= BOUND) throw outOfRange(digits);
  return digits.startsWith("-") ? -value : value;
}

function outOfRange(digits: string): OverflowError {
  return new OverflowError(MAX_BITS, `decimal '${digits}' out of range; max ${MAX_BITS} bits`);
}

/** Formats all 27 fractional digits: "0.500000000000000000000000000". */
export function formatPrecDec(value: PrecDec): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PRECISION + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -PRECISION)}.${digits.slice(-PRECISION)}`;
}

/** Parses the wire form: the scaled integer as Go reads it. Throws an `Error` with Go's text. */
export function parseWirePrecDec(text: string): PrecDec {
  const value = parseGoBigInt(text);
  if (value >= BOUND || value <= -BOUND) throw outOfRange(text);
  return value;
}

function check(value: PrecDec): PrecDec {
  if (value >= BOUND || value <= -BOUND) throw new OverflowError(MAX_BITS);
  return value;
}

/** Divides by 10^27 and rounds half to even, symmetrically around zero. */
function chopHalfEven(value: bigint): bigint {
  if (value < 0n) return -chopHalfEven(-value);
  const whole = value / PREC_ONE;
  const rest = value - whole * PREC_ONE;
  if (rest < HALF) return whole;
  if (rest > HALF) return whole + 1n;
  return (whole & 1n) === 0n ? whole : whole + 1n;
}
