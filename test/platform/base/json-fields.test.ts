import { describe, expect, it } from "vitest";
import { JsonField } from "../../../src/platform/base/json.ts";

function root(value: unknown): JsonField {
  return new JsonField(value, "", (path, expected) => new Error(`${path} is not ${expected}`));
}

describe("member and elements", () => {
  it("build the path of a nested field", () => {
    const txs = root({ block: { txs: ["a", 1] } })
      .member("block")
      .member("txs")
      .elements();
    expect(txs.map(({ path }) => path)).toEqual(["block.txs[0]", "block.txs[1]"]);
    expect(() => txs.map((field) => field.asText())).toThrow("block.txs[1] is not a string");
  });

  it("treat absent and null as empty, and refuse another type", () => {
    expect(root({}).member("txs").elements()).toEqual([]);
    expect(root({ txs: null }).member("txs").elements()).toEqual([]);
    expect(() => root({ txs: {} }).member("txs").elements()).toThrow("txs is not a list");
    expect(() => root([]).member("txs")).toThrow("is not an object");
  });
});

describe("required", () => {
  it("throws for absent and null, and returns a zero value", () => {
    expect(() => root({ a: null }).member("a").required()).toThrow("a is not present");
    expect(root({ a: 0 }).member("a").required().value).toBe(0);
    expect(root({}).member("a").isPresent()).toBe(false);
  });
});

describe("integers", () => {
  const read = (value: unknown): JsonField => root({ n: value }).member("n");

  it("accept decimal text and exact numbers up to the limits of the type", () => {
    expect(read("-9223372036854775808").asInt64()).toBe(-(2n ** 63n));
    expect(read("18446744073709551615").asUint64()).toBe(2n ** 64n - 1n);
    expect(read(4_294_967_295).asUint32()).toBe(4_294_967_295);
    expect([read(undefined).asInt64(), read(null).asUint64(), read(undefined).asUint32()]).toEqual([
      0n,
      0n,
      0,
    ]);
  });

  it.each([
    ["asInt64", "9223372036854775808", "a 64-bit integer"],
    ["asInt64", 1.5, "a 64-bit integer"],
    ["asInt64", 2 ** 53, "a 64-bit integer"],
    ["asInt64", "1e3", "a 64-bit integer"],
    ["asHeight", "-1", "a block height"],
    ["asHeight", "9223372036854775808", "a block height"],
    ["asUint64", "18446744073709551616", "an unsigned 64-bit integer"],
    ["asUint64", "-1", "an unsigned 64-bit integer"],
    ["asUint32", "4294967296", "a 32-bit unsigned integer"],
    ["asUint32", true, "a 32-bit unsigned integer"],
  ] as const)("%s refuses %o", (method, value, expected) => {
    expect(() => read(value)[method]()).toThrow(`n is not ${expected}`);
  });
});

describe("texts, booleans, bytes and times", () => {
  const read = (value: unknown): JsonField => root({ x: value }).member("x");

  it("decode what they accept", () => {
    expect([read("a").asText(), read(null).asText()]).toEqual(["a", ""]);
    expect([read(true).asBoolean(), read(undefined).asBoolean()]).toEqual([true, false]);
    expect(read("AQI=").asBase64()).toEqual(Uint8Array.of(1, 2));
    expect(read("1970-01-01T00:00:01.5Z").asTimeNs()).toBe(1_500_000_000n);
  });

  it("refuse another type and never print the value", () => {
    expect(() => read(7).asText()).toThrow("x is not a string");
    expect(() => read("true").asBoolean()).toThrow("x is not true or false");
    expect(() => read("secret!").asBase64()).toThrow("x is not base64");
    expect(() => read(undefined).asTimeNs()).toThrow("x is not an RFC 3339 time");
  });
});
