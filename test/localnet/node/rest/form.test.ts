import { describe, expect, it } from "vitest";
import { goUnescape, joinForms, parseForm } from "../../../../src/localnet/node/rest/request-message.ts";

describe("query strings", () => {
  it("keep the order of repeated values, also of empty ones", () => {
    const form = parseForm("owners=a&x=1&owners=b&owners=&y&&=z");
    expect([...form]).toEqual([
      ["owners", ["a", "b", ""]],
      ["x", ["1"]],
      ["y", [""]],
      ["", ["z"]],
    ]);
  });

  it("decode spaces and percent signs in names and values", () => {
    expect(parseForm("a%20b=c+d%2B%C3%A4").get("a b")).toEqual(["c d+ä"]);
  });

  it.each([
    ["a=%zz", 'invalid URL escape "%zz"'],
    ["a=%4", 'invalid URL escape "%4"'],
    ["a=1;b=2", "invalid semicolon separator in query"],
  ])("%s is refused as Go does", (text, message) => expect(() => parseForm(text)).toThrow(message));

  it("join with the values of the first form in front", () => {
    expect(joinForms(parseForm("a=1"), parseForm("a=2&b=3"))).toEqual(
      new Map([
        ["a", ["1", "2"]],
        ["b", ["3"]],
      ]),
    );
  });
});

describe("path escapes", () => {
  it("leave the plus sign alone", () => expect(goUnescape("/a+b%2Fc", false)).toBe("/a+b/c"));
  it("replace bytes that are not UTF-8", () => expect(goUnescape("%ff", false)).toBe("\ufffd"));
});
