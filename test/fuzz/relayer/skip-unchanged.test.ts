import { describe, expect, it } from "vitest";
import { maxInt } from "../../../src/platform/base/integers.ts";
import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import { bankKey } from "./sim-remote.ts";
import { type SimOptions, type SimWorld, startWorld } from "./sim-world.ts";
import { outdated, problemsOf, stale } from "./simulate.ts";

const SKIP = 20n;
/** Blocks between the height at which a result is required and its block, when nothing disturbs. */
const NORMAL = 2n;
/** Keys that are absent from the remote chain, so that their values never change, and one that changes. */
const STILL = bankKey(6);
const MOVING = bankKey(0);

async function quietWorld(options: Partial<SimOptions>, connections = 1): Promise<SimWorld> {
  const world = await startWorld(51, connections, options);
  world.setTraffic(false);
  return world;
}

const answerable = ({ local }: SimWorld): readonly RegisteredQuery[] =>
  local.registered().filter(({ type, keys }) => type === "kv" && keys.every(({ path }) => path === "bank"));

/** The answerable queries that are in a problem of `/readyz`, or overdue. */
function overdue(world: SimWorld): readonly string[] {
  const ids = new Set(answerable(world).map(({ id }) => id));
  const late = world.status().queries.filter(({ id, lateness }) => ids.has(id) && lateness.isOverdue);
  return late.map(({ id, lateness }) => `query ${id} since ${lateness.dueHeight}`);
}

function count({ attempts }: SimWorld, outcome: string, queryIds?: ReadonlySet<bigint>): number {
  return attempts.filter((one) => one.outcome === outcome && queryIds?.has(one.queryId) !== false).length;
}

/** Registers queries of one key in a world without others. */
function register(
  { local }: SimWorld,
  key: Uint8Array,
  updatePeriod: bigint,
  queries = 1,
): ReadonlySet<bigint> {
  const keys = [{ path: "bank", key }];
  const add = (): bigint => local.register({ type: "kv", connectionId: "connection-0", updatePeriod, keys });
  return new Set(Array.from({ length: queries }, add));
}

describe("values that never change", () => {
  it("cost one result in each interval, and are never overdue", async () => {
    const world = await quietWorld({ skipUnchanged: SKIP, changeEvery: 1_000_000n });
    const problems: string[] = [];
    const ages: bigint[] = [];
    await world.run(10);
    await world.run(100, () => {
      problems.push(...overdue(world), ...stale(world, undefined, SKIP));
      for (const { lastLocalHeight } of answerable(world)) ages.push(world.local.height() - lastLocalHeight);
    });
    expect(problems).toEqual([]);
    // A query of any period has a result after 20 blocks: not before, and not much later.
    expect(ages.reduce(maxInt)).toBeLessThanOrEqual(SKIP + NORMAL);
    expect(ages.reduce(maxInt)).toBeGreaterThanOrEqual(SKIP - 1n);
    const queries = answerable(world).length;
    expect(count(world, "included")).toBeLessThanOrEqual(queries * 6);
    expect(count(world, "included")).toBeGreaterThanOrEqual(queries * 5);
    expect(count(world, "unchanged")).toBeGreaterThan(queries * 20);
    expect(
      world.attempts.filter(({ outcome, fee, gas }) => outcome === "unchanged" && fee + gas > 0n),
    ).toEqual([]);
    const counted = (await world.metrics.getSingleMetric("relaywatch_relayer_results_total")?.get())?.values;
    expect(counted?.find(({ labels }) => labels["outcome"] === "unchanged")?.value).toBe(
      count(world, "unchanged"),
    );
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it.each([
    ["near", 15, 50n],
    ["distant", 900, 49n],
  ])(
    "are read once in each update period, or when the remote chain has a block (%s)",
    async (_what, remote, age) => {
      const callMs = { local: 10, remote };
      const world = await quietWorld({ skipUnchanged: 50n, hasQueries: false, callMs });
      const ids = register(world, STILL, 4n);
      await world.run(42);
      expect(count(world, "included", ids)).toBe(1);
      expect([9, 10]).toContain(count(world, "unchanged", ids));
      for (const one of world.remotes) one.set("halts", true);
      await world.run(40);
      // No block is read again. The result that is required is sent without a new block.
      const unchanged = world.attempts.filter(({ outcome }) => outcome === "unchanged");
      const heights = new Set(unchanged.map(({ remoteHeight }) => remoteHeight));
      expect(heights.size).toBe(unchanged.length);
      expect(count(world, "included", ids)).toBe(2);
      const [first = 0n, second = 0n] = world.attempts.flatMap(({ localHeight }) => localHeight ?? []);
      expect(second - first).toBe(age);
      const due = world.attempts.map(({ dueHeight }, index) => (index === 0 ? first : dueHeight));
      const periods = due.slice(1).map((height, index) => height - (due[index] ?? 0n));
      // The second and third read may be late: the relayer learns how early it must read.
      expect(periods.map((blocks) => (blocks === 5n ? 4n : blocks))).toEqual(periods.map(() => 4n));
      expect(periods.slice(3)).toEqual(periods.slice(3).map(() => 4n));
      // The result that was sent without a new block is of the halted chain: the next one is late.
      expect(overdue(world)).toEqual([`query 1 since ${second + 4n}`]);
      expect(await world.stop()).toEqual([]);
    },
  );

  it("are counted in the summary, and no failures", async () => {
    const world = await quietWorld({ skipUnchanged: 50n, hasQueries: false });
    register(world, STILL, 4n);
    await world.run(62);
    const summary = world.log.find(({ message }) => message === "summary")?.fields;
    expect(summary).toMatchObject({ results: 2, unchanged: count(world, "unchanged"), failures: 0 });
    expect(await world.stop()).toEqual([]);
  });

  it("are sent for a query that changed while they were read", async () => {
    const world = await quietWorld({
      skipUnchanged: 200n,
      hasQueries: false,
      callMs: { local: 10, remote: 100 },
    });
    const ids = register(world, STILL, 6n);
    await world.run(8);
    expect(count(world, "included", ids)).toBe(1);
    const [remote] = world.remotes;
    let waits = 1;
    if (remote !== undefined)
      remote.beforeLightBlock = async (signal) => {
        if (waits-- <= 0) return;
        for (const id of ids) world.local.update(id, 3n);
        await world.clock.sleep(2_500, signal);
      };
    await world.run(12);
    expect(waits).toBeLessThan(1);
    expect(count(world, "included", ids)).toBe(2);
    expect(world.registry.states().map(({ sent }) => sent.length)).toEqual([1]);
    expect(await world.stop()).toEqual([]);
  });

  it("are shown with the height of the first result that had them", async () => {
    const world = await quietWorld({ skipUnchanged: 10n, hasQueries: false });
    const [id = 0n] = register(world, STILL, 2n);
    await world.run(35);
    const first = world.attempts.find(({ outcome }) => outcome === "included")?.localHeight;
    const [view] = world.status().queries;
    expect(count(world, "included")).toBeGreaterThan(2);
    expect(view).toMatchObject({ id, unchangedSince: first, error: undefined, state: "answered" });
    expect(view?.lastLocalHeight).toBeGreaterThan(first ?? 0n);
    expect(await world.stop()).toEqual([]);
  });

  it("are sent as often as a rule of urgency says", async () => {
    const rule = { name: "fresh", owners: [], priority: 0, max_price: undefined, daily_fee: undefined };
    const urgency = [{ ...rule, ids: [1n], max_age: 10 }];
    const world = await quietWorld({ skipUnchanged: 40n, hasQueries: false, urgency });
    register(world, STILL, 2n, 2);
    await world.run(62);
    expect([1n, 2n].map((id) => count(world, "included", new Set([id])))).toEqual([7, 2]);
    expect(await world.stop()).toEqual([]);
  });

  it("are sent when an operator wants it, and always without the option", async () => {
    const world = await quietWorld({ skipUnchanged: 50n, hasQueries: false });
    const ids = register(world, STILL, 3n);
    await world.run(20);
    expect(count(world, "included")).toBe(1);
    world.registry.request([...ids]);
    await world.run(3);
    expect(count(world, "included")).toBe(2);
    expect(await world.stop()).toEqual([]);
    const off = await quietWorld({ hasQueries: false });
    register(off, STILL, 3n);
    const { registeredQuery } = off.local.queries;
    let reads = 0;
    // The relayer uses this object.
    Object.assign(off.local.queries, {
      registeredQuery: (...request: Parameters<typeof registeredQuery>) => {
        reads += 1;
        return registeredQuery(...request);
      },
    });
    await off.run(20);
    // After its registration.
    expect(reads).toBe(1);
    expect(count(off, "included")).toBeGreaterThanOrEqual(6);
    expect(count(off, "unchanged")).toBe(0);
    expect(off.registry.states().flatMap(({ sent }) => sent)).toEqual([]);
    expect(await off.stop()).toEqual([]);
  });

  it("leave the blocks to those that change, while a block cannot hold all that are due", async () => {
    const world = await quietWorld({
      skipUnchanged: 50n,
      hasQueries: false,
      resultsPerTx: 20,
      // As in fairness.test.ts: 60 results.
      blockGas: (BigInt(60 * 28_000 + 3 * 108_000 + 85_000) * 10n) / 9n,
      callMs: { local: 10, remote: 300 },
    });
    register(world, STILL, 1n, 500);
    const moving = register(world, MOVING, 1n, 20);
    const slow = register(world, MOVING, 3n, 20);
    await world.run(40);
    const before = [count(world, "included", moving), count(world, "included", slow)];
    const late: string[] = [];
    await world.run(30, () => late.push(...overdue(world)));
    // All 540 are read in turn, about 220 in each block.
    expect(count(world, "included", moving) - (before[0] ?? 0)).toBeGreaterThan((20 * 30) / 4);
    expect(count(world, "included", slow) - (before[1] ?? 0)).toBeGreaterThan((20 * 30 * 3) / 20);
    expect(late).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a value that changes rarely", () => {
  it("of a distant chain is on the chain within its update period and four blocks after its change", async () => {
    const callMs = { local: 10, remote: 400 };
    const world = await quietWorld({ skipUnchanged: 200n, changeEvery: 13n, callMs }, 2);
    const problems: string[] = [];
    await world.run(20);
    await world.run(100, () => problems.push(...outdated(world, NORMAL + 2n), ...overdue(world)));
    expect(problems).toEqual([]);
    // One or two keys that change, each nine times. Without the option, a query of period 1 has a result in each block.
    const queries = answerable(world);
    for (const { id } of queries) {
      const included = count(world, "included", new Set([id]));
      expect(included).toBeGreaterThanOrEqual(9);
      expect(included).toBeLessThanOrEqual(21);
    }
    expect(await world.stop()).toEqual([]);
  });

  it("is compared with the result that another relayer sent", async () => {
    const world = await quietWorld({ skipUnchanged: 200n, hasQueries: false });
    const ids = register(world, STILL, 3n);
    const [id = 0n] = ids;
    await world.run(15);
    expect(count(world, "included", ids)).toBe(1);
    world.local.submitAsOther(id);
    await world.run(6);
    // Its values are not known, so that the next ones are sent.
    expect(count(world, "included", ids)).toBe(2);
    await world.run(20);
    expect(count(world, "included", ids)).toBe(2);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a relayer with random faults that skips unchanged values", () => {
  it.each([61, 30_073])("violates no rule (seed %i)", async (seed) => {
    expect(await problemsOf(seed, { skipUnchanged: SKIP })).toEqual([]);
  });

  it.each([30_082, 60_004])("violates no rule beside another relayer (seed %i)", async (seed) => {
    expect(await problemsOf(seed, { skipUnchanged: SKIP, besideAnother: true })).toEqual([]);
  });
});
