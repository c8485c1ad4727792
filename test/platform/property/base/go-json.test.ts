import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { type GoJson, parseGoJson, formatGoFloat } from "../../../../src/platform/base/go-json.ts";
import { goJsonSyntaxError } from "../../../../src/platform/base/go-json-syntax.ts";

/** Almost valid JSON: JSON tokens in random order. */
const nearly = fc
  .array(
    fc.constantFrom(...'{}[],:" \n\\u00e9-+.eE019truefalsn'.split(""), "null", '"a"', "1.5e3", "\u00e9"),
    { maxLength: 25 },
  )
  .map((pieces) => pieces.join(""));

describe("parseGoJson", () => {
  it("accepts the same texts as JSON.parse", () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.json(), fc.string()), (text) => {
        expect(goJsonSyntaxError(utf8(text)) === undefined).toBe(isJson(text));
      }),
      { numRuns: 3000 },
    );
  });

  it("returns the same values as JSON.parse", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(toValue(parseGoJson(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  it("parses megabytes", () => {
    const long = '\\"x'.repeat(700_000);
    expect(parseGoJson(`["${long}"]`)).toMatchObject({ kind: "array", items: [{ kind: "string" }] });
  });

  it("formats a float that parses back to the same value", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatGoFloat(value))).toBe(value);
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function toValue(json: GoJson): unknown {
  if (json.kind === "null") return null;
  if (json.kind === "number") return Number(json.text);
  if (json.kind === "array") return json.items.map(toValue);
  if (json.kind === "object")
    return Object.fromEntries(json.members.map(([name, value]) => [name, toValue(value)]));
  return json.value;
}
