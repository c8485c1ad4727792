import { beforeEach, describe, expect, it } from "vitest";
import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";
import { stale } from "./simulate.ts";

const PERIOD = 9n;

let world: SimWorld;
/** Queries with the longest period. They are due in the same block. */
let ids: readonly bigint[];
let refusedSimulations: number;

beforeEach(async () => {
  world = await startWorld(31, 1, { resultsPerTx: 32 });
  world.setTraffic(false);
  await world.run(30);
  ids = chosen().map(({ id }) => id);
  refusedSimulations = 0;
  const { window } = world.local;
  const { simulate } = window;
  // The relayer uses this window.
  Object.assign(window, {
    simulate: async (...request: Parameters<typeof simulate>) => {
      const outcome = await simulate(...request);
      if (!outcome.ok) refusedSimulations += 1;
      return outcome;
    },
  });
});

function chosen(): readonly RegisteredQuery[] {
  return world.local
    .registered()
    .filter(({ type, updatePeriod }) => type === "kv" && updatePeriod === PERIOD);
}

/** Runs until the relayer is about to send results of the chosen queries, in the next second. */
async function runUntilDue(): Promise<void> {
  const due = chosen().map(({ lastLocalHeight }) => Number(lastLocalHeight + PERIOD));
  expect(new Set(due).size).toBe(1);
  await world.run(Number(due[0]) - 2 - Number(world.local.height()));
}

const ended = (outcome: string) => world.attempts.filter((one) => one.outcome === outcome);

const failed = (): readonly unknown[] =>
  world.attempts.filter(
    ({ queryId, outcome }) => ids.includes(queryId) && !["included", "redundant"].includes(outcome),
  );

async function count(name: string, outcome: string): Promise<number> {
  const values = (await world.metrics.getSingleMetric(`relaywatch_relayer_${name}`)?.get())?.values ?? [];
  return values.filter(({ labels }) => labels.outcome === outcome).reduce((sum, { value }) => sum + value, 0);
}

/** What another relayer sent is as good as what this one sends. */
async function expectCurrent(): Promise<void> {
  // Transactions of the last block are indexed a moment later.
  await world.clock.advance(400);
  const heights = ({ lastLocalHeight, lastRemoteHeight }: RegisteredQuery) => [
    lastLocalHeight,
    lastRemoteHeight,
  ];
  for (const query of chosen()) {
    const state = world.registry.state(query.id);
    expect(state).toMatchObject({ error: undefined, failures: 0, notBeforeMs: 0 });
    expect(state && heights(state.query)).toEqual(heights(query));
  }
  expect(failed()).toEqual([]);
  expect(stale(world)).toEqual([]);
  expect(await count("results_total", "redundant")).toBe(ended("redundant").length);
  const lost = world.journal.deadLetters().filter(({ hash }) => !world.unprovable.has(hash));
  expect(await count("results_total", "rejected")).toBe(world.unprovable.size);
  expect(lost).toEqual([]);
}

describe("another relayer that is faster", () => {
  it("costs one simulation, and no failure, when its results are in a block before this relayer sends", async () => {
    await runUntilDue();
    for (const id of ids) world.local.submitAsOther(id);
    await world.run(2);
    // The first one by the simulation, the others since the last results were read again.
    expect(refusedSimulations).toBe(1);
    expect(new Set(ended("redundant").map(({ queryId }) => queryId))).toEqual(new Set(ids));
    expect(ended("redundant").map(({ fee, txHash }) => ({ fee, txHash }))).toEqual(
      ids.map(() => ({ fee: 0n, txHash: undefined })),
    );
    expect(await count("transactions_total", "failed")).toBe(0);
    await expectCurrent();
    await world.run(20);
    expect(ended("redundant")).toHaveLength(ids.length);
    await expectCurrent();
    expect(await world.stop()).toEqual([]);
  });

  it("costs what is in flight with it, and no failure, when its result is in the same block", async () => {
    const [id = 0n] = ids;
    await runUntilDue();
    await world.run(1);
    world.local.submitAsOther(id);
    await world.run(1);
    await world.clock.advance(400);
    // The transaction with the result, and the one that relies on its client update.
    const failures = await count("transactions_total", "failed");
    expect(failures).toBe(2);
    expect(ended("redundant")).toEqual([
      expect.objectContaining({ queryId: id, reason: expect.stringMatching(/newer/) }),
    ]);
    expect(ended("redundant")[0]?.fee).toBeGreaterThan(0n);
    await world.run(1);
    // The company of the result is sent again at once.
    const others = chosen().filter((query) => query.id !== id);
    for (const { lastLocalHeight } of others) expect(world.local.height() - lastLocalHeight).toBeLessThan(2n);
    await expectCurrent();
    await world.run(20);
    expect(await count("transactions_total", "failed")).toBe(failures);
    await expectCurrent();
    expect(await world.stop()).toEqual([]);
  });
});
