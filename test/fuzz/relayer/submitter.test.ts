import { describe, expect, it } from "vitest";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { SubmitGate } from "../../../src/relayer/result/submit-gate.ts";
import { bankKey } from "./sim-remote.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";
import { stale } from "./simulate.ts";

const ids = (world: SimWorld, outcome: string): ReadonlySet<bigint> =>
  new Set(world.attempts.filter((one) => one.outcome === outcome).map(({ queryId }) => queryId));

/** Results in each transaction that failed in a block. */
function failedSizes({ log }: SimWorld): readonly number[] {
  return log
    .filter(({ message }) => message === "transaction failed in its block")
    .map(({ fields }) => Number(fields["results"]));
}

describe("a result that fails its transaction without a name", () => {
  it("is isolated in log2 steps, and costs the others nothing afterwards", async () => {
    const world = await startWorld(21, 1, { resultsPerTx: 32 });
    world.setTraffic(false);
    await world.run(15);
    expect(failedSizes(world)).toEqual([]);
    world.local.poison(1n);
    await world.run(30);
    const shared = failedSizes(world).filter((size) => size > 1);
    const [largest = 0] = shared;
    expect(largest).toBeGreaterThanOrEqual(4);
    expect(shared.length).toBeLessThanOrEqual(Math.ceil(Math.log2(largest)));
    expect(ids(world, "not-included")).toEqual(new Set([1n]));
    expect(stale(world).filter((text) => !text.startsWith("query 1 "))).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a result that its contract rejects", () => {
  it("is found by one simulation more, and its company is included in the same block", async () => {
    const world = await startWorld(22, 1, { resultsPerTx: 32 });
    world.setTraffic(false);
    await world.run(15);
    world.local.reject(3n, true);
    const [before, heightBefore] = [world.local.node.simulations(), world.local.height()];
    await world.run(8);
    const blocks = Number(world.local.height() - heightBefore);
    expect(ids(world, "rejected")).toEqual(new Set([3n]));
    // What was in flight when the contract changed its mind.
    expect(failedSizes(world).length).toBeLessThanOrEqual(1);
    const inPeriod1 = world.local
      .registered()
      .filter(({ updatePeriod, id }) => updatePeriod === 1n && id < 5n);
    expect(inPeriod1.filter(({ id }) => id !== 3n).map(({ lastLocalHeight }) => lastLocalHeight)).toEqual(
      [1, 2, 4].map(() => world.local.height()),
    );
    // One for each block, one after the failure, one for each try of the suspect.
    expect(world.local.node.simulations() - before).toBeLessThanOrEqual(2 * blocks + 2);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a client update that fails", () => {
  it("is nobody's fault: the results that relied on it are sent again", async () => {
    const world = await startWorld(23, 1);
    await world.run(10);
    world.local.set("full-blocks", true);
    await world.run(20);
    world.local.set("full-blocks", false);
    await world.run(15);
    expect(failedSizes(world).length).toBeGreaterThan(0);
    expect([...ids(world, "rejected"), ...ids(world, "not-included")]).toEqual([]);
    expect(stale(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("between plan and signature", () => {
  it("drops the result of a query that was removed meanwhile, and sends the others", async () => {
    const world = await startWorld(24, 1, { resultsPerTx: 32 });
    world.setTraffic(false);
    await world.run(10);
    const { window } = world.local;
    const { simulate } = window;
    let isRemoved = false;
    // The relayer uses this window.
    Object.assign(window, {
      simulate: async (...request: Parameters<typeof simulate>) => {
        const outcome = await simulate(...request);
        const [messages, signal] = request;
        const hasResult = messages.some(
          ({ typeUrl, value }) =>
            typeUrl.endsWith("MsgSubmitQueryResult") && MsgSubmitQueryResult.decode(value).queryId === 2n,
        );
        if (!isRemoved && hasResult) {
          isRemoved = true;
          const change = { action: "query_removed", queryId: 2n, connectionId: "connection-0" } as const;
          await world.registry.apply(change, 0n, signal);
        }
        return outcome;
      },
    });
    const before = world.local.node.transactions();
    await world.run(3);
    expect(ids(world, "removed")).toEqual(new Set([2n]));
    expect(world.local.node.transactions()).toBeGreaterThan(before);
    expect(failedSizes(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("the gate", () => {
  it("leaves out the results of an owner without a budget, which back off; the others are sent", async () => {
    const gate: SubmitGate = {
      admit: async ({ gasByOwner }) =>
        gasByOwner.has("neutron1spender")
          ? { admitted: false, reason: "the budget of today is used up", owners: ["neutron1spender"] }
          : { admitted: true, release: () => {} },
    };
    const world = await startWorld(25, 1, { gate });
    const keys = [{ path: "bank", key: bankKey(1) }];
    const spender = world.local.register({
      type: "kv",
      connectionId: "connection-0",
      updatePeriod: 1n,
      keys,
      owner: "neutron1spender",
    });
    await world.run(20);
    expect(ids(world, "over-budget")).toEqual(new Set([spender]));
    expect(world.registry.state(spender)?.error?.code).toBe("over-budget");
    expect(stale(world).filter((text) => !text.startsWith(`query ${spender} `))).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("stops everything with its reason, and nothing is lost when it opens", async () => {
    let isOpen = true;
    const gate: SubmitGate = {
      admit: async () =>
        isOpen
          ? { admitted: true, release: () => {} }
          : { admitted: false, reason: "the balance is below the reserve" },
    };
    const world = await startWorld(26, 1, { gate });
    await world.run(10);
    isOpen = false;
    await world.run(3);
    const before = world.local.node.transactions();
    await world.run(20);
    expect(world.local.node.transactions()).toBe(before);
    expect(world.engine.submitter().stopped).toBe("the balance is below the reserve");
    expect(world.log.filter(({ message }) => message === "nothing may be sent")).toHaveLength(1);
    isOpen = true;
    await world.run(15);
    expect(stale(world)).toEqual([]);
    expect(world.engine.submitter().stopped).toBeUndefined();
    expect(await world.stop()).toEqual([]);
  });
});

describe("a distant node", () => {
  it.each([
    { local: 100, remote: 200, what: "the next result is proven while one is in flight" },
    { local: 100, remote: 600, what: "and a cycle begins while the one before it reads" },
    { local: 220, remote: 600, what: "and two blocks early" },
  ])("costs a query that is due in every block no block: $what", async (callMs) => {
    const world = await startWorld(24, 1, { callMs });
    world.setTraffic(false);
    await world.run(30);
    const heights = world.attempts
      .filter(({ queryId, outcome }) => queryId === 1n && outcome === "included")
      .map(({ localHeight }) => Number(localHeight));
    expect(heights.slice(3)).toEqual(heights.slice(3).map((_height, index) => (heights[3] ?? 0) + index));
    expect(heights.at(-1)).toBeGreaterThanOrEqual(29);
    expect(await world.stop()).toEqual([]);
  });

  it.each([23, 25, 30, 31, 33, 38])("costs none once its pace is known, seed %i", async (seed) => {
    const world = await startWorld(seed, 1, { callMs: { local: 220, remote: 600 } });
    world.setTraffic(false);
    await world.run(30);
    const heights = world.attempts
      .filter(({ queryId, outcome }) => queryId === 1n && outcome === "included")
      .map(({ localHeight }) => Number(localHeight))
      .filter((height) => height > 11);
    expect(heights).toEqual(heights.map((_height, index) => (heights[0] ?? 0) + index));
    expect(heights.length).toBeGreaterThanOrEqual(17);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a few queries that become due while many are read", () => {
  it("wait for the end of that cycle, and then share the next one", async () => {
    const world = await startWorld(31, 1, { callMs: { local: 100, remote: 600 } });
    world.setTraffic(false);
    const register = (key: number): bigint =>
      world.local.register({
        type: "kv",
        connectionId: "connection-0",
        updatePeriod: 1n,
        keys: [{ path: "bank", key: bankKey(key) }],
      });
    for (let key = 0; key < 30; key++) register(key);
    await world.run(10);
    const late: bigint[] = [];
    await world.run(15, (second) => {
      if (second % 3 === 0) late.push(register(second));
    });
    await world.run(10);
    const startOf = (id: bigint): number | undefined =>
      world.attempts.find(({ queryId }) => queryId === id)?.startedAtMs;
    expect(late).toHaveLength(5);
    for (const id of late) {
      const together = world.attempts.filter(({ startedAtMs }) => startedAtMs === startOf(id));
      // A tenth of those that are read.
      expect(together.length).toBeGreaterThanOrEqual(3);
    }
    expect(stale(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a transaction of a remote chain", () => {
  it("is in a local block at most three blocks after its own", async () => {
    const world = await startWorld(38, 1, { callMs: { local: 20, remote: 20 } });
    world.setTraffic(false);
    const [condition] = [{ field: "transfer.recipient", op: "Eq", value: "bob" }];
    const id = world.local.register({
      type: "tx",
      connectionId: "connection-0",
      updatePeriod: 1n,
      transactionsFilter: JSON.stringify([condition]),
    });
    await world.run(10);
    for (let round = 0; round < 5; round++) {
      const included = () =>
        world.attempts.filter(({ queryId, outcome }) => queryId === id && outcome === "included");
      const [before, height] = [included().length, world.local.height()];
      world.remotes[0]?.tick([["bob", 0]]);
      await world.run(5);
      expect(included()).toHaveLength(before + 1);
      expect(Number((included().at(-1)?.localHeight ?? 0n) - height)).toBeLessThanOrEqual(3);
    }
    expect(await world.stop()).toEqual([]);
  });
});

describe("the duration of an attempt", () => {
  it("counts from the first read of the remote chain, whether or not it had a result", async () => {
    const world = await startWorld(30, 1, { callMs: { local: 100, remote: 200 } });
    const keys = [{ path: "no-store", key: bankKey(1) }];
    const unprovable = world.local.register({
      type: "kv",
      connectionId: "connection-0",
      updatePeriod: 1n,
      keys,
    });
    await world.run(15);
    const shortest = (of: (one: SimWorld["attempts"][number]) => boolean): number =>
      Math.min(...world.attempts.filter(of).map(({ durationMs }) => durationMs));
    // Two round trips.
    expect(shortest(({ queryId }) => queryId === unprovable)).toBeGreaterThanOrEqual(300);
    expect(shortest(({ queryId }) => queryId === unprovable)).toBeLessThan(1_000);
    // And a block.
    const isIncluded = ({ outcome, type }: { readonly outcome: string; readonly type: string }, of: string) =>
      outcome === "included" && type === of;
    for (const type of ["kv", "tx"]) {
      const ms = shortest((one) => isIncluded(one, type));
      expect(ms).toBeGreaterThanOrEqual(500);
      expect(ms).toBeLessThan(10_000);
    }
    expect(await world.stop()).toEqual([]);
  });
});

describe("a client update that costs less than was guessed", () => {
  it("makes no transaction without it run out of gas, not even the first ones", async () => {
    const world = await startWorld(29, 2, { resultsPerTx: 1, updateGas: 10_000n });
    world.setTraffic(false);
    await world.run(20);
    expect(world.local.node.mostInBlock()).toBeGreaterThan(2);
    expect(failedSizes(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("several transactions in flight", () => {
  it("reach one block, each simulated once, with learned gas", async () => {
    const world = await startWorld(27, 2);
    world.setTraffic(false);
    await world.run(30);
    const { node } = world.local;
    expect(node.mostInBlock()).toBeGreaterThan(2);
    // What is planned for the next block is simulated and not sent yet.
    expect(node.simulations()).toBeLessThanOrEqual(
      node.transactions() + world.engine.submitter().inFlight.length + 4,
    );
    const learned = world.engine.gasOf(1n);
    expect(Number(learned)).toBeGreaterThan(25_000);
    expect(Number(learned)).toBeLessThan(31_000);
    expect(await world.stop()).toEqual([]);
  });
});
