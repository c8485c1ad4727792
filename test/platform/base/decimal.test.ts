import { describe, expect, it } from "vitest";
import {
  ceilDec18,
  formatDec18,
  mulDec18,
  parseDec18,
  quoDec18,
  truncateDec18,
} from "../../../src/platform/base/decimal.ts";

describe("Dec18", () => {
  it("parses and formats all digits", () => {
    expect(formatDec18(parseDec18("0.0025"))).toBe("0.002500000000000000");
    expect(formatDec18(parseDec18("-12.000000000000000001"))).toBe("-12.000000000000000001");
    for (const text of ["", ".5", "1.", "1e3", "+1", "0.0000000000000000001", "NaN"]) {
      expect(() => parseDec18(text), text).toThrow("not a decimal");
    }
  });

  it("rounds products and quotients half to even", () => {
    expect(mulDec18(1n, parseDec18("0.5"))).toBe(0n);
    expect(mulDec18(3n, parseDec18("0.5"))).toBe(2n);
    expect(mulDec18(-3n, parseDec18("0.5"))).toBe(-2n);
    expect(formatDec18(quoDec18(parseDec18("1"), parseDec18("3")))).toBe("0.333333333333333333");
    expect(formatDec18(quoDec18(parseDec18("2"), parseDec18("3")))).toBe("0.666666666666666667");
  });

  it("rounds to integers", () => {
    expect([ceilDec18(parseDec18("1.1")), ceilDec18(parseDec18("1")), ceilDec18(parseDec18("-1.1"))]).toEqual(
      [2n, 1n, -1n],
    );
    expect([truncateDec18(parseDec18("1.9")), truncateDec18(parseDec18("-1.9"))]).toEqual([1n, -1n]);
  });
});
