import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../../../src/platform/base/bytes.ts";
import { buildRequest, parseForm } from "../../../../../src/localnet/node/rest/request-message.ts";
import { createRouteTable } from "../../../../../src/localnet/node/rest/route-table.ts";
import { QueryRegisteredQueriesRequest } from "../../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";

const PATH = "/neutron.interchainqueries.Query/RegisteredQueries";
const table = createRouteTable([PATH], "neutron");

function build(query: string): Uint8Array {
  const found = table.find("GET", ["neutron", "interchainqueries", "registered_queries"]);
  if (found === undefined) throw new Error("no route");
  return buildRequest(found, { form: () => parseForm(query), body: utf8(""), chainName: "neutron" });
}

/** Any character, and often those with a meaning in a query. */
const character = fc.oneof(
  fc.string({ unit: "binary", maxLength: 1 }),
  fc.constantFrom(...Array.from(" +%&=;[].,")),
);
const text = fc.string({ unit: character, maxLength: 20 });
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

/** Parameters that fail whatever stands beside them, with the text of the gateway. */
const BAD_PARAMETERS = [
  ["pagination=1", "field type *reflect.rtype is not supported in query parameters"],
  ["owners.x=1", "unexpected repeated field in owners.x"],
  ["connection_id.x=1", "unexpected nested field x in connection_id"],
  ["pagination.key=A", "illegal base64 data at input byte 0"],
  ["pagination.limit=-1", 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ["pagination.reverse=yes", 'strconv.ParseBool: parsing "yes": invalid syntax'],
  ["nosuch=1;2", "invalid semicolon separator in query"],
  ["nosuch=%zz", 'invalid URL escape "%zz"'],
] as const;

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

  it("in brackets are the first value of a list", () => {
    const key = fc.string({ unit: fc.constantFrom("a", "1", "."), maxLength: 4 });
    fc.assert(
      fc.property(key, text, (inBrackets, value) => {
        const { owners } = QueryRegisteredQueriesRequest.decode(
          build(`owners[${inBrackets}]=${encodeURIComponent(value)}`),
        );
        expect(owners).toEqual([inBrackets, value]);
      }),
    );
  });

  it("are refused for one bad parameter among good ones", () => {
    const good = fc
      .tuple(fc.constantFrom("owners", "connection_id", "nosuch"), text)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const bad = fc.constantFrom(...BAD_PARAMETERS);
    fc.assert(
      fc.property(fc.array(good, { maxLength: 5 }), fc.nat(5), bad, (pairs, at, [pair, reason]) => {
        const query = pairs.toSpliced(at, 0, pair).join("&");
        expect(() => build(query)).toThrow(new Error(reason));
        expect(build(pairs.join("&"))).toBeInstanceOf(Uint8Array);
      }),
      { numRuns: 300 },
    );
  });

  it("fail only with a plain error, for any text", () => {
    const outcomes = { built: 0, refused: 0 };
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
          build(pieces.join(""));
          outcomes.built += 1;
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Error);
          expect(String(thrown)).not.toContain("this is a bug");
          // `TypeError` and the other built-in errors are bugs.
          expect(Object.getPrototypeOf(thrown)).toBe(Error.prototype);
          outcomes.refused += 1;
        }
      }),
      { numRuns: 2000 },
    );
    expect(outcomes.built).toBeGreaterThan(200);
    expect(outcomes.refused).toBeGreaterThan(200);
  });
});
