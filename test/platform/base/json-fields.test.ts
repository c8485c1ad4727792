import { describe, expect, it } from "vitest";
import {
  asBase64,
  asBoolean,
  asInt64,
  asText,
  asTimeNs,
  asUint32,
  asUint64,
  elements,
  isPresent,
  type JsonField,
  member,
  required,
} from "../../../src/platform/base/json.ts";

function root(value: unknown): JsonField {
  return { value, path: "", error: (path, expected) => new Error(`${path} is not ${expected}`) };
}

describe("member and elements", () => {
  it("build the path of a nested field", () => {
    const txs = elements(member(member(root({ block: { txs: ["a", 1] } }), "block"), "txs"));
    expect(txs.map(({ path }) => path)).toEqual(["block.txs[0]", "block.txs[1]"]);
    expect(() => txs.map(asText)).toThrow("block.txs[1] is not a string");
  });

  it("treat absent and null as empty, and refuse another type", () => {
    expect(elements(member(root({}), "txs"))).toEqual([]);
    expect(elements(member(root({ txs: null }), "txs"))).toEqual([]);
    expect(() => elements(member(root({ txs: {} }), "txs"))).toThrow("txs is not a list");
    expect(() => member(root([]), "txs")).toThrow("is not an object");
  });
});

describe("required", () => {
  it("throws for absent and null, and returns a zero value", () => {
    expect(() => required(member(root({ a: null }), "a"))).toThrow("a is not present");
    expect(required(member(root({ a: 0 }), "a")).value).toBe(0);
    expect(isPresent(member(root({}), "a"))).toBe(false);
  });
});

describe("integers", () => {
  const read = (value: unknown): JsonField => member(root({ n: value }), "n");

  it("accept decimal text and exact numbers up to the limits of the type", () => {
    expect(asInt64(read("-9223372036854775808"))).toBe(-(2n ** 63n));
    expect(asUint64(read("18446744073709551615"))).toBe(2n ** 64n - 1n);
    expect(asUint32(read(4_294_967_295))).toBe(4_294_967_295);
    expect([asInt64(read(undefined)), asUint64(read(null)), asUint32(read(undefined))]).toEqual([0n, 0n, 0]);
  });

  it.each([
    [asInt64, "9223372036854775808", "a 64-bit integer"],
    [asInt64, 1.5, "a 64-bit integer"],
    [asInt64, 2 ** 53, "a 64-bit integer"],
    [asInt64, "1e3", "a 64-bit integer"],
    [asUint64, "18446744073709551616", "an unsigned 64-bit integer"],
    [asUint64, "-1", "an unsigned 64-bit integer"],
    [asUint32, "4294967296", "a 32-bit unsigned integer"],
    [asUint32, true, "a 32-bit unsigned integer"],
  ])("%o refuses %o", (asInteger, value, expected) => {
    expect(() => asInteger(read(value))).toThrow(`n is not ${expected}`);
  });
});

describe("texts, booleans, bytes and times", () => {
  const read = (value: unknown): JsonField => member(root({ x: value }), "x");

  it("decode what they accept", () => {
    expect([asText(read("a")), asText(read(null))]).toEqual(["a", ""]);
    expect([asBoolean(read(true)), asBoolean(read(undefined))]).toEqual([true, false]);
    expect(asBase64(read("AQI="))).toEqual(Uint8Array.of(1, 2));
    expect(asTimeNs(read("1970-01-01T00:00:01.5Z"))).toBe(1_500_000_000n);
  });

  it("refuse another type and never print the value", () => {
    expect(() => asText(read(7))).toThrow("x is not a string");
    expect(() => asBoolean(read("true"))).toThrow("x is not true or false");
    expect(() => asBase64(read("secret!"))).toThrow("x is not base64");
    expect(() => asTimeNs(read(undefined))).toThrow("x is not an RFC 3339 time");
  });
});
