import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { event } from "../../../src/localnet/chain/runtime/context.ts";
import {
  matchesSearch,
  matchesTags,
  parseQuery,
  tagsOf,
} from "../../../src/localnet/node/query-language/parse-query.ts";

describe("the event query language", () => {
  it.each([
    ["tm.event='NewBlock'", [["tm.event", "="]]],
    [
      "tm.event = 'Tx' AND tx.height > 5",
      [
        ["tm.event", "="],
        ["tx.height", ">"],
      ],
    ],
    [
      "a.b EXISTS AND c.d CONTAINS 'x y'",
      [
        ["a.b", "EXISTS"],
        ["c.d", "CONTAINS"],
      ],
    ],
    [
      "a.b<=1.5 AND a.b>=0",
      [
        ["a.b", "<="],
        ["a.b", ">="],
      ],
    ],
    [
      "when.at > TIME 2026-11-21T12:00:00Z AND when.day = DATE 2026-11-21",
      [
        ["when.at", ">"],
        ["when.day", "="],
      ],
    ],
    ["AND.x='AND'", [["AND.x", "="]]],
  ])("parses %s", (text, conditions) => {
    expect(parseQuery(text).conditions.map(({ tag, operator }) => [tag, operator])).toEqual(conditions);
  });

  it.each([
    ["", "offset 0: EOF"],
    ["   ", "offset 3: EOF"],
    ["tx.height==", "offset 10: got = operator, wanted number, timestamp, datestamp or string"],
    ["tm.event = 'Tx' AND broken", "offset 26: EOF"],
    ["tm.event = 'Tx' OR a.b = 1", "offset 16: got tag, wanted AND operator"],
    ["tm.event", "offset 8: EOF"],
    ["= 5", "offset 0: got = operator, wanted tag"],
    ["a.b < 'text'", "offset 6: got string, wanted number, timestamp or datestamp"],
    ["a.b CONTAINS 5", "offset 13: got number, wanted string"],
    ["a.b = 'open", "offset 6: EOF"],
    ["a.b = 1 AND", "offset 11: EOF"],
    ["a.b # 1", "offset 4: invalid input '#' at offset 5"],
    ["ä.b = 'é' AND", "offset 15: EOF"],
  ])("rejects %j with %j", (text, message) => {
    expect(() => parseQuery(text)).toThrow(expect.objectContaining({ message }));
  });

  it.each(["TIME 2026-13-01T00:00:00Z", "TIME 1899-01-01T00:00:00Z", "DATE 2026-02-99", "TIME soon"])(
    "refuses the moment %s",
    (moment) => expect(() => parseQuery(`a.b > ${moment}`)).toThrow(/invalid (TIME|DATE) value/),
  );

  it("round-trips any quoted text", () => {
    const word = fc.string({ minLength: 0, maxLength: 30 }).filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(word, word, (value, other) => {
        const query = parseQuery(`kv.key = '${value}'`);
        expect(matchesTags(query, new Map([["kv.key", [value]]]))).toBe(true);
        expect(matchesTags(query, new Map([["kv.key", [other]]]))).toBe(value === other);
      }),
    );
  });

  it("throws no other error than its own", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        try {
          parseQuery(text);
        } catch (error) {
          expect(error).toHaveProperty("facts.code", "bad-query");
        }
      }),
    );
  });
});

describe("matching", () => {
  const events = [
    event("transfer", [
      ["amount", "100untrn"],
      ["recipient", "alice"],
    ]),
    event("transfer", [
      ["amount", "7untrn"],
      ["recipient", "bob"],
    ]),
    event("when", [["at", "2026-11-21T12:00:00.5Z"]]),
  ];
  const tags = tagsOf(events, [["tm.event", "Tx"]]);
  const fixed = new Map([["tx.height", "12"]]);

  it.each([
    ["transfer.amount = 100", true],
    ["transfer.amount > 100", false],
    ["transfer.amount >= 99.5", true],
    ["transfer.recipient > 5", false],
    ["transfer.recipient CONTAINS 'lic'", true],
    ["when.at > TIME 2026-11-21T12:00:00Z", true],
    ["when.at < DATE 2026-11-21", false],
    ["transfer.recipient EXISTS AND tm.event = 'Tx'", true],
    ["none.such EXISTS", false],
  ])("of a subscription: %s is %s", (text, expected) => {
    expect(matchesTags(parseQuery(text), tags)).toBe(expected);
  });

  it("spans all events for a subscription, and one event for a search", () => {
    const query = parseQuery("transfer.recipient = 'alice' AND transfer.amount = '7untrn'");
    expect(matchesTags(query, tags)).toBe(true);
    expect(matchesSearch(query, fixed, events)).toBe(false);
    expect(
      matchesSearch(parseQuery("transfer.recipient='bob' AND transfer.amount='7untrn'"), fixed, events),
    ).toBe(true);
  });

  it.each([
    ["tx.height = 12", true],
    ["tx.height > 12", false],
    ["tx.height >= 12 AND transfer.recipient = 'bob'", true],
    ["tx.height < 12 AND transfer.recipient = 'bob'", false],
  ])("of a search: %s is %s", (text, expected) => {
    expect(matchesSearch(parseQuery(text), fixed, events)).toBe(expected);
  });

  it("ignores attributes without index flag in a search", () => {
    const hidden = { type: "a", attributes: [{ key: "b", value: "c", index: false }] };
    expect(matchesSearch(parseQuery("a.b = 'c'"), fixed, [hidden])).toBe(false);
  });
});
