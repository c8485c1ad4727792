import { describe, expect, it } from "vitest";
import { median } from "../../bench/measure.ts";
import { formatValue, tableText } from "../../bench/print-table.ts";

describe("median", () => {
  it("is the middle value, or the mean of the two in the middle", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});

describe("formatValue", () => {
  it("shows three digits that count", () => {
    expect([0.123, 1.5, 12.34, 123.6, 21_412.4].map(formatValue)).toEqual([
      "0.12",
      "1.50",
      "12.3",
      "124",
      "21,412",
    ]);
  });
});

describe("tableText", () => {
  it("names the group and every figure with what it stands beside", () => {
    const rows = [{ name: "proofs", value: 7, unit: "proofs/s", note: "best of 2", beside: "Go 3" }];
    const text = tableText([{ group: "speed", rows }]);
    for (const part of ["SPEED", "proofs", "7.00", "proofs/s", "best of 2", "Go 3"])
      expect(text).toContain(part);
  });
});
