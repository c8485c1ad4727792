/** Type of an integer. Base 0 accepts Go's prefixes (0x, 0o, 0b, a leading 0) and underscores. */
export interface GoIntegerForm {
  readonly signed: boolean;
  readonly bits: 32 | 64;
  readonly base: 0 | 10;
}

const DECIMAL = /^\d+$/;
/** Go's notations: digits with the underscores that Go allows, length of the prefix, and the prefix for `BigInt`. */
const NOTATIONS: readonly (readonly [digits: RegExp, prefixLength: number, bigIntPrefix: string])[] = [
  [/^0[xX](_?[0-9a-fA-F])+$/, 2, "0x"],
  [/^0[bB](_?[01])+$/, 2, "0b"],
  [/^0[oO](_?[0-7])+$/, 2, "0o"],
  [/^0(_?[0-7])+$/, 1, "0o"],
  [/^\d(_?\d)*$/, 0, ""],
];

/** Parses an integer as Go's `strconv.ParseInt` and `ParseUint`. Throws an `Error` with Go's text. */
export function parseGoInteger(text: string, form: GoIntegerForm): bigint {
  const sign = form.signed ? (/^[+-]/.exec(text)?.[0] ?? "") : "";
  const magnitude = magnitudeOf(text.slice(sign.length), form.base);
  if (magnitude === undefined) throw failure(text, form, "invalid syntax");
  const value = sign === "-" ? -magnitude : magnitude;
  const wrapped = form.signed ? BigInt.asIntN(form.bits, value) : BigInt.asUintN(form.bits, value);
  if (wrapped !== value) throw failure(text, form, "value out of range");
  return value;
}

/** No notation needs more digits for 64 bits. Longer texts are cut, which bounds the cost of the conversion. */
const MAX_DIGITS = 200;

function magnitudeOf(digits: string, base: 0 | 10): bigint | undefined {
  const isLong = digits.length > MAX_DIGITS;
  if (base === 10)
    return DECIMAL.test(digits) ? BigInt(isLong ? digits.slice(0, MAX_DIGITS) : digits) : undefined;
  for (const [notation, prefixLength, bigIntPrefix] of NOTATIONS) {
    // Go reads "0" as decimal and rejects "08".
    if (!notation.test(digits) || (prefixLength === 0 && /^0\d/.test(digits.replaceAll("_", "")))) continue;
    const plain = digits
      .slice(prefixLength)
      .replaceAll("_", "")
      .replace(/^0+(?=.)/, "");
    return BigInt(bigIntPrefix + plain.slice(0, MAX_DIGITS));
  }
  return undefined;
}

function failure(text: string, form: GoIntegerForm, why: string): Error {
  return new Error(
    `strconv.${form.signed ? "ParseInt" : "ParseUint"}: parsing ${JSON.stringify(text)}: ${why}`,
  );
}

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** Parses a boolean as Go's `strconv.ParseBool`. Throws an `Error` with Go's text. */
export function parseGoBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new Error(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}
