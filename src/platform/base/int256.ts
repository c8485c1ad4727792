import { CodedError } from "./errors.ts";

/** A result that Go's fixed-size big integers do not hold. Go panics there. */
export class OverflowError extends CodedError<{ readonly code: "overflow"; readonly bits: number }> {
  constructor(bits: number, text = "Int overflow") {
    super({ code: "overflow", bits }, text);
  }
}

const MAX_INT_BITS = 256;
const INT_BOUND = 1n << 256n;

/** Returns an integer whose magnitude has at most 256 bits, as the SDK's `math.Int`. Throws `OverflowError` for any other. */
export function checkInt(value: bigint): bigint {
  if (value >= INT_BOUND || value <= -INT_BOUND) throw new OverflowError(MAX_INT_BITS);
  return value;
}

/** Returns the smaller integer. */
export function minInt(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Plain decimals without a leading zero: the form that every encoder writes. */
const CANONICAL = /^(?:0|[1-9]\d{0,76})$/;
/** Go's notations of base 0, with the prefix for `BigInt` and the number of characters that the notation puts in front. */
const NOTATIONS: readonly (readonly [form: RegExp, bigIntPrefix: string, skipped: number])[] = [
  [/^0[xX](?:_?[0-9a-fA-F])+$/, "0x", 2],
  [/^0[bB](?:_?[01])+$/, "0b", 2],
  [/^0[oO](?:_?[0-7])+$/, "0o", 2],
  [/^0(?:_?[0-7])+$/, "0o", 1],
  [/^(?:0|[1-9](?:_?\d)*)$/, "", 0],
];

/** Longer texts are rejected before they are converted, which bounds the cost of the conversion. */
const MAX_TEXT = 1024;

/**
 * Parses an integer as Go's `big.Int.UnmarshalText`: a sign, then a literal of base 0 ("10", "0x10", "010" for 8, "1_000").
 * Throws an `Error` with Go's text, or `OverflowError` for a text that is too long.
 */
export function parseGoBigInt(text: string): bigint {
  if (CANONICAL.test(text)) return BigInt(text);
  const negative = text.startsWith("-");
  const digits = negative || text.startsWith("+") ? text.slice(1) : text;
  for (const [form, prefix, skipped] of NOTATIONS) {
    if (!form.test(digits)) continue;
    if (digits.length > MAX_TEXT) throw new OverflowError(MAX_INT_BITS, "integer out of range");
    const magnitude = BigInt(prefix + digits.slice(skipped).replaceAll("_", ""));
    return negative ? -magnitude : magnitude;
  }
  throw new Error(`math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`);
}

/** Parses the wire form of the SDK's `math.Int`. Throws as {@link parseGoBigInt}, and for more than 256 bits. */
export function parseInt256(text: string): bigint {
  const value = parseGoBigInt(text);
  if (value >= INT_BOUND || value <= -INT_BOUND) {
    const bits = (value < 0n ? -value : value).toString(2).length;
    throw new OverflowError(MAX_INT_BITS, `integer out of range; got: ${bits}, max: ${MAX_INT_BITS}`);
  }
  return value;
}
