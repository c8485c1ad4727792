import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeadLetter } from "../../../src/relayer/state/journal.ts";
import { bankKey } from "./sim-remote.ts";
import { startWorld } from "./sim-world.ts";
import { missingTransactions, problemsOf, stale } from "./simulate.ts";

/**
 * Seeds that together run all lines of `src/relayer` that the simulation reaches at all: further ones, of which seventeen were
 * compared, run no other line. The campaigns have others.
 */
const SEEDS: readonly number[] = [57, 61, 203, 424, 20_010];

const warnings: string[] = [];
const noteWarning = (warning: Error): void => void warnings.push(warning.message);
beforeAll(() => void process.on("warning", noteWarning));
afterAll(() => void process.off("warning", noteWarning));

describe("a relayer with random faults", () => {
  it.each(SEEDS)("recovers completely and violates no rule (seed %i)", async (seed) => {
    expect(await problemsOf(seed)).toEqual([]);
  });
});

describe("a relayer with random faults beside another relayer", () => {
  it.each([30_001])("recovers completely and violates no rule (seed %i)", async (seed) => {
    expect(await problemsOf(seed, { besideAnother: true })).toEqual([]);
  });
});

describe("a node that refuses large requests", () => {
  it("gets smaller transactions, and every value stays fresh", async () => {
    const world = await startWorld(11, 1);
    world.setTraffic(false);
    world.local.set("small-requests", true);
    await world.run(30);
    expect(stale(world)).toEqual([]);
    expect(world.engine.workerErrors().get("connection-0")).toBeUndefined();
    expect(world.local.violations()).toEqual([]);
    expect(world.log.map(({ message }) => message)).toContain(
      "transaction too large for the node, the next transactions are smaller",
    );
    expect(await world.stop()).toEqual([]);
  });
});

describe("the first search of a TX query", () => {
  it("stores where it began before anything is delivered, so that a crash cannot move its start", async () => {
    const world = await startWorld(12, 1);
    for (let block = 0; block < 150; block++) world.remotes[0]?.tick([["bob", 0]]);
    const [id = 0n] = world.local
      .registered()
      .filter(({ transactionsFilter }) => transactionsFilter.includes("transfer.recipient"))
      .map((query) => query.id);
    // Searches begin with the first local block. Without a second one nothing is delivered.
    await world.run(1);
    world.local.set("halts", true);
    await world.run(5);
    const start = world.journal.searchedTo(id);
    expect(Number(start)).toBeGreaterThan(50);
    await world.run(30);
    expect(world.local.delivered(id)).toEqual([]);
    expect(world.journal.searchedTo(id)).toBe(start);
    await world.stop();
  });
});

describe("dead letters that are sent again", () => {
  it("are delivered in the order of the chain, and stay with a new reason if no endpoint has them", async () => {
    const letters: DeadLetter[] = [];
    const take = (id: bigint): readonly DeadLetter[] => {
      const own = letters.filter(({ queryId }) => queryId === id);
      letters.splice(0, letters.length, ...letters.filter(({ queryId }) => queryId !== id));
      return own;
    };
    const world = await startWorld(12, 1, { resubmissions: { take } });
    const remote = world.remotes[0] ?? expect.unreachable();
    world.setTraffic(false);
    await world.run(3);
    const queryId =
      world.local
        .registered()
        .find(({ transactionsFilter }) => transactionsFilter.includes("transfer.recipient"))?.id ??
      expect.unreachable();
    const before = world.local.delivered(queryId);
    // Two transactions that the searches pass over, because no local block is made before they are too old.
    world.local.set("halts", true);
    const heights = [1, 2].map(() => {
      remote.tick([["bob", 0]]);
      return remote.height();
    });
    const hashes = remote.succeeded("bob").slice(-2);
    for (let block = 0; block < 5; block++) remote.tick([]);
    const letterOf = (hash: string, remoteHeight: bigint): DeadLetter => ({
      queryId,
      hash,
      remoteHeight,
      reason: "old",
      atMs: 0,
    });
    const [first = "", second = ""] = hashes;
    const [low = 0n, high = 0n] = heights;
    world.journal.recordSearched(queryId, remote.height());
    letters.push(letterOf(second, high), letterOf("ab".repeat(32), high), letterOf(first, low));
    world.local.set("halts", false);
    world.registry.request([queryId]);
    await world.run(20);
    expect(world.local.delivered(queryId).slice(before.length)).toEqual([first, second]);
    const others = world.journal.deadLetters().filter(({ hash }) => !world.unprovable.has(hash));
    expect(others).toMatchObject([
      { queryId, hash: "ab".repeat(32), reason: "no endpoint has this transaction" },
    ]);
    expect(letters).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a search on a node that is behind the one whose status was read", () => {
  it("is made again, and leaves no transaction out", async () => {
    const world = await startWorld(13, 1);
    await world.run(10);
    const [remote] = world.remotes;
    if (remote === undefined) throw new Error("no remote chain");
    const { status } = remote.client;
    Object.assign(remote.client, {
      status: async (signal: AbortSignal) => ({ ...(await status(signal)), latestHeight: remote.height() }),
    });
    remote.set("lags", true);
    await world.run(20);
    remote.set("lags", false);
    await world.run(20);
    world.setTraffic(false);
    await world.run(15);
    expect(missingTransactions(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a connection whose remote chain has stopped", () => {
  it("has not recovered from an error before a cycle has read a new block", async () => {
    const world = await startWorld(15, 1, { hasQueries: false });
    const keys = [{ path: "bank", key: bankKey(0) }];
    world.local.register({ type: "kv", connectionId: "connection-0", updatePeriod: 1n, keys });
    const [remote] = world.remotes;
    const recovered = () => world.log.filter(({ message }) => message === "connection has recovered").length;
    await world.run(20);
    remote?.set("halts", true);
    await world.run(15);
    remote?.set("down", true);
    await world.run(10);
    remote?.set("down", false);
    await world.run(20);
    expect(recovered()).toBe(0);
    remote?.set("halts", false);
    await world.run(20);
    expect(recovered()).toBeGreaterThan(0);
    expect(await world.stop()).toEqual([]);
  });
});

describe("one dead connection among many", () => {
  it.each([
    ["hangs", 6],
    ["down", 2],
  ] as const)("delays no other and is logged once (%s, %i connections)", async (fault, connections) => {
    const world = await startWorld(7, connections);
    await world.run(20);
    for (const remote of world.remotes.slice(1)) remote.set(fault, true);
    await world.run(10);
    const late: string[] = [];
    await world.run(60, () => late.push(...stale(world, "connection-0")));
    expect(late).toEqual([]);
    const lines = world.log.filter(
      ({ message, fields }) =>
        message === "cycle failed" && fields["connectionId"] === "connection-1" && fields["type"] === "kv",
    );
    expect(lines).toHaveLength(1);
    const deadLetters = world.journal.deadLetters().map(({ hash }) => hash);
    expect(new Set(deadLetters)).toEqual(world.unprovable);
    expect(world.engine.workerErrors().get("connection-1")).toBeDefined();
    expect(world.engine.workerErrors().get("connection-0")).toBeUndefined();
    for (const remote of world.remotes) remote.set(fault, false);
    await world.run(40);
    expect(stale(world)).toEqual([]);
    expect(world.log.filter(({ message }) => message === "connection has recovered")).toHaveLength(
      2 * (connections - 1),
    );
    expect(world.local.violations()).toEqual([]);
    for (const remote of world.remotes.slice(1)) remote.set(fault, true);
    await world.run(2);
    // Simulated time does not move during the stop, so nothing may wait for a deadline.
    expect(await world.stop()).toEqual([]);
    expect(world.clock.sleeping()).toBe(0);
  });

  it("delays no value when its searches hang, and catches up afterwards", async () => {
    const world = await startWorld(8, 1);
    await world.run(20);
    world.remotes[0]?.set("searches hang", true);
    const late: string[] = [];
    await world.run(60, () => late.push(...stale(world)));
    expect(late).toEqual([]);
    expect(missingTransactions(world).length).toBeGreaterThan(0);
    world.remotes[0]?.set("searches hang", false);
    await world.run(30);
    world.setTraffic(false);
    await world.run(15);
    expect(missingTransactions(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("leaves no listeners on signals that live as long as the process", () => {
    expect(warnings).toEqual([]);
  });
});
