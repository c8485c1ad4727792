import { describe, expect, it } from "vitest";
import { didYouMean } from "../../../src/platform/base/did-you-mean.ts";

const NAMES = ["rpc", "rest", "sidecar-down", "sidecar-slow", "clock-skew", "payment-missing"];

describe("a wrong name", () => {
  it.each([
    ["rcp", "; did you mean rpc?"],
    ["sidecar-dwon", "; did you mean sidecar-down or sidecar-slow?"],
    ["oracle-down", "; did you mean sidecar-down?"],
    ["payment", "; did you mean payment-missing?"],
    ["", ""],
    ["volcano", ""],
    ["x".repeat(100_000), ""],
  ])("%s has names like it, or none", (wrong, expected) => {
    expect(didYouMean(wrong, NAMES)).toBe(expected);
  });

  it("has at most three", () => {
    expect(didYouMean("abc", ["abd", "abe", "abf", "abg"])).toBe("; did you mean abd, abe or abf?");
  });
});
