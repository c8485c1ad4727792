import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import {
  type DisplayUnit,
  displayUnitOf,
  formatAmount,
  formatShort,
  formatUnits,
  parseAmount,
} from "../../../src/platform/base/display-unit.ts";

const NTRN: DisplayUnit = { denom: "untrn", name: "NTRN", exponent: 6 };
const PRICED: DisplayUnit = { ...NTRN, price: { currency: "USD", perUnit: parseDec18("0.35") } };

describe("formatShort", () => {
  it.each([
    [1_234_567n, "1.23456 NTRN"],
    [123_456_789n, "123.456 NTRN"],
    [987_654_321_987_654n, "987654321 NTRN"],
    [123_456n, "0.123456 NTRN"],
    [-1_999_999n, "-1.99999 NTRN"],
    [1n, "0.000001 NTRN"],
  ])("%s has at most six significant digits, and all before the point", (amount, text) =>
    expect(formatShort(amount, NTRN)).toBe(text),
  );
});

describe("formatAmount", () => {
  it.each([
    [1_234_567n, "1.234567 NTRN (1234567 untrn)"],
    [1_000_000n, "1 NTRN (1000000 untrn)"],
    [1n, "0.000001 NTRN (1 untrn)"],
    [0n, "0 NTRN (0 untrn)"],
    [-1_500_000n, "-1.5 NTRN (-1500000 untrn)"],
  ])("%s", (amount, text) => expect(formatAmount(amount, "untrn", NTRN)).toBe(text));

  it("separates thousands", () =>
    expect(formatAmount(1_234_567_000_001n, "untrn", NTRN, ",")).toBe(
      "1,234,567.000001 NTRN (1,234,567,000,001 untrn)",
    ));

  it("guesses nothing for an unknown denomination", () => {
    expect(formatAmount(1_234_567n, "untrn", undefined)).toBe("1234567 untrn");
    expect(formatAmount(5n, "uatom", NTRN)).toBe("5 uatom");
  });

  it("has the value when a price is configured", () => {
    expect(formatAmount(1_234_567n, "untrn", PRICED)).toBe("1.234567 NTRN (1234567 untrn, 0.43 USD)");
    expect(formatAmount(1n, "untrn", PRICED)).toBe("0.000001 NTRN (1 untrn, < 0.01 USD)");
    expect(formatAmount(-10_000_000_000n, "untrn", PRICED)).toBe(
      "-10000 NTRN (-10000000000 untrn, -3,500.00 USD)",
    );
  });

  it("is exact for 18 decimals", () =>
    expect(formatUnits(10n ** 24n + 1n, { name: "INJ", exponent: 18 })).toBe(
      "1000000.000000000000000001 INJ",
    ));
});

describe("parseAmount", () => {
  it.each([
    ["12500000", 12_500_000n],
    ["12500000untrn", 12_500_000n],
    ["12.5 NTRN", 12_500_000n],
    ["0.000001NTRN", 1n],
    ["0.0000001 NTRN", undefined],
    ["12.5", undefined],
    ["12.5 untrn", undefined],
    ["5 ATOM", undefined],
    ["-1", undefined],
    ["", undefined],
  ])("%j", (text, amount) => expect(parseAmount(text, "untrn", NTRN)).toBe(amount));

  it("needs a known unit for display units", () =>
    expect(parseAmount("1 NTRN", "untrn", undefined)).toBeUndefined());

  it("reads what formatUnits prints", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 40n }),
        fc.integer({ min: 1, max: 18 }),
        (amount, exponent) => {
          const unit = { name: "X", exponent };
          expect(parseAmount(formatUnits(amount, unit), "ux", unit)).toBe(amount);
        },
      ),
    ));
});

describe("displayUnitOf", () => {
  const metadata = {
    base: "untrn",
    display: "ntrn",
    symbol: "NTRN",
    denomUnits: [
      { denom: "untrn", exponent: 0 },
      { denom: "ntrn", exponent: 6 },
    ],
  };

  it("reads the unit that the chain displays", () => {
    expect(displayUnitOf(metadata, "untrn")).toEqual(NTRN);
    expect(displayUnitOf({ ...metadata, symbol: "" }, "untrn")?.name).toBe("ntrn");
    expect(displayUnitOf({ ...metadata, symbol: "<b>\n" }, "untrn")?.name).toBe("ntrn");
  });

  it.each([
    ["another denomination", { base: "uatom" }],
    ["no display unit in the list", { display: "NTRN" }],
    ["the base as display unit", { display: "untrn" }],
    ["an absurd exponent", { denomUnits: [{ denom: "ntrn", exponent: 4_294_967_295 }] }],
    ["two units of one name", { denomUnits: [...metadata.denomUnits, { denom: "ntrn", exponent: 9 }] }],
    [
      "no usable name",
      { symbol: "", display: "factory/a b", denomUnits: [{ denom: "factory/a b", exponent: 6 }] },
    ],
  ])("refuses %s", (_name, change) =>
    expect(displayUnitOf({ ...metadata, ...change }, "untrn")).toBeUndefined(),
  );
});
