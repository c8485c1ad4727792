import { describe, expect, it } from "vitest";
import type { BlockRange, SearchPage, TxSearcher } from "../../src/cosmos/client/chain-client.ts";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { verifySimpleProof } from "../../src/cosmos/merkle/simple-tree.ts";
import { sha256, toHex, utf8 } from "../../src/platform/base/bytes.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { splitPruned } from "../../src/relayer/tx/tx-cycle.ts";
import { createTxFinder, MAX_BLOCKS_PER_SCAN } from "../../src/relayer/tx/tx-finder.ts";

const signal = new AbortController().signal;

interface Tx {
  readonly text: string;
  readonly code: number;
  readonly to: string;
}

/** A node with blocks of transactions. `error` is the text of its answer to a search. */
function node(
  blocks: ReadonlyMap<number, readonly Tx[]>,
  search: {
    error?: string;
    indexed?: number;
    counted?: boolean;
    results?: number;
    miscounted?: number;
    busy?: boolean;
  },
) {
  const calls: string[] = [];
  const txsAt = (height = 0): readonly Tx[] => blocks.get(height) ?? [];
  return {
    calls,
    distrusted: new Set<string>(),
    txSearch: async (): Promise<SearchPage> => {
      calls.push("tx_search");
      if (search.error === undefined) return { txs: [], totalCount: search.indexed ?? 0 };
      const facts = { code: "rpc", endpoint: "n", method: "tx_search", rpcCode: -32603, data: search.error };
      throw new ClientError({ ...facts, code: "rpc" }, search.error);
    },
    txCounts: async ({ from, to }: BlockRange) => {
      if (search.busy === true)
        throw new ClientError(
          { code: "timeout", endpoint: "n", method: "blockchain", afterMs: 1 },
          "no response within 1 ms",
        );
      if (search.indexed === undefined && search.counted !== true) throw new Error("blockchain is disabled");
      calls.push(`blockchain ${from} ${to}`);
      const heights = Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index);
      return new Map(
        heights.map((height) => [
          BigInt(height),
          txsAt(height).length + (height === 10 ? (search.miscounted ?? 0) : 0),
        ]),
      );
    },
    blockResults: async (height?: number) => {
      calls.push(`block_results ${height}`);
      const results = txsAt(height).map(({ code, to }) => ({
        code,
        events: [{ type: "transfer", attributes: [{ key: "recipient", value: to }] }],
        gasWanted: 1n,
        gasUsed: 1n,
      }));
      return { results: results.slice(0, search.results), finalizeBlockEvents: [], endpoint: "n" };
    },
    block: async (height?: number) => {
      calls.push(`block ${height}`);
      const txs = txsAt(height).map(({ text }) => new Uint8Array(utf8(text)));
      return { block: { txs }, endpoint: "b" };
    },
  };
}

function finder(chain: ReturnType<typeof node>) {
  const lines: string[] = [];
  let nowMs = 0;
  const logger = {
    ...silentLogger,
    warn: (message: string) => void lines.push(message),
    info: (message: string) => void lines.push(message),
  };
  const clock = { monotonicMs: () => nowMs };
  const searched: BlockRange[] = [];
  const cometWith = (range: BlockRange, check?: (page: SearchPage) => string | undefined): TxSearcher => {
    searched.push(range);
    return {
      txSearch: async () => {
        const page = await chain.txSearch();
        const problem = check?.(page);
        if (problem === undefined) return page;
        throw new ClientError({ code: "bad-answer", endpoint: "n", where: "tx_search" }, `n: ${problem}`);
      },
    };
  };
  return {
    lines,
    pass: (ms: number) => (nowMs += ms),
    searched,
    ...createTxFinder(
      {
        comet: chain,
        cometWith,
        txCounts: chain.txCounts,
        distrust: (endpoint) => void chain.distrusted.add(endpoint),
      },
      { connectionId: "connection-0", clock, logger },
    ),
  };
}

const NO_INDEX = "transaction indexing is disabled";
const blocks = new Map([
  [
    10,
    [
      { text: "a", code: 0, to: "bob" },
      { text: "b", code: 5, to: "bob" },
      { text: "c", code: 0, to: "eve" },
      { text: "d", code: 0, to: "bob" },
    ],
  ],
  [12, [{ text: "e", code: 0, to: "bob" }]],
]);
const search = {
  conditions: [{ field: "transfer.recipient", op: "=", value: "bob" }],
  range: { from: 9n, to: 14n },
  isHandled: () => false,
} as const;

describe("a finder", () => {
  it("scans blocks when the node has no index: successful matches in the order of the chain, with their proofs", async () => {
    const { found, upTo } = await finder(node(blocks, { error: NO_INDEX })).find(search, signal);
    expect(upTo).toBe(14n);
    expect(found.map(({ height, index, tx }) => [height, index, new TextDecoder().decode(tx)])).toEqual([
      [10, 0, "a"],
      [10, 3, "d"],
      [12, 0, "e"],
    ]);
    for (const { tx, hash, proof } of found) {
      expect(toHex(hash)).toBe(toHex(sha256(tx)));
      const { total, index, leafHash, aunts } = proof.proof;
      const inclusion = { total: BigInt(total), index: BigInt(index), leafHash, aunts };
      expect(verifySimpleProof(proof.rootHash, sha256(tx), inclusion).ok).toBe(true);
    }
  });

  it("reads a block only when its results match, and leaves out what was handled", async () => {
    const chain = node(blocks, { error: NO_INDEX, counted: true });
    const handled = toHex(sha256(utf8("d")));
    const isHandled = (hash: string): boolean => hash === handled;
    const { found } = await finder(chain).find({ ...search, isHandled }, signal);
    expect(found.map(({ index }) => index)).toEqual([0, 0]);
    expect(chain.calls.filter((call) => call.startsWith("block "))).toEqual(["block 10", "block 12"]);
    expect(chain.calls.filter((call) => call.startsWith("block_results "))).toHaveLength(6);
  });

  it.each([true, false])(
    "does not take a block as searched when a node leaves out results, and asks others before it (counted: %s)",
    async (counted) => {
      const chain = node(blocks, { error: NO_INDEX, counted, results: 0 });
      const one = finder(chain);
      const short = "remote block 10: 0 results of 4 transactions";
      await expect(one.find(search, signal)).rejects.toThrow(short);
      await expect(one.find(search, signal)).rejects.toThrow(short);
      expect([...chain.distrusted]).toEqual(["n"]);
    },
  );

  it("counts each range that it scans, and doubts no endpoint because of a number that was wrong", async () => {
    const chain = node(blocks, { error: NO_INDEX, counted: true, miscounted: 1 });
    const one = finder(chain);
    const nobody = {
      ...search,
      conditions: [{ field: "transfer.recipient", op: "=", value: "nobody" }],
    } as const;
    expect(await one.find(nobody, signal)).toEqual({ found: [], upTo: 14n });
    expect(await one.find(nobody, signal)).toEqual({ found: [], upTo: 14n });
    // The block has said how many there are.
    expect(chain.calls.filter((call) => call.startsWith("block "))).toEqual(["block 10"]);
    expect((await one.find(search, signal)).found).toHaveLength(3);
    expect([...chain.distrusted]).toEqual([]);
    await one.find({ ...search, range: { from: 15n, to: 20n } }, signal);
    expect(chain.calls).toContain("blockchain 15 20");
  });

  it("searches on nodes that have the whole range, and the block after it: the last block is in their index then", async () => {
    const one = finder(node(blocks, {}));
    await one.find(search, signal);
    expect(one.searched).toEqual([{ from: 9n, to: 15n }]);
  });

  it("counts the transactions of new blocks once for all queries, and searches a whole index", async () => {
    const chain = node(blocks, { indexed: 5 });
    const one = finder(chain);
    expect(await one.find(search, signal)).toEqual({ found: [], upTo: 14n });
    await one.find({ ...search, conditions: [] }, signal);
    expect(chain.calls.toSorted()).toEqual(["blockchain 9 14", "tx_search", "tx_search", "tx_search"]);
    expect(one.lines).toEqual([]);
  });

  it("scans blocks, and says why, when the index lacks transactions of the blocks", async () => {
    const one = finder(node(blocks, { indexed: 4 }));
    expect((await one.find(search, signal)).found).toHaveLength(3);
    expect(one.lines).toEqual([expect.stringContaining("no transaction index that can be used")]);
  });

  it("waits for the count while no node responds, because the index may lack transactions", async () => {
    const state = { indexed: 4, busy: true };
    const one = finder(node(blocks, state));
    await expect(one.find(search, signal)).rejects.toThrow("no response within 1 ms");
    state.busy = false;
    expect((await one.find(search, signal)).found).toHaveLength(3);
    // A scan reads every block if it has no count.
    const scanned = finder(node(blocks, { error: NO_INDEX, busy: true }));
    expect((await scanned.find(search, signal)).found).toHaveLength(3);
  });

  it("counts the transactions of a long search too, each block once", async () => {
    const chain = node(blocks, { indexed: 5 });
    const one = finder(chain);
    const counted = () => chain.calls.splice(0).filter((call) => call.startsWith("blockchain"));
    await one.find({ ...search, range: { from: 1n, to: 5_000n } }, signal);
    expect(counted()).toHaveLength(250);
    await one.find({ ...search, range: { from: 4_000n, to: 5_030n } }, signal);
    expect(counted()).toEqual(["blockchain 5001 5020", "blockchain 5021 5030"]);
    const holes = finder(node(blocks, { indexed: 4 }));
    await holes.find({ ...search, range: { from: 1n, to: 5_000n } }, signal);
    expect(holes.lines).toEqual([expect.stringContaining("no transaction index that can be used")]);
  });

  it("says once that there is no index, does not ask again at once, and says when there is one", async () => {
    const state: { error?: string } = { error: NO_INDEX };
    const chain = node(blocks, state);
    const one = finder(chain);
    await one.find(search, signal);
    await one.find(search, signal);
    expect(chain.calls.filter((call) => call === "tx_search")).toHaveLength(1);
    one.pass(600_001);
    await one.find(search, signal);
    expect(one.lines).toEqual([expect.stringContaining("has no transaction index that can be used")]);
    delete state.error;
    one.pass(600_001);
    expect(await one.find(search, signal)).toEqual({ found: [], upTo: 14n });
    expect(one.lines).toHaveLength(2);
    expect(one.lines[1]).toContain("can be used again");
  });

  it.each([
    "offset 12: got invalid, wanted operator",
    "maximum query length exceeded",
    "failed to parse query",
  ])("scans for a text that the node refuses with %j, and searches the next one", async (error) => {
    const chain = node(blocks, { error });
    const one = finder(chain);
    expect((await one.find(search, signal)).found).toHaveLength(3);
    await one.find(search, signal);
    expect(chain.calls.filter((call) => call === "tx_search")).toHaveLength(2);
    expect(one.lines).toEqual([]);
  });

  it("does not scan after any other error", async () => {
    const chain = node(blocks, { error: "context deadline exceeded" });
    await expect(finder(chain).find(search, signal)).rejects.toThrow("context deadline exceeded");
    expect(chain.calls).toEqual(["tx_search"]);
  });

  it("compares a condition on the hash, which the results do not have", async () => {
    const hash = toHex(sha256(utf8("e"))).toUpperCase();
    const conditions = [{ field: "tx.hash", op: "=", value: hash }] as const;
    const { found } = await finder(node(blocks, { error: NO_INDEX })).find({ ...search, conditions }, signal);
    expect(found.map(({ height }) => height)).toEqual([12]);
  });

  it("limits the blocks of one scan", async () => {
    const chain = node(blocks, { error: NO_INDEX });
    const { upTo } = await finder(chain).find({ ...search, range: { from: 9n, to: 9_000n } }, signal);
    expect(upTo).toBe(8n + MAX_BLOCKS_PER_SCAN);
    expect(chain.calls.filter((call) => call.startsWith("block_results "))).toHaveLength(
      Number(MAX_BLOCKS_PER_SCAN),
    );
  });
});

describe("splitPruned", () => {
  const range = { from: 10n, to: 20n };
  it.each([
    [5n, undefined, range],
    [10n, undefined, range],
    [11n, { from: 10n, to: 10n }, { from: 11n, to: 20n }],
    [20n, { from: 10n, to: 19n }, { from: 20n, to: 20n }],
    [21n, range, undefined],
  ])("at %s", (earliest, pruned, left) => {
    expect(splitPruned(range, earliest)).toEqual({ pruned, left });
  });
});
