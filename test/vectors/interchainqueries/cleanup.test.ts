import { describe, expect, it } from "vitest";
import { sha256, uint64BigEndian } from "../../../src/platform/base/bytes.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-context.ts";
import * as keeper from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";

interface Case {
  readonly name: string;
  readonly limit: bigint;
  /** Number of transactions of query 1, 2, … */
  readonly queries: readonly number[];
  /** After each block: number of remaining transactions, ids of marked queries. */
  readonly blocks: readonly (readonly [left: number, marked: readonly bigint[]])[];
}

const CASES: readonly Case[] = [
  { name: "50 under the default limit", limit: 10_000n, queries: [50], blocks: [[0, []]] },
  { name: "two queries of 50", limit: 10_000n, queries: [50, 50], blocks: [[0, []]] },
  {
    name: "60 with limit 50",
    limit: 50n,
    queries: [60],
    blocks: [
      [10, [1n]],
      [0, []],
    ],
  },
  {
    name: "two queries of 30 with limit 50",
    limit: 50n,
    queries: [30, 30],
    blocks: [
      [10, [2n]],
      [0, []],
    ],
  },
  { name: "20000 without limit", limit: 0n, queries: [20_000], blocks: [[0, []]] },
  {
    name: "exactly the limit",
    limit: 50n,
    queries: [50],
    blocks: [
      [0, [1n]],
      [0, []],
    ],
  },
  { name: "no transactions", limit: 1n, queries: [0], blocks: [[0, []]] },
  {
    name: "as many queries as the limit each block",
    limit: 2n,
    queries: [0, 0, 0, 0, 0],
    blocks: [
      [0, [3n, 4n, 5n]],
      [0, [5n]],
      [0, []],
    ],
  },
];

describe("clean-up of removed TX queries", () => {
  it.each(CASES)("$name", ({ limit, queries, blocks }) => {
    const world = removedQueries(limit, queries);
    for (const [left, marked] of blocks) {
      keeper.cleanUpRemovedQueries(world.context());
      expect([...keeper.submittedTxs.entries(world.context())]).toHaveLength(left);
      expect([...keeper.removedTxQueries.entries(world.context())].map(([id]) => id)).toEqual(marked);
    }
  });

  it("keeps the transactions of queries that are not removed", () => {
    const world = removedQueries(0n, [3]);
    keeper.markSubmitted(world.context(), { queryId: 2n, hash: sha256(new Uint8Array([1])) });
    keeper.cleanUpRemovedQueries(world.context());
    expect([...keeper.submittedTxs.entries(world.context())].map(([tx]) => tx.queryId)).toEqual([2n]);
  });
});

function removedQueries(limit: bigint, queries: readonly number[]): MemoryWorld {
  const world = createMemoryWorld();
  const context = world.context();
  keeper.moduleParams.set(context, { ...keeper.defaultParams("untrn"), txQueryRemovalLimit: limit });
  for (const [index, count] of queries.entries()) {
    const queryId = BigInt(index + 1);
    keeper.markRemoved(context, queryId);
    for (let tx = 0; tx < count; tx += 1)
      keeper.markSubmitted(context, { queryId, hash: sha256(uint64BigEndian(BigInt(tx))) });
  }
  return world;
}
