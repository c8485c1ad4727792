import { CodedError } from "./errors.ts";

/** Thrown for a result that overflows Go's fixed-size big integers; Go panics in that case. */
export class OverflowError extends CodedError<{ readonly code: "overflow"; readonly bits: number }> {
  constructor(bits: number, text = "Int overflow") {
    super({ code: "overflow", bits }, text);
  }
}

const MAX_INT_BITS = 256;
const INT_BOUND = 1n << BigInt(MAX_INT_BITS);

/** Returns the integer, or throws `OverflowError` if its magnitude exceeds 256 bits, like the SDK's `math.Int`. */
export function checkInt(value: bigint): bigint {
  if (value >= INT_BOUND || value <= -INT_BOUND) throw new OverflowError(MAX_INT_BITS);
  return value;
}

export function minInt(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function maxInt(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Matches a decimal without a leading zero or plus sign, as every encoder writes it. */
const CANONICAL = /^(?:0|[1-9]\d{0,76})$/;
/** Maximum number of characters after an integer's sign. Longer texts are rejected without conversion, which bounds the cost. */
const MAX_TEXT = 1024;

/**
 * Parses an integer like Go's `big.Int.UnmarshalText`: an optional sign, then a base-0 literal ("10", "0x10", "010" for 8,
 * "1_000"). Throws an `Error` with Go's message, or `OverflowError` if the text is too long.
 */
export function parseGoBigInt(text: string): bigint {
  if (CANONICAL.test(text)) return BigInt(text);
  const negative = text.startsWith("-");
  const digits = negative || text.startsWith("+") ? text.slice(1) : text;
  const literal = parseLiteral(digits);
  if (literal === undefined)
    throw new Error(`math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`);
  if (digits.length > MAX_TEXT) throw new OverflowError(MAX_INT_BITS, "integer out of range");
  const magnitude = BigInt(literal.bigIntPrefix + literal.digits);
  return negative ? -magnitude : magnitude;
}

/** Parses the wire format of the SDK's `math.Int`. Throws like {@link parseGoBigInt}, and for integers of more than 256 bits. */
export function parseInt256(text: string): bigint {
  const value = parseGoBigInt(text);
  if (value >= INT_BOUND || value <= -INT_BOUND) {
    const bits = (value < 0n ? -value : value).toString(2).length;
    throw new OverflowError(MAX_INT_BITS, `integer out of range; got: ${bits}, max: ${MAX_INT_BITS}`);
  }
  return value;
}

/** Go's base-0 notations: a pattern, the prefix for the digits in `BigInt`, and the length of the prefix in Go. */
const NOTATIONS: readonly (readonly [pattern: RegExp, bigIntPrefix: string, skipped: number])[] = [
  [/^0[xX](?:_?[0-9a-fA-F])+$/, "0x", 2],
  [/^0[bB](?:_?[01])+$/, "0b", 2],
  [/^0[oO](?:_?[0-7])+$/, "0o", 2],
  [/^0(?:_?[0-7])+$/, "0o", 1],
  [/^(?:0|[1-9](?:_?\d)*)$/, "", 0],
];

/** Reads an unsigned literal in one of Go's base-0 notations. Returns undefined for any other text, such as "08". */
function parseLiteral(text: string): { readonly bigIntPrefix: string; readonly digits: string } | undefined {
  for (const [pattern, bigIntPrefix, skipped] of NOTATIONS) {
    if (pattern.test(text)) return { bigIntPrefix, digits: text.slice(skipped).replaceAll("_", "") };
  }
  return undefined;
}

/** A Go integer type and the base to parse. Base 0 accepts Go's prefixes (0x, 0o, 0b, a leading 0) and underscores. */
export interface GoIntegerType {
  readonly signed: boolean;
  readonly bits: 32 | 64;
  readonly base: 0 | 10;
}

const DECIMAL = /^\d+$/;

/** Parses an integer like Go's `strconv.ParseInt` and `ParseUint`. For invalid text, throws an `Error` with Go's message. */
export function parseGoInteger(text: string, type: GoIntegerType): bigint {
  const sign = type.signed ? (/^[+-]/.exec(text)?.[0] ?? "") : "";
  const magnitude = magnitudeOf(text.slice(sign.length), type.base);
  if (magnitude === undefined) throw integerError(text, type, "invalid syntax");
  const value = sign === "-" ? -magnitude : magnitude;
  const wrapped = type.signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
  if (wrapped !== value) throw integerError(text, type, "value out of range");
  return value;
}

/**
 * Maximum number of digits converted, more than any notation needs for 64 bits. Longer strings are truncated to bound the cost of
 * conversion.
 */
const MAX_DIGITS = 200;

function magnitudeOf(digits: string, base: 0 | 10): bigint | undefined {
  const isLong = digits.length > MAX_DIGITS;
  if (base === 10)
    return DECIMAL.test(digits) ? BigInt(isLong ? digits.slice(0, MAX_DIGITS) : digits) : undefined;
  const literal = parseLiteral(digits);
  if (literal === undefined) return undefined;
  const significant = literal.digits.replace(/^0+(?=.)/, "");
  return BigInt(literal.bigIntPrefix + significant.slice(0, MAX_DIGITS));
}

function integerError(text: string, type: GoIntegerType, why: string): Error {
  return new Error(
    `strconv.${type.signed ? "ParseInt" : "ParseUint"}: parsing ${JSON.stringify(text)}: ${why}`,
  );
}

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** Parses a boolean like Go's `strconv.ParseBool`. For invalid text, throws an `Error` with Go's message. */
export function parseGoBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new Error(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}
