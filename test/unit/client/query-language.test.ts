import { describe, expect, it } from "vitest";
import { queryText, QueryTextError, subscriptionText } from "../../../src/client/read/query-language.ts";

describe("a query's text", () => {
  it("joins conditions as a node takes them", () => {
    expect(
      queryText([
        { key: "tx.height", operator: ">", value: 100n },
        { key: "tx.height", operator: "<=", value: 400n },
        { key: "message.module", operator: "=", value: "interchainqueries" },
        { key: "message.action", operator: "CONTAINS", value: "Submit" },
        { key: "transfer.recipient", operator: "EXISTS" },
      ]),
    ).toBe(
      "tx.height>100 AND tx.height<=400 AND message.module='interchainqueries' AND message.action CONTAINS 'Submit' AND transfer.recipient EXISTS",
    );
  });

  it("of a subscription begins with the kind of event", () => {
    expect(subscriptionText("NewBlockHeader")).toBe("tm.event='NewBlockHeader'");
    expect(subscriptionText("Tx", [{ key: "neutron.action", operator: "=", value: "query_updated" }])).toBe(
      "tm.event='Tx' AND neutron.action='query_updated'",
    );
  });

  it("is refused when the language cannot express it", () => {
    expect(() => queryText([])).toThrow(QueryTextError);
    expect(() => queryText([{ key: "a b", operator: "EXISTS" }])).toThrow(QueryTextError);
    expect(() => queryText([{ key: "a", operator: "=", value: "it's" }])).toThrow(QueryTextError);
    expect(() => queryText([{ key: "a", operator: "=", value: "line\nbreak" }])).toThrow(QueryTextError);
    expect(() => subscriptionText("Tx", [{ key: "a", operator: "=", value: "x".repeat(512) }])).toThrow(
      /512/,
    );
  });
});
