import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256, toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { ChainEvent } from "../../../../src/localnet/chain/runtime/context.ts";
import { matchesSearch, parseQuery } from "../../../../src/localnet/node/query-language/parse-query.ts";
import { openBlockStore } from "../../../../src/localnet/node/storage/block-store.ts";
import { searchBlocks, searchTxs } from "../../../../src/localnet/node/storage/search.ts";
import { type HeightEvents, storedHeight } from "../../../support/stored-height.ts";

// Mostly few values, so that different events of one transaction often satisfy different conditions.
const types = fc.constantFrom("a", "a", "a", "b", "");
const keys = fc.constantFrom("k", "k", "l", "l", "");
const values = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("5", "alice") },
  fc.constantFrom("", "05", "7.5", "7untrn", "alice's", "ali", "2026-11-21T12:00:00Z"),
);
const indexes = fc.constantFrom(true, true, true, false);
const event: fc.Arbitrary<ChainEvent> = fc.record({
  type: types,
  attributes: fc.array(fc.record({ key: keys, value: values, index: indexes }), { maxLength: 3 }),
});
const events = fc.array(event, { maxLength: 3 });
const height: fc.Arbitrary<HeightEvents> = fc.record({
  txs: fc.array(events, { maxLength: 3 }),
  block: events,
});

const tag = fc.constantFrom("a.k", "a.k", "a.l", "a.l", "b.k", "none.such");
const condition = fc.oneof(
  tag.map((name) => `${name} EXISTS`),
  fc.tuple(tag, fc.constantFrom("", "5", "alice")).map(([name, text]) => `${name} = '${text}'`),
  fc.tuple(tag, fc.constantFrom("", "li", "5")).map(([name, text]) => `${name} CONTAINS '${text}'`),
  fc
    .tuple(tag, fc.constantFrom("=", "<", "<=", ">", ">="), fc.constantFrom("5", "7.5", "0"))
    .map((parts) => parts.join(" ")),
  fc.constantFrom("<", ">=").map((operator) => `a.k ${operator} TIME 2026-11-21T12:00:00Z`),
);
const own = fc.oneof(
  fc
    .tuple(fc.constantFrom("=", "<", "<=", ">", ">="), fc.constantFrom("1", "2", "3", "2.5", "0"))
    .map(([operator, text]) => `HEIGHT ${operator} ${text}`),
  fc.constantFrom("HEIGHT EXISTS", "HEIGHT = '2'", "HEIGHT CONTAINS '1'", "HEIGHT < DATE 2026-11-21"),
);
const hash = fc.constantFrom("tx.hash EXISTS", "tx.hash CONTAINS 'A'", "tx.hash CONTAINS 'a'");
/** Two conditions that often hold in different events of one transaction, and seldom in one event. */
const pair = fc
  .tuple(
    fc.constantFrom("a.k EXISTS", "a.k = 'alice'", "a.k = 5", "a.k CONTAINS 'li'"),
    fc.constantFrom("a.l EXISTS", "a.l = 'alice'", "a.l = 5"),
  )
  .map((both) => both.join(" AND "));
const query = (conditions: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    pair,
    fc.array(conditions, { minLength: 1, maxLength: 4 }).map((all) => all.join(" AND ")),
  );

/** Returns all pages of a search. */
function allPages<T>(search: (page: number) => { readonly items: Iterable<T>; readonly total: number }): T[] {
  const { items, total } = search(1);
  const found = [...items];
  for (let page = 2; found.length < total; page++) found.push(...search(page).items);
  return found;
}

describe("a search by the index", () => {
  it("finds the transactions that a scan finds, in both orders", () => {
    let matches = 0;
    const check = fc.property(
      fc.array(height, { minLength: 2, maxLength: 4 }),
      query(fc.oneof(condition, own, hash)),
      fc.constantFrom("asc", "desc"),
      (chain, template, order) => {
        const text = template.replaceAll("HEIGHT", "tx.height");
        const store = openBlockStore(undefined);
        chain.forEach((one, at) => store.save(storedHeight(BigInt(at + 1), one)));
        const expected = chain.flatMap(({ txs }, at) =>
          txs.flatMap((emitted, position) => {
            const tx = `tx ${at + 1}/${position}`;
            const tags = new Map([
              ["tx.height", `${at + 1}`],
              ["tx.hash", toHex(sha256(utf8(tx))).toUpperCase()],
            ]);
            return matchesSearch(parseQuery(text), tags, emitted) ? [tx] : [];
          }),
        );
        const found = allPages((page) => searchTxs(store, { query: text, order, page, perPage: 2 }));
        const texts = found.map(({ tx }) => new TextDecoder().decode(tx));
        expect(order === "asc" ? texts : texts.toReversed()).toEqual(expected);
        matches += expected.length;
        store.close();
      },
    );
    fc.assert(check, { numRuns: 400 });
    // The queries are no test when they match nothing.
    expect(matches).toBeGreaterThan(100);
  });

  it("finds the blocks that a scan finds", () => {
    let matches = 0;
    const check = fc.property(
      fc.array(height, { minLength: 2, maxLength: 4 }),
      query(fc.oneof(condition, own)),
      fc.constantFrom("asc", "desc"),
      (chain, template, order) => {
        const text = template.replaceAll("HEIGHT", "block.height");
        const store = openBlockStore(undefined);
        chain.forEach((one, at) => store.save(storedHeight(BigInt(at + 1), one)));
        const expected = chain.flatMap(({ block }, at) =>
          matchesSearch(parseQuery(text), new Map([["block.height", `${at + 1}`]]), block)
            ? [BigInt(at + 1)]
            : [],
        );
        const found = allPages((page) => searchBlocks(store, { query: text, order, page, perPage: 2 }));
        const heights = found.map(({ header }) => header.height);
        expect(order === "asc" ? heights : heights.toReversed()).toEqual(expected);
        matches += expected.length;
        store.close();
      },
    );
    fc.assert(check, { numRuns: 300 });
    expect(matches).toBeGreaterThan(20);
  });
});
