import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matches, parseTxFilter, searchText, type TxCondition } from "../../src/relayer/tx/tx-filter.ts";

const range = { from: 5n, to: 90n };
const RANGE = "tx.height>=5 AND tx.height<=90";

function parsed(filter: unknown): readonly TxCondition[] {
  const result = parseTxFilter(JSON.stringify(filter));
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const tx = (attributes: Readonly<Record<string, string>>, type = "transfer") => ({
  height: 7n,
  hash: "AB",
  events: [{ type, attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) }],
});

describe("parseTxFilter", () => {
  it("accepts operators and names in any case, strings and integers, and null as the empty filter", () => {
    expect(parsed([{ field: "transfer.recipient", op: "Eq", value: "bob" }])).toEqual([
      { field: "transfer.recipient", op: "=", value: "bob" },
    ]);
    expect(parsed([{ FIELD: "a.b", Op: "GTE", value: 3 }])).toEqual([{ field: "a.b", op: ">=", value: 3n }]);
    expect(parsed([])).toEqual([]);
    expect(parsed(null)).toEqual([]);
  });

  it.each([
    ["invalid JSON", "{"],
    ["a value that is not a list", '{"field":"a.b"}'],
    ["an unknown operator", '[{"field":"a.b","op":"ne","value":1}]'],
    ["the name of an object property as operator", '[{"field":"a.b","op":"toString","value":1}]'],
    ["a fraction", '[{"field":"a.b","op":"gt","value":1.5}]'],
    ["a boolean value", '[{"field":"a.b","op":"eq","value":true}]'],
    ["a missing field", '[{"op":"eq","value":1}]'],
    ["an item that is not an object", "[3]"],
  ])("refuses %s", (_case, text) => {
    expect(parseTxFilter(text).ok).toBe(false);
  });

  it("names the invalid condition", () => {
    expect(parseTxFilter('[{"field":"a.b","op":"eq","value":1},{}]')).toEqual({
      ok: false,
      error: "filter condition 1 must be {field, op, value}",
    });
  });
});

describe("searchText", () => {
  it("quotes strings and does not quote numbers", () => {
    const conditions = parsed([
      { field: "transfer.recipient", op: "eq", value: "bob" },
      { field: "transfer.amount", op: "gt", value: 10 },
      { field: "transfer.amount", op: "lte", value: "20" },
    ]);
    expect(searchText(conditions, range)).toBe(
      `${RANGE} AND transfer.recipient='bob' AND transfer.amount>10 AND transfer.amount<=20`,
    );
  });

  it.each<readonly [string, unknown]>([
    ["a quote in the value", { field: "a.b", op: "eq", value: "it's" }],
    ["a line break in the value", { field: "a.b", op: "eq", value: "a\nb" }],
    ["a string with an ordering operator", { field: "a.b", op: "gt", value: "abc" }],
    ["a negative number", { field: "a.b", op: "gt", value: -1 }],
    ["a field without a dot", { field: "AND", op: "eq", value: 1 }],
    ["a field with a space", { field: "a.b c", op: "eq", value: 1 }],
    ["a field that begins with a digit", { field: "1a.b", op: "eq", value: 1 }],
    ["a second bound on the height", { field: "tx.height", op: "gt", value: 1 }],
  ])("leaves out %s, for which a node would refuse the whole query", (_case, condition) => {
    expect(searchText(parsed([condition]), range)).toBe(RANGE);
  });

  it("has at most 512 characters, and as many of 32 conditions as fit", () => {
    const filter = Array.from({ length: 32 }, (_, index) => ({
      field: `some.attribute${index}`,
      op: "eq",
      value: "x".repeat(20),
    }));
    const text = searchText(parsed(filter), range);
    expect(text.length).toBeLessThanOrEqual(512);
    expect(text.length).toBeGreaterThan(440);
  });

  it("is a query of at most 512 characters for any conditions", () => {
    const condition = fc.record({
      field: fc.oneof(
        { weight: 4, arbitrary: fc.stringMatching(/^[a-z]{1,20}\.[a-z_]{1,30}$/) },
        { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 60 }) },
      ),
      op: fc.constantFrom("eq", "eq", "eq", "gt", "gte", "lt", "lte"),
      value: fc.oneof(fc.string({ maxLength: 60, size: "max" }), fc.integer()),
    });
    const QUERY =
      /^tx\.height>=5 AND tx\.height<=90(?: AND [A-Za-z][\w-]*\.[\w.-]+(?:='[^'\\\n\r]*'|(?:=|[<>]=?)\d+))*$/;
    const found = { conditions: 0, full: 0 };
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 32, size: "max" }), (all) => {
        const text = searchText(parsed(all), range);
        expect(text.length).toBeLessThanOrEqual(512);
        expect(text).toMatch(QUERY);
        if (text !== RANGE) found.conditions += 1;
        if (text.length > 300) found.full += 1;
      }),
      { numRuns: 300 },
    );
    // Otherwise the limit was never near.
    expect(found.conditions).toBeGreaterThan(100);
    expect(found.full).toBeGreaterThan(10);
  });
});

describe("matches", () => {
  const matchesAmount = (op: string, value: string | number, found: string): boolean =>
    matches(parsed([{ field: "transfer.amount", op, value }]), tx({ amount: found }));

  it.each<readonly [string, string | number, string, boolean]>([
    ["eq", "bob", "bob", true],
    ["eq", "bob", "bobby", false],
    ["eq", 5, "5", true],
    ["gt", 5, "6", true],
    ["gt", 5, "5", false],
    ["gt", 5, "5.5", true],
    ["gte", 5, "5", true],
    ["lt", 5, "-3", true],
    ["lte", 5, "5.0", true],
    ["gt", 99, "100untrn", true],
    ["gt", 5, "abc", false],
    ["gt", "abc", "abd", false],
    ["gt", 1, "340282366920938463463374607431768211456", true],
    ["lt", "10", "9", true],
  ])("%s %s against %s: %s", (op, value, found, expected) => {
    expect(matchesAmount(op, value, found)).toBe(expected);
  });

  it("requires every condition, each in any event", () => {
    const conditions = parsed([
      { field: "transfer.recipient", op: "eq", value: "bob" },
      { field: "message.action", op: "eq", value: "send" },
    ]);
    const both = {
      ...tx({ recipient: "bob" }),
      events: [...tx({ recipient: "bob" }).events, ...tx({ action: "send" }, "message").events],
    };
    expect(matches(conditions, both)).toBe(true);
    expect(matches(conditions, tx({ recipient: "bob" }))).toBe(false);
    expect(matches([], tx({}))).toBe(true);
  });

  it("supports the tags tx.height and tx.hash", () => {
    expect(matches(parsed([{ field: "tx.height", op: "gte", value: 7 }]), tx({}))).toBe(true);
    expect(matches(parsed([{ field: "tx.height", op: "gt", value: 7 }]), tx({}))).toBe(false);
    expect(matches(parsed([{ field: "tx.hash", op: "eq", value: "AB" }]), tx({}))).toBe(true);
  });
});
