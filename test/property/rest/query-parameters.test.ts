import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../src/base/bytes.ts";
import { parseForm } from "../../../src/node/rest/form.ts";
import { buildRequest } from "../../../src/node/rest/request-message.ts";
import { createRouteTable } from "../../../src/node/rest/route-table.ts";
import { QueryRegisteredQueriesRequest } from "../../../src/proto/gen/neutron/interchainqueries/query.ts";

const PATH = "/neutron.interchainqueries.Query/RegisteredQueries";
const table = createRouteTable([PATH], "neutron");

function build(query: string): Uint8Array {
  const found = table.find("GET", ["neutron", "interchainqueries", "registered_queries"]);
  if (found === undefined) throw new Error("no route");
  return buildRequest(found, { form: () => parseForm(query), body: utf8(""), chainName: "neutron" });
}

const text = fc.string({ unit: "binary", maxLength: 20 });
const request = fc.record({
  owners: fc.array(text, { maxLength: 4 }),
  connectionId: text,
  pagination: fc.record({
    key: fc.uint8Array({ maxLength: 12 }),
    offset: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    limit: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    countTotal: fc.boolean(),
    reverse: fc.boolean(),
  }),
});

/** Writes a number in one of Go's notations. */
const notation = fc.constantFrom(
  (value: bigint) => value.toString(),
  (value: bigint) => `0x${value.toString(16)}`,
  (value: bigint) => `0o${value.toString(8)}`,
  (value: bigint) => `0${value.toString(8)}`,
  (value: bigint) => `0b${value.toString(2)}`,
);

describe("query parameters", () => {
  it("build the request for all characters, notations and base64 alphabets", () => {
    fc.assert(
      fc.property(request, notation, fc.boolean(), (wanted, write, forUrl) => {
        const { pagination: page } = wanted;
        const key = forUrl
          ? toBase64(page.key).replaceAll("+", "-").replaceAll("/", "_")
          : toBase64(page.key);
        const query = new URLSearchParams([
          ...wanted.owners.map((owner): [string, string] => ["owners", owner]),
          ["connection_id", wanted.connectionId],
          ["pagination.key", key],
          ["pagination.offset", write(page.offset)],
          ["pagination.limit", write(page.limit)],
          ["pagination.count_total", String(page.countTotal)],
          ["pagination.reverse", page.reverse ? "T" : "0"],
        ]);
        expect(QueryRegisteredQueriesRequest.decode(build(query.toString()))).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  it("fail only with a plain error, for any text", () => {
    const piece = fc.constantFrom(
      "owners",
      "pagination",
      "pagination.key",
      ".",
      "[",
      "]",
      "=",
      "&",
      ";",
      "%",
      "%41",
      "1",
      "x",
      "_",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          expect(build(pieces.join(""))).toBeInstanceOf(Uint8Array);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Error);
          expect(String(thrown)).not.toContain("this is a bug");
          expect(thrown).not.toBeInstanceOf(TypeError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
