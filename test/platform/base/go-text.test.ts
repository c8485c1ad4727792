import { goString, upperHex, fromHex } from "../../../src/platform/base/bytes.ts";
import { trimGoSpace } from "../../../src/platform/base/text.ts";
import { describe, expect, it } from "vitest";

describe("trimGoSpace", () => {
  it.each([
    ["", ""],
    ["a b", "a b"],
    [" \t\n\v\f\r\u0085\u00a0\u1680a\u2000\u200a\u2028\u2029\u202f\u205f\u3000", "a"],
    [" \u3000", ""],
    ["\ufeff", "\ufeff"],
    ["\u200b", "\u200b"],
    ["\u180ea ", "\u180ea"],
  ])("removes what Go removes from %j", (text, trimmed) => {
    expect(trimGoSpace(text)).toBe(trimmed);
  });
});

describe("goString and upperHex", () => {
  it.each([
    ["", ""],
    ["00756e74726e", "\u0000untrn"],
    ["c3a4e282acf09f9880", "ä€😀"],
    ["ff", "\ufffd"],
    ["80bf", "\ufffd\ufffd"],
    // A sequence that breaks off: one character for each byte, where a TextDecoder has one for all.
    ["e282", "\ufffd\ufffd"],
    ["f09f9841", "\ufffd\ufffd\ufffdA"],
    // Longer than it has to be, a surrogate, above the last code point.
    ["c080", "\ufffd\ufffd"],
    ["e08080", "\ufffd\ufffd\ufffd"],
    ["eda080", "\ufffd\ufffd\ufffd"],
    ["f4908080", "\ufffd\ufffd\ufffd\ufffd"],
    ["ee8080", "\ue000"],
    ["efbbbf", "\ufeff"],
  ])("%s as a string", (hex, text) => {
    expect(goString(fromHex(hex))).toBe(text);
  });

  it("formats upper-case hex", () => {
    expect(upperHex(fromHex("00abff"))).toBe("00ABFF");
  });
});
