import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkInt, OverflowError, parseGoBigInt, parseInt256 } from "../../../src/platform/base/integers.ts";
import * as prec from "../../../src/platform/base/decimal.ts";

const ONE = prec.PREC_ONE;
const dec = prec.parsePrecDec;

/** Rounds a fraction half to even on its magnitude. */
function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const isNegative = numerator < 0n !== denominator < 0n;
  const [n, d] = [numerator, denominator].map((value) => (value < 0n ? -value : value));
  if (n === undefined || d === undefined) throw new Error("unreachable");
  const [whole, twice] = [n / d, (n % d) * 2n];
  const rounded = twice > d || (twice === d && whole % 2n === 1n) ? whole + 1n : whole;
  return isNegative ? -rounded : rounded;
}

const decimal = fc.bigInt({ min: -(10n ** 50n), max: 10n ** 50n });

describe("decimals with 27 digits", () => {
  it("multiplies with one rounding, divides with a truncation before it", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(prec.mulPrec(a, b)).toBe(roundHalfEven(a * b, ONE));
        if (b !== 0n) expect(prec.quoPrec(a, b)).toBe(roundHalfEven((a * ONE * ONE) / b, ONE));
      }),
    );
  });

  it("prints what it parses, in text and on the wire", () => {
    fc.assert(
      fc.property(decimal, (value) => {
        expect(prec.parsePrecDec(prec.formatPrecDec(value))).toBe(value);
        expect(prec.parseWirePrecDec(value.toString())).toBe(value);
      }),
    );
  });

  it.each([
    ["1.5", 2n, 1n],
    ["-1.5", -1n, -1n],
    ["2", 2n, 2n],
    ["0.000000000000000000000000001", 1n, 0n],
    ["-0.000000000000000000000000001", 0n, 0n],
  ])("rounds %s up and towards zero", (text, ceiling, truncated) => {
    expect(prec.ceilPrec(dec(text))).toBe(ceiling);
    expect(prec.truncatePrec(dec(text))).toBe(truncated);
  });

  it.each(["", "-", ".", "5.", ".5", "1.2.3", "1e5", " 1", "0x1", "1.0000000000000000000000000001"])(
    "rejects %j",
    (text) => {
      expect(() => dec(text)).toThrow(Error);
    },
  );

  it("overflows above 345 bits", () => {
    const limit = 2n ** 345n;
    expect(prec.addPrec(limit - 2n, 1n)).toBe(limit - 1n);
    expect(() => prec.addPrec(limit - 1n, 1n)).toThrow(OverflowError);
    expect(() => prec.subPrec(1n - limit, 1n)).toThrow(OverflowError);
    expect(() => prec.mulPrecInt(limit / 2n, 2n)).toThrow(OverflowError);
    expect(() => dec("9".repeat(400))).toThrow(OverflowError);
    expect(() => prec.quoPrec(ONE, 0n)).toThrow(RangeError);
  });
});

describe("integers of 256 bits", () => {
  it.each([
    ["0", 0n],
    ["-10", -10n],
    ["+7", 7n],
    ["0x10", 16n],
    ["0b11", 3n],
    ["0o17", 15n],
    ["010", 8n],
    ["1_000", 1000n],
  ])("reads %s as Go does", (text, value) => {
    expect(parseGoBigInt(text)).toBe(value);
  });

  it.each(["", "-", "08", "1__0", "_1", "1.5", "abc", "--1", " 1"])("rejects %j", (text) => {
    expect(() => parseGoBigInt(text)).toThrow(
      `math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`,
    );
  });

  it("has bounds", () => {
    const largest = 2n ** 256n - 1n;
    expect(parseInt256(largest.toString())).toBe(largest);
    expect(checkInt(-largest)).toBe(-largest);
    expect(() => checkInt(largest + 1n)).toThrow(OverflowError);
    expect(() => parseInt256((largest + 1n).toString())).toThrow("integer out of range; got: 257, max: 256");
    expect(() => parseInt256("1".repeat(5000))).toThrow(OverflowError);
  });
});
