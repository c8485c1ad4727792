import { describe, expect, it } from "vitest";
import { sortTexts } from "../../../src/platform/base/order.ts";

describe("sorting texts", () => {
  it.each([0, 1, 2, 3, 15, 16, 17, 100])("sorts %i texts by code unit, equal ones included", (length) => {
    const texts = Array.from({ length }, (_, index) => `\u00ff${(index * 7919) % 13}${index % 3}`);
    const expected = texts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    expect(sortTexts([...texts])).toEqual(expected);
    expect(sortTexts([...texts].toReversed())).toEqual(expected);
  });

  it("puts a prefix first, and the empty text before all", () => {
    expect(sortTexts(["ab", "b", "a", "", "\u0000"])).toEqual(["", "\u0000", "a", "ab", "b"]);
  });
});
