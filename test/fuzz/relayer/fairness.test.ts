import { describe, expect, it } from "vitest";
import { bankKey } from "./sim-remote.ts";
import { type SimOptions, type SimWorld, startWorld } from "./sim-world.ts";

/** Results that a block can hold. */
const BLOCK_RESULTS = 60;
const RESULTS_PER_TX = 20;
/** Blocks of which the results are counted. */
const WINDOW = 100;
const BLOCKS = 125;
/** Blocks until the gas of results is learned, and all connections have sent. */
const WARM_UP = 20;

interface Demand {
  readonly what: string;
  /** Queries of each connection, all of them due in each block. */
  readonly queries: readonly number[];
  readonly callMs?: SimOptions["callMs"];
  /** Queries whose contracts reject every result. */
  readonly rejected?: readonly bigint[];
  /** The largest difference over any {@link WINDOW} blocks. */
  readonly most: number;
}

const DEMANDS: readonly Demand[] = [
  { what: "1.5 times a block", queries: [90], most: 1 },
  { what: "3 times a block, some rejected", queries: [180], rejected: [3n, 77n, 180n], most: 1 },
  // What becomes ready first leaves a block early now and then.
  { what: "3 times a block, of two unequal connections", queries: [140, 40], most: 2 },
  { what: "1.5 times a block, of three unequal connections", queries: [70, 16, 4], most: 2 },
  {
    what: "3 times a block, of a near and a more distant connection",
    queries: [90, 90],
    callMs: { local: 10, remote: [15, 600] },
    most: 3,
  },
  {
    what: "1.5 times a block, of unequal connections at all distances",
    queries: [70, 16, 4],
    callMs: { local: 10, remote: [600, 15, 200] },
    most: 3,
  },
  {
    what: "3 times a block, of one distant connection, with a distant local chain",
    queries: [180],
    callMs: { local: 100, remote: 600 },
    most: 3,
  },
  {
    what: "3 times a block, of unequal distant connections, with a distant local chain",
    queries: [140, 40],
    callMs: { local: 100, remote: 300 },
    most: 4,
  },
];

/** A world with more due results than its blocks take. */
async function fullWorld({ queries, callMs, rejected = [] }: Demand): Promise<SimWorld> {
  const fixed = (BLOCK_RESULTS / RESULTS_PER_TX) * 108_000 + queries.length * 85_000;
  const world = await startWorld(41, queries.length, {
    hasQueries: false,
    resultsPerTx: RESULTS_PER_TX,
    ...(callMs === undefined ? {} : { callMs }),
    // The relayer may use nine tenths.
    blockGas: (BigInt(BLOCK_RESULTS * 28_000 + fixed) * 10n) / 9n,
  });
  world.setTraffic(false);
  for (const [index, count] of queries.entries())
    for (let key = 0; key < count; key++)
      world.local.register({
        type: "kv",
        connectionId: `connection-${index}`,
        updatePeriod: 1n,
        keys: [{ path: "bank", key: bankKey(key % 8) }],
      });
  for (const id of rejected) world.local.reject(id, true);
  return world;
}

/** Heights of the blocks with a result, by query. */
function answers({ attempts, local }: SimWorld): ReadonlyMap<bigint, readonly number[]> {
  const heights = new Map<bigint, number[]>(local.registered().map(({ id }) => [id, []]));
  for (const { queryId, outcome, localHeight } of attempts)
    if (outcome === "included") heights.get(queryId)?.push(Number(localHeight));
  return heights;
}

/** The largest difference between the most and the least answered query over any {@link WINDOW} blocks. */
function largestDifference(heights: readonly (readonly number[])[]): number {
  const starts = Array.from({ length: BLOCKS - WINDOW - WARM_UP + 1 }, (_, index) => WARM_UP + index);
  const differences = starts.map((from) => {
    const counts = heights.map((all) => all.filter((at) => at >= from && at < from + WINDOW).length);
    return Math.max(...counts) - Math.min(...counts);
  });
  return Math.max(...differences);
}

describe("a chain with more due results than its blocks take", () => {
  it.each(DEMANDS)("answers each query as often as any other: $what", async (demand) => {
    const { rejected = [], most } = demand;
    const world = await fullWorld(demand);
    await world.run(BLOCKS);
    const heights = [...answers(world)].flatMap(([id, all]) => (rejected.includes(id) ? [] : [all]));
    expect(largestDifference(heights)).toBeLessThanOrEqual(most);
    // The blocks are full.
    const total = heights.reduce((sum, { length }) => sum + length, 0);
    expect(total).toBeGreaterThan(BLOCKS * BLOCK_RESULTS * 0.8);
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});
