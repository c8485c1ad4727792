import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MIGRATIONS } from "../../src/relayer/state/store.ts";
import { createLease, type Lease, LeaseLostError } from "../../src/platform/storage/lease.ts";
import { createPostgresDatabase, migratePostgres } from "../../src/platform/storage/postgres-database.ts";
import type { SqlDatabase } from "../../src/platform/storage/sql-database.ts";
import { openTestStore } from "../support/relayer-store.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";

const SIGNAL = new AbortController().signal;
const LONG_MS = 60_000;

let server: PostgresServer;
let url: string;
let databases: SqlDatabase[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());
beforeEach(async () => {
  for (const database of databases) await database.close();
  databases = [];
  url = await server.createDatabase();
  await migratePostgres(connect(), MIGRATIONS);
});

function connect(): SqlDatabase {
  const { address, password } = server.placeOf(url);
  const options = { address, password, applicationName: "test", deadlineMs: 5_000, onError: () => {} };
  const database = createPostgresDatabase(options);
  databases.push(database);
  return database;
}

/** A process that takes part, with a connection of its own. */
function process(holder: string, options: { name?: string; ttlMs?: number; resources?: string[] } = {}) {
  const database = connect();
  const lease = createLease({ name: "a", holder, ttlMs: LONG_MS, resources: ["r1"], ...options }, database);
  const isFenced = (): Promise<boolean> =>
    database.transaction(lease.fence).then(
      () => false,
      (error: unknown) => {
        if (error instanceof LeaseLostError) return true;
        throw error;
      },
    );
  return { lease, database, isFenced };
}

const epochOf = async (lease: Lease): Promise<bigint | undefined> => {
  const attempt = await lease.acquire();
  return attempt.acquired ? attempt.epoch : undefined;
};

describe("a lease", () => {
  it("belongs to one of many that ask at the same time", async () => {
    const all = Array.from({ length: 8 }, (_, index) => process(`p${index}`));
    const epochs = await Promise.all(all.map(({ lease }) => epochOf(lease)));
    expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([1n]);
    const fenced = await Promise.all(all.map(({ isFenced }) => isFenced()));
    expect(fenced.map((isFenced) => !isFenced)).toEqual(epochs.map((epoch) => epoch !== undefined));
  });

  it("names its holder to the others, and stays while it is renewed", async () => {
    const [one, two] = [process("one"), process("two")];
    expect(await epochOf(one.lease)).toBe(1n);
    expect(await epochOf(one.lease)).toBe(1n);
    expect(await two.lease.acquire()).toMatchObject({
      acquired: false,
      holder: "one",
      name: "a",
      isOwnName: true,
      expiresInMs: expect.any(Number),
    });
  });

  it("goes to another process when it expires, and the first one is fenced from then on", async () => {
    const [one, two] = [process("one", { ttlMs: 200 }), process("two")];
    expect(await epochOf(one.lease)).toBe(1n);
    expect(await one.isFenced()).toBe(false);
    await expect.poll(() => epochOf(two.lease), { interval: 20 }).toBe(2n);
    expect(await one.isFenced()).toBe(true);
    expect(await two.isFenced()).toBe(false);
    expect(await epochOf(one.lease)).toBeUndefined();
  });

  it("fences its holder after its expiry, also when nobody took it", async () => {
    const one = process("one", { ttlMs: 100 });
    await one.lease.acquire();
    await expect.poll(one.isFenced, { interval: 20 }).toBe(true);
    expect(await epochOf(one.lease)).toBe(1n);
    expect(await one.isFenced()).toBe(false);
  });

  it("goes immediately to another process when it is released", async () => {
    const [one, two] = [process("one"), process("two")];
    await one.lease.acquire();
    await one.lease.release();
    expect(await one.isFenced()).toBe(true);
    expect(await epochOf(two.lease)).toBe(2n);
  });

  it("is not taken while a transaction that passed the fence is open", async () => {
    const [one, two] = [process("one", { ttlMs: 300 }), process("two")];
    await one.lease.acquire();
    const order: string[] = [];
    let taking: Promise<unknown> = Promise.resolve();
    await one.database.transaction(async (session) => {
      await one.lease.fence(session);
      await sleep(400);
      taking = two.lease.acquire().then(({ acquired }) => order.push(`taken ${acquired}`));
      await sleep(300);
      order.push("committed");
    });
    await taking;
    expect(order).toEqual(["committed", "taken true"]);
  });

  it("is refused when another lease has one of its resources", async () => {
    const one = process("one", { name: "a", resources: ["r1", "r2"] });
    const two = process("two", { name: "b", resources: ["r2", "r3"] });
    const three = process("three", { name: "c", resources: ["r3"] });
    expect(await epochOf(one.lease)).toBe(1n);
    expect(await two.lease.acquire()).toMatchObject({
      acquired: false,
      holder: "one",
      name: "a",
      isOwnName: false,
    });
    expect(await epochOf(three.lease)).toBe(1n);
    await one.lease.release();
    expect(await two.lease.acquire()).toMatchObject({ acquired: false, holder: "three", name: "c" });
    await three.lease.release();
    expect(await epochOf(two.lease)).toBe(1n);
  });
});

describe("a store behind a lease", () => {
  it("writes nothing after another process took the lease, and reports it to callers that wait", async () => {
    const [one, two] = [process("one", { ttlMs: 100 }), process("two")];
    const store = await openTestStore(server.placeOf(url));
    store.setGuard({ mayWrite: () => true, fence: one.lease.fence });
    await one.lease.acquire();
    store.journal.recordSearched(3n, 7n);
    await store.queue.flushed(SIGNAL);
    await expect.poll(() => epochOf(two.lease), { interval: 20 }).toBe(2n);
    store.journal.recordSearched(3n, 8n);
    await expect(store.queue.flushed(SIGNAL)).rejects.toThrow("two holds the lease a");
    await store.journal.reload();
    expect(store.journal.searchedTo(3n)).toBe(7n);
    await store.close();
  });
});
