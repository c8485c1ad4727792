import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../src/platform/base/bytes.ts";
import type { SearchPage, TxSearchParams } from "../../src/cosmos/client/chain-client.ts";
import { findTxs, whyRefused } from "../../src/relayer/tx/tx-finder.ts";
import { planSearch } from "../../src/relayer/tx/tx-cycle.ts";

const signal = new AbortController().signal;

function tx(height: number, index: number, code = 0): SearchPage["txs"][number] {
  const bytes = new Uint8Array(utf8(`${height}/${index}`));
  const proof = { total: 1, index, leafHash: bytes, aunts: [] };
  return {
    tx: bytes,
    hash: bytes,
    height,
    index,
    result: { code, events: [], gasWanted: 1n, gasUsed: 1n, log: "", codespace: "" },
    proof: { data: bytes, rootHash: bytes, proof },
  };
}

/** A node with these transactions; `requests` records the searches. */
function node(txs: readonly SearchPage["txs"][number][]) {
  const requests: TxSearchParams[] = [];
  const txSearch = async (params: TxSearchParams): Promise<SearchPage> => {
    requests.push(params);
    const { page = 1, per_page: size = 30 } = params;
    return { txs: txs.slice((page - 1) * size, page * size), totalCount: txs.length };
  };
  return { requests, txSearch };
}

const search = { conditions: [], range: { from: 10n, to: 90n }, isHandled: () => false };
const placesOf = (found: readonly SearchPage["txs"][number][]): readonly string[] =>
  found.map(({ height, index }) => `${height}/${index}`);

describe("findTxs", () => {
  it("requests proofs in ascending order, and leaves out failed, handled and out-of-range transactions", async () => {
    const chain = node([tx(10, 0), tx(10, 1, 5), tx(11, 0), tx(12, 0), tx(91, 0)]);
    const handled = toHex(utf8("11/0"));
    const { found, upTo } = await findTxs(
      chain,
      { ...search, isHandled: (hash) => hash === handled },
      signal,
    );
    expect(placesOf(found)).toEqual(["10/0", "12/0"]);
    expect(upTo).toBe(90n);
    expect(chain.requests).toEqual([
      { query: "tx.height>=10 AND tx.height<=90", prove: true, page: 1, per_page: 50, order_by: "asc" },
    ]);
  });

  it("reads all pages", async () => {
    const chain = node(Array.from({ length: 120 }, (_, index) => tx(10 + Math.floor(index / 3), index % 3)));
    const { found, upTo } = await findTxs(chain, search, signal);
    expect([found.length, upTo, chain.requests.length]).toEqual([120, 90n, 3]);
  });

  it("ends a long search at the end of a block", async () => {
    const all = Array.from({ length: 560 }, (_, index) => tx(10 + Math.floor(index / 7), index % 7));
    const { found, upTo } = await findTxs(node(all), search, signal);
    expect(found.length).toBeGreaterThanOrEqual(190);
    expect(found.length).toBeLessThanOrEqual(250);
    expect(placesOf(found)).toEqual(placesOf(all.filter(({ height }) => BigInt(height) <= upTo)));
  });

  it("limits the pages when no transaction is wanted", async () => {
    const all = Array.from({ length: 12_000 }, (_, index) =>
      tx(10 + Math.floor(index / 160), index % 160, 5),
    );
    const chain = node(all);
    const { found, upTo } = await findTxs(chain, search, signal);
    expect(found).toEqual([]);
    expect(chain.requests.length).toBe(200);
    expect(upTo).toBe(71n);
  });

  it("reads a block to its end", async () => {
    const all = Array.from({ length: 1_000 }, (_, index) => tx(10, index));
    const { found, upTo } = await findTxs(node(all), search, signal);
    expect([found.length, upTo]).toEqual([1_000, 90n]);
  });

  it("throws when the list of a node never ends", async () => {
    const endless = { txSearch: async () => ({ txs: [tx(10, 0)], totalCount: 10 ** 9 }) };
    await expect(findTxs(endless, search, signal)).rejects.toThrow("more than 2000 pages");
  });

  it("rejects on abort, even when the node never answers", async () => {
    const stop = new AbortController();
    const silent = { txSearch: () => new Promise<never>(() => {}) };
    const found = findTxs(silent, search, stop.signal);
    stop.abort(new Error("asked to stop"));
    await expect(found).rejects.toThrow("asked to stop");
  });
});

describe("planSearch", () => {
  it.each<readonly [string, bigint | undefined, bigint, readonly [bigint, bigint] | undefined]>([
    ["continues after the last search", 70n, 90n, [71n, 90n]],
    ["starts the lookback before the tip", undefined, 500n, [401n, 500n]],
    ["starts at block 1 of a chain shorter than the lookback", undefined, 50n, [1n, 50n]],
    ["returns nothing at the tip", 90n, 90n, undefined],
    ["returns nothing for an endpoint that is behind", 90n, 75n, undefined],
    ["starts again on a chain that was reset", 900n, 75n, [1n, 75n]],
    ["limits the range", 70n, 9_000n, [71n, 5_070n]],
  ])("%s", (_case, done, tip, range) => {
    const planned = planSearch(done, tip, 100n);
    expect(planned && [planned.from, planned.to]).toEqual(range);
  });
});

describe("whyRefused", () => {
  const conditions = [{ field: "transfer.recipient", op: "=", value: "bob" }] as const;
  const paying = (key: string, value: string): SearchPage["txs"][number] => {
    const one = tx(20, 0);
    const events = [{ type: "transfer", attributes: [{ key, value }] }];
    return { ...one, result: { ...one.result, events } };
  };
  const asked = { ...search, conditions };

  it("says when a node found a transaction for the filter whose events do not have what it asks for", () => {
    expect(whyRefused(asked, { txs: [paying("recipient", "bob")], totalCount: 1 })).toBeUndefined();
    expect(whyRefused(asked, { txs: [paying("6e61", "6f62")], totalCount: 1 })).toContain(
      "their format is unknown",
    );
  });

  it("says nothing of failed transactions, other blocks, and a filter that a search text cannot express", () => {
    const other = paying("recipient", "eve");
    const failed = { ...other, result: { ...other.result, code: 5 } };
    const later = { ...other, height: 91 };
    expect(whyRefused(asked, { txs: [failed, later], totalCount: 2 })).toBeUndefined();
    const quoted = [{ field: "transfer.recipient", op: "=", value: "o'b" }] as const;
    expect(whyRefused({ ...search, conditions: quoted }, { txs: [other], totalCount: 1 })).toBeUndefined();
  });
});
