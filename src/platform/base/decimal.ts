import { OverflowError, parseGoBigInt } from "./integers.ts";

/** Fixed-point decimal with 18 fractional digits, like the SDK's `LegacyDec`: the bigint v represents v / 10^18. */
export type Dec18 = bigint;

/** The number 1 as a {@link Dec18}: 10^18. */
export const DEC18_ONE: Dec18 = 1_000_000_000_000_000_000n;

/** Parses "12" or "-0.5", with at most 18 fractional digits, and throws on any other text. */
export function parseDec18(text: string): Dec18 {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null)
    throw new Error(`not a decimal with at most 18 fractional digits: ${JSON.stringify(text.slice(0, 80))}`);
  const magnitude = BigInt(match[2] ?? "0") * DEC18_ONE + BigInt((match[3] ?? "").padEnd(18, "0"));
  return match[1] === "-" ? -magnitude : magnitude;
}

/** Formats a decimal with all 18 fractional digits, like the SDK, as in "0.500000000000000000". */
export function formatDec18(value: Dec18): string {
  return formatFixed(value, 18);
}

function formatFixed(value: bigint, fractional: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(fractional + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -fractional)}.${digits.slice(-fractional)}`;
}

/** Multiplies and rounds half to even, like `LegacyDec.Mul`. */
export function mulDec18(a: Dec18, b: Dec18): Dec18 {
  return roundHalfEven(a * b, DEC18_ONE);
}

/** Divides and rounds half to even, like `LegacyDec.Quo`, and throws on division by zero. */
export function quoDec18(a: Dec18, b: Dec18): Dec18 {
  return roundHalfEven((a * DEC18_ONE * DEC18_ONE) / b, DEC18_ONE);
}

/** Rounds a decimal up to an integer. */
export function ceilDec18(value: Dec18): bigint {
  const whole = value / DEC18_ONE;
  return value > 0n && value % DEC18_ONE !== 0n ? whole + 1n : whole;
}

/** Rounds a decimal toward zero to an integer. */
export function truncateDec18(value: Dec18): bigint {
  return value / DEC18_ONE;
}

/** Rounds half to even to an integer, like `LegacyDec.RoundInt`. */
export function roundDec18(value: Dec18): bigint {
  return roundHalfEven(value, DEC18_ONE);
}

/** Converts to the nearest number, for metrics and plots. */
export function dec18ToNumber(value: Dec18): number {
  return Number(value) / Number(DEC18_ONE);
}

/** Divides a scaled value by `one` and rounds half to even, symmetrically around zero. */
function roundHalfEven(value: bigint, one: bigint): bigint {
  if (value < 0n) return -roundHalfEven(-value, one);
  const whole = value / one;
  const twice = (value - whole * one) << 1n;
  if (twice < one) return whole;
  return twice > one || (whole & 1n) === 1n ? whole + 1n : whole;
}

/** Fixed-point decimal with 27 fractional digits, like neutron's `PrecDec`: the bigint v represents v / 10^27. */
export type PrecDec = bigint;

const PREC_DIGITS = 27;

/** The number 1 as a {@link PrecDec}: 10^27. */
export const PREC_ONE: PrecDec = 10n ** 27n;

/** Maximum size of a {@link PrecDec}: 256 bits for the integer part, plus 89 bits for the factor 10^27. */
const PREC_MAX_BITS = 345;
const PREC_BOUND = 1n << BigInt(PREC_MAX_BITS);

/** Multiplies two decimals and rounds half to even. Throws `OverflowError` if the result exceeds 345 bits. */
export function mulPrec(a: PrecDec, b: PrecDec): PrecDec {
  return checkPrec(roundHalfEven(a * b, PREC_ONE));
}

/**
 * Divides `a` by `b`, truncates at 54 digits, and rounds half to even. Throws `OverflowError` above 345 bits, and `RangeError` if
 * `b` is 0.
 */
export function quoPrec(a: PrecDec, b: PrecDec): PrecDec {
  if (a < 0n) return -quoPrec(-a, b);
  if (b < 0n) return -quoPrec(a, -b);
  // The fraction that decides the rounding is floor(rest * 10^27 / b). Comparing the fraction needs no division: it is at least one
  // half if 2 * rest >= b, and more than one half if (2 * rest - b) * 10^27 >= 2 * b.
  const scaled = a * PREC_ONE;
  const whole = scaled / b;
  const excess = 2n * (scaled - whole * b) - b;
  if (excess < 0n) return checkPrec(whole);
  const roundsUp = excess * PREC_ONE >= 2n * b || (whole & 1n) === 1n;
  return checkPrec(roundsUp ? whole + 1n : whole);
}

/** Adds two decimals, and throws `OverflowError` above 345 bits. */
export function addPrec(a: PrecDec, b: PrecDec): PrecDec {
  return checkPrec(a + b);
}

/** Subtracts `b` from `a`, and throws `OverflowError` above 345 bits. */
export function subPrec(a: PrecDec, b: PrecDec): PrecDec {
  return checkPrec(a - b);
}

/** Multiplies by an integer, and throws `OverflowError` above 345 bits. */
export function mulPrecInt(a: PrecDec, factor: bigint): PrecDec {
  return checkPrec(a * factor);
}

/** Divides a decimal by an integer and truncates toward zero. Throws `RangeError` if the divisor is 0. */
export function quoPrecInt(a: PrecDec, divisor: bigint): PrecDec {
  return a / divisor;
}

export function precFromInt(value: bigint): PrecDec {
  return value * PREC_ONE;
}

/** Rounds a decimal toward zero to an integer. */
export function truncatePrec(value: PrecDec): bigint {
  return value / PREC_ONE;
}

/** Rounds a decimal up to an integer. */
export function ceilPrec(value: PrecDec): bigint {
  const whole = value / PREC_ONE;
  return value > 0n && whole * PREC_ONE !== value ? whole + 1n : whole;
}

/**
 * Parses "12" or "-0.5", with at most 27 fractional digits. Like Go, also accepts a plus sign ("+1") and a second sign after a
 * minus sign ("--5"). Throws an `Error` with Go's message for any other text.
 */
export function parsePrecDec(text: string): PrecDec {
  const negative = text.startsWith("-");
  const magnitude = negative ? text.slice(1) : text;
  if (magnitude === "") throw new Error("decimal string cannot be empty");
  const [whole = "", fraction, ...more] = magnitude.split(".");
  if (more.length > 0) throw new Error("invalid decimal string");
  if (fraction === "" || (fraction !== undefined && whole === "")) throw new Error("invalid decimal length");
  const excess = (fraction ?? "").length - PREC_DIGITS;
  if (excess > 0)
    throw new Error(
      `value '${magnitude}' exceeds max precision by ${-excess} decimal places: max precision ${PREC_DIGITS}`,
    );
  const value = parseDigits(`${whole}${(fraction ?? "").padEnd(PREC_DIGITS, "0")}`);
  return negative ? -value : value;
}

function parseDigits(digits: string): bigint {
  if (!/^[+-]?\d+$/.test(digits)) throw new Error(`failed to set decimal string with base 10: ${digits}`);
  const unsigned = digits.replace(/^[+-]/, "");
  const value = unsigned.length > 200 ? PREC_BOUND : BigInt(unsigned);
  if (value >= PREC_BOUND) throw precOutOfRange(digits);
  return digits.startsWith("-") ? -value : value;
}

function precOutOfRange(digits: string): OverflowError {
  return new OverflowError(PREC_MAX_BITS, `decimal '${digits}' out of range; max ${PREC_MAX_BITS} bits`);
}

/** Formats a decimal with all 27 fractional digits, as in "0.500000000000000000000000000". */
export function formatPrecDec(value: PrecDec): string {
  return formatFixed(value, PREC_DIGITS);
}

/** Parses the wire format, the scaled integer in a notation that Go reads. For other text, throws an `Error` with Go's message. */
export function parseWirePrecDec(text: string): PrecDec {
  const value = parseGoBigInt(text);
  if (value >= PREC_BOUND || value <= -PREC_BOUND) throw precOutOfRange(text);
  return value;
}

function checkPrec(value: PrecDec): PrecDec {
  if (value >= PREC_BOUND || value <= -PREC_BOUND) throw new OverflowError(PREC_MAX_BITS);
  return value;
}
