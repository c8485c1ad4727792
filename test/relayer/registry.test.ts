import { describe, expect, it } from "vitest";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { answered, failed } from "../../src/relayer/registry/query-state.ts";
import type { RegisteredQuery } from "../../src/relayer/chain/registered-query.ts";
import { createRegistry } from "../../src/relayer/registry/registry.ts";
import { sampleQuery } from "./samples.ts";

const signal = new AbortController().signal;
const filter = { connectionIds: ["connection-0"], owners: [], queryIds: [], types: ["kv", "tx"] as const };
const updated = { action: "query_updated", connectionId: "connection-0" } as const;

function abci(log: string): ClientError {
  return new ClientError(
    { code: "abci", path: "/q", abciCode: 1100, codespace: "interchainqueries", log },
    log,
  );
}

/** A registry over a list of queries that the test can change. */
function setUp(initial: readonly RegisteredQuery[]) {
  const chain = new Map(initial.map((query) => [query.id, query]));
  const removed: bigint[] = [];
  const registry = createRegistry(filter, {
    local: {
      registeredQueries: async () => [...chain.values()],
      registeredQuery: async (id) => {
        const query = chain.get(id);
        if (query === undefined) throw abci(`invalid query id: there is no query with id: ${id}`);
        return query;
      },
    },
    localHeight: () => 50n,
    onRemoved: (id) => void removed.push(id),
  });
  const ids = (): readonly bigint[] => registry.states().map(({ query }) => query.id);
  const state = (id: bigint) => {
    const found = registry.states().find(({ query }) => query.id === id);
    if (found === undefined) throw new Error(`query ${id} is missing`);
    return found;
  };
  return { chain, removed, registry, ids, state };
}

describe("the registry", () => {
  it("has the queries of the chain, and reports removed ones", async () => {
    const { chain, removed, registry, ids } = setUp([sampleQuery({ id: 1n }), sampleQuery({ id: 2n })]);
    await registry.reload(0n, signal);
    expect(ids()).toEqual([1n, 2n]);
    chain.delete(1n);
    await registry.reload(0n, signal);
    expect([ids(), removed]).toEqual([[2n], [1n]]);
  });

  it("applies events, and reports a removal once", async () => {
    const { chain, removed, registry, ids } = setUp([]);
    chain.set(5n, sampleQuery({ id: 5n }));
    expect(await registry.apply({ ...updated, queryId: 5n }, 0n, signal)).toBe(true);
    expect(ids()).toEqual([5n]);
    const removal = { action: "query_removed", connectionId: "connection-0", queryId: 5n } as const;
    expect(await registry.apply(removal, 0n, signal)).toBe(true);
    expect(await registry.apply(removal, 0n, signal)).toBe(true);
    expect([ids(), removed]).toEqual([[], [5n]]);
  });

  it("ignores queries of other connections", async () => {
    const { chain, registry, ids } = setUp([]);
    chain.set(5n, sampleQuery({ id: 5n, connectionId: "connection-9" }));
    await registry.apply({ ...updated, queryId: 5n }, 0n, signal);
    await registry.apply({ ...updated, connectionId: "connection-9", queryId: 5n }, 0n, signal);
    expect(ids()).toEqual([]);
  });

  it("returns false when the chain does not have an announced query, and throws other errors", async () => {
    const { registry } = setUp([]);
    expect(await registry.apply({ ...updated, queryId: 8n }, 0n, signal)).toBe(false);
    const broken = createRegistry(filter, {
      local: {
        registeredQueries: async () => [],
        registeredQuery: async () => {
          throw abci("out of gas");
        },
      },
      localHeight: () => 0n,
      onRemoved: () => {},
    });
    await expect(broken.apply({ ...updated, queryId: 8n }, 0n, signal)).rejects.toThrow("out of gas");
  });

  it("returns false when no node has reached the block of the change, and asks for this block", async () => {
    const asked: unknown[] = [];
    const behind = createRegistry(filter, {
      local: {
        registeredQueries: async (_id, _signal, height) => {
          asked.push(height);
          return [];
        },
        registeredQuery: async (_id, _signal, height) => {
          asked.push(height);
          throw new ClientError({ code: "height-unavailable", endpoint: "a", height: 70n }, "a is behind");
        },
      },
      localHeight: () => 0n,
      onRemoved: () => {},
    });
    expect(await behind.apply({ ...updated, queryId: 8n }, 70n, signal)).toBe(false);
    await behind.reload(71n, signal);
    expect(asked).toEqual([{ atLeast: 70n }, { atLeast: 71n }]);
  });

  it("reads last results again: few alone, many with the lists of their connections", async () => {
    const reads: string[] = [];
    const all = Array.from({ length: 42 }, (_, index) =>
      sampleQuery({ id: BigInt(index), connectionId: `connection-${index % 2}` }),
    );
    const registry = createRegistry(
      { ...filter, connectionIds: ["connection-0", "connection-1"] },
      {
        local: {
          registeredQueries: async (connectionId) => {
            reads.push(connectionId);
            const own = all.filter((query) => query.connectionId === connectionId);
            return own.map((query) => ({ ...query, lastLocalHeight: BigInt(40 + reads.length) }));
          },
          registeredQuery: async (id) => {
            reads.push(`${id}`);
            return sampleQuery({ id, connectionId: `connection-${id % 2n}`, lastLocalHeight: 49n });
          },
        },
        localHeight: () => 50n,
        onRemoved: () => {},
      },
    );
    await registry.reload(0n, signal);
    await registry.reread([3n, 99n], signal);
    expect([reads.slice(2), registry.state(3n)?.query.lastLocalHeight]).toEqual([["3"], 49n]);
    const even = all.filter(({ id }) => id % 2n === 0n).map(({ id }) => id);
    await registry.reread(even, signal);
    expect([reads.slice(3), registry.state(0n)?.query.lastLocalHeight]).toEqual([["connection-0"], 44n]);
  });

  it("does not restore a query that was removed during its cycle", async () => {
    const { chain, registry, ids, state } = setUp([sampleQuery({ id: 1n })]);
    await registry.reload(0n, signal);
    const before = state(1n);
    chain.clear();
    await registry.reload(0n, signal);
    registry.replace(before, answered(before, { localHeight: 9n, remote: undefined }));
    expect(ids()).toEqual([]);
  });

  it("makes a question that changed during its cycle due at once", async () => {
    const { chain, registry, state } = setUp([sampleQuery({ id: 1n })]);
    await registry.reload(0n, signal);
    const before = state(1n);
    chain.set(1n, sampleQuery({ id: 1n, updatePeriod: 77n }));
    await registry.reload(0n, signal);
    const at = { nowMs: 0, backoff: { minMs: 1, baseMs: 1, maxMs: 1 }, random: () => 0 };
    registry.replace(before, failed(before, { code: "rejected", reason: "old" }, at));
    expect(state(1n)).toMatchObject({ failures: 0, error: undefined, query: { updatePeriod: 77n } });
  });
});
