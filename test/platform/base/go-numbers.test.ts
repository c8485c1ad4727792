import { describe, expect, it } from "vitest";
import { type GoIntegerType, parseGoBool, parseGoInteger } from "../../../src/platform/base/integers.ts";

const UINT64: GoIntegerType = { signed: false, bits: 64, base: 0 };
const INT32: GoIntegerType = { signed: true, bits: 32, base: 0 };
const DECIMAL: GoIntegerType = { signed: true, bits: 64, base: 10 };

describe("parseGoInteger", () => {
  it.each([
    ["0", 0n],
    ["16", 16n],
    ["0x10", 16n],
    ["0X_1f", 31n],
    ["010", 8n],
    ["0_10", 8n],
    ["0o17", 15n],
    ["0b101", 5n],
    ["1_000", 1000n],
    ["18446744073709551615", 2n ** 64n - 1n],
    [`0x${"0".repeat(300)}1`, 1n],
  ])("%s in base 0", (text, value) => expect(parseGoInteger(text, UINT64)).toBe(value));

  it.each(["", "abc", "-1", "+1", "08", "1__0", "_1", "1_", "0x", "1e3", "0_8", " 1", "١"])(
    "%j is no unsigned integer",
    (text) =>
      expect(() => parseGoInteger(text, UINT64)).toThrow(
        `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
      ),
  );

  it("accepts a sign for signed types only and checks the range of the type", () => {
    expect(parseGoInteger("-0x80000000", INT32)).toBe(-(2n ** 31n));
    expect(parseGoInteger("+7", INT32)).toBe(7n);
    expect(() => parseGoInteger("2147483648", INT32)).toThrow(
      'strconv.ParseInt: parsing "2147483648": value out of range',
    );
    expect(() => parseGoInteger("18446744073709551616", UINT64)).toThrow("value out of range");
    expect(() => parseGoInteger("9".repeat(5000), UINT64)).toThrow("value out of range");
  });

  it("accepts no prefixes in base 10", () => {
    expect(parseGoInteger("010", DECIMAL)).toBe(10n);
    expect(() => parseGoInteger("0x10", DECIMAL)).toThrow('strconv.ParseInt: parsing "0x10": invalid syntax');
    expect(() => parseGoInteger("1_000", DECIMAL)).toThrow("invalid syntax");
  });
});

describe("parseGoBool", () => {
  it.each(["1", "t", "T", "TRUE", "true", "True"])("%s is true", (text) =>
    expect(parseGoBool(text)).toBe(true),
  );
  it.each(["0", "f", "F", "FALSE", "false", "False"])("%s is false", (text) =>
    expect(parseGoBool(text)).toBe(false),
  );
  it.each(["", "yes", "tRUE", "2"])("%j is neither", (text) =>
    expect(() => parseGoBool(text)).toThrow(
      `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
    ),
  );
});
