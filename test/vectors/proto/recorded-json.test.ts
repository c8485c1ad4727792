// SOURCE: test/fixtures/rest.json, txs.json and interchainqueries/*.json, recorded from real nodes (see the notes in that folder).
import { describe, expect, it } from "vitest";
import { fromBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { ProtoError } from "../../../src/cosmos/proto/registry.ts";
import { type HttpRule, httpRules } from "../../../src/cosmos/proto/http-rules.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import { readFixtureList, textOf } from "../../support/proto/fixture.ts";

const TX = "cosmos.tx.v1beta1.Tx";

/** Recorded responses of modules without definitions. */
const OTHER_MODULES = ["/neutron/revenue/params", "/slinky/marketmap/v1/marketmap"];

describe("recorded REST responses", () => {
  const good = readFixtureList("rest.json").filter((call) => call["status"] === 200);

  it("are printed as the node printed them, with the members in the same order", () => {
    const unknown: string[] = [];
    for (const call of good) {
      const path = textOf(call, "path").split("?")[0] ?? "";
      const rule = findRule(textOf(call, "method"), path);
      if (rule === undefined) {
        unknown.push(path);
        continue;
      }
      const printed = messageToJson(rule.responseType, messageFromJson(rule.responseType, call["body"]));
      expect(JSON.stringify(printed), path).toBe(JSON.stringify(call["body"]));
    }
    expect(OTHER_MODULES).toEqual(expect.arrayContaining(unknown));
    expect(good.length).toBe(79);
  });
});

describe("recorded transactions", () => {
  const recorded = readFixtureList("txs.json");

  it("are printed as the node decoded them", () => {
    const decoded = recorded.filter((tx) => isRecord(tx["decoded"]));
    for (const tx of decoded) {
      const printed = messageToJson(TX, fromBase64(textOf(tx, "tx_base64")));
      expect(JSON.stringify(printed), textOf(tx, "query")).toBe(JSON.stringify(tx["decoded"]));
    }
    expect([decoded.length, recorded.length]).toEqual([38, 41]);
  });

  it("convert from JSON to the same bytes", () => {
    let withContractCall = 0;
    for (const tx of recorded) {
      const bytes = fromBase64(textOf(tx, "tx_base64"));
      const json = messageToJson(TX, bytes);
      // The JSON text of a contract message loses its whitespace.
      if (JSON.stringify(json).includes('"/cosmwasm.wasm.v1.')) withContractCall += 1;
      else expect(toHex(messageFromJson(TX, json)), textOf(tx, "query")).toBe(toHex(bytes));
      expect(messageToJson(TX, messageFromJson(TX, json))).toEqual(json);
    }
    expect(withContractCall).toBe(11);
  });
});

describe("recorded submissions", () => {
  it("in proto JSON encode, and print as the same JSON", () => {
    const cases = readFixtureList("interchainqueries/submit-cases.json");
    for (const each of cases) {
      const any = messageFromJson("google.protobuf.Any", each["message"]);
      expect(messageToJson("google.protobuf.Any", any), textOf(each, "name")).toEqual(
        withAllFields(each["message"]),
      );
    }
    expect(cases.length).toBe(18);
  });

  it("in bytes convert to JSON and back to the same bytes, except one with a header under a wrong type", () => {
    const broken: string[] = [];
    let count = 0;
    for (const each of readFixtureList("interchainqueries/tx-submit-cases.json")) {
      for (const bytes of encodedMessages(each)) {
        count += 1;
        if (!convertsBack(bytes)) broken.push(textOf(each, "name"));
      }
    }
    expect(broken).toEqual(["header of the wrong type"]);
    expect(count).toBe(22);
  });
});

function encodedMessages(each: Readonly<Record<string, unknown>>): readonly Uint8Array[] {
  const messages = each["messages_base64"];
  if (!Array.isArray(messages)) throw new Error("messages_base64 is not a list");
  return messages.map((text) => fromBase64(String(text)));
}

/** Throws unless the JSON converts to the same bytes. Returns false if an Any holds another message than its type URL says. */
function convertsBack(bytes: Uint8Array): boolean {
  const type = "neutron.interchainqueries.MsgSubmitQueryResult";
  try {
    expect(toHex(messageFromJson(type, messageToJson(type, bytes)))).toBe(toHex(bytes));
    return true;
  } catch (thrown) {
    if (thrown instanceof ProtoError && thrown.facts.code === "bad-bytes") return false;
    throw thrown;
  }
}

function findRule(method: string, path: string): HttpRule | undefined {
  return httpRules()
    .filter((rule) => rule.method === method && pattern(rule.template).test(path))
    .toSorted((a, b) => a.template.split("{").length - b.template.split("{").length)[0];
}

function pattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+=\*\*\}/g, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** The recordings have "" for empty bytes, which are printed as null. */
function withAllFields(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message), (_key, value: unknown) =>
    isRecord(value) ? emptyBytesToNull(value) : value,
  );
}

function emptyBytesToNull(value: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      ["key", "value", "data"].includes(name) && item === "" ? null : item,
    ]),
  );
}
