import { describe, expect, it } from "vitest";
import { counted } from "../../../src/platform/base/text.ts";

describe("counted", () => {
  it.each([
    [0, "0 results"],
    [1, "1 result"],
    [2, "2 results"],
  ])("%i", (count, text) => {
    expect(counted(count, "result")).toBe(text);
  });

  it("takes an irregular plural", () => {
    expect([1, 3].map((count) => counted(count, "query", "queries"))).toEqual(["1 query", "3 queries"]);
  });
});
