import { describe, expect, it } from "vitest";
import { defaultParams } from "../../../src/localnet/chain/modules/feemarket/module.ts";
import type { AdmissionRequest, SubmitGate } from "../../../src/relayer/result/submit-gate.ts";
import type { SimBlock, SimMarket } from "./sim-node.ts";
import { bankKey } from "./sim-remote.ts";
import { type SimOptions, type SimWorld, startWorld } from "./sim-world.ts";

/** A market whose target has place for about fifty results, so that a simulation is fast. */
const PARAMS = { ...defaultParams("untrn"), maxBlockUtilization: 3_300_000n };
const MINIMUM = PARAMS.minBaseGasPrice;
const CEILING = 2n * MINIMUM;
const TARGET = Number(PARAMS.maxBlockUtilization / 2n);
/** Of the simulated node. */
const RESULT_GAS = 28_000;
/** Fixed gas of a transaction and a client update. */
const FIXED_GAS = 193_000;
/** Queries that are always due: twice what the market bears. */
const QUERIES = 110;
/** Blocks until the gas of results and of others is known. */
const WARM_UP = 70;

async function run(
  others: SimMarket["others"],
  blocks: number,
  {
    seed = 5,
    queries = QUERIES,
    runs = false,
    ...options
  }: Partial<SimOptions> & { seed?: number; queries?: number; runs?: boolean } = {},
): Promise<{ readonly blocks: readonly SimBlock[]; readonly world: SimWorld }> {
  const world = await startWorld(seed, 1, {
    hasQueries: false,
    resultsPerTx: 60,
    market: { params: PARAMS, others },
    ...options,
  });
  world.setTraffic(false);
  for (let key = 0; key < queries; key++)
    world.local.register({
      type: "kv",
      connectionId: "connection-0",
      updatePeriod: 1n,
      keys: [{ path: "bank", key: bankKey(key % 8) }],
    });
  await world.run(blocks);
  if (runs) return { blocks: world.local.node.blocks(), world };
  expect(world.local.violations()).toEqual([]);
  expect(await world.stop()).toEqual([]);
  return { blocks: world.local.node.blocks(), world };
}

const mean = (blocks: readonly SimBlock[], of: (block: SimBlock) => bigint | number): number =>
  blocks.reduce((sum, block) => sum + Number(of(block)), 0) / blocks.length;
const inMinimums = (price: bigint | number): number => Number(price) / Number(MINIMUM);
/** Fees for each unit of gas used, as a multiple of the minimum. */
const costOf = (blocks: readonly SimBlock[]): number =>
  inMinimums((mean(blocks, ({ fees }) => fees) * 1e18) / mean(blocks, ({ own }) => own));

/** Heights of the results of a query. */
const answersOf = (world: SimWorld, ...of: readonly bigint[]): readonly number[] =>
  world.attempts
    .filter(({ queryId, outcome }) => of.includes(queryId) && outcome === "included")
    .map(({ localHeight }) => Number(localHeight));
/** Blocks between the results of a query after the block `from`. */
function distancesOf(world: SimWorld, id: bigint, from: number): readonly number[] {
  const heights = answersOf(world, id).filter((height) => height > from);
  return heights.slice(1).map((height, index) => height - (heights[index] ?? 0));
}

describe("a relayer on a chain with a fee market, with more due than the market bears", () => {
  it.each([
    { what: "distant nodes, no others", others: () => 0n, callMs: { local: 100, remote: 100 } },
    {
      what: "near nodes, others use half of the target",
      others: () => 900_000n,
      callMs: { local: 10, remote: 10 },
    },
  ])("fills what the market bears, at its lowest price: $what", async ({ others, callMs }) => {
    const { blocks, world } = await run(others, WARM_UP + 50, { callMs });
    const tail = blocks.slice(WARM_UP);
    const bearable = TARGET - mean(tail, (block) => block.others);
    expect(mean(tail, ({ own }) => own)).toBeGreaterThan(0.95 * bearable);
    // The relayer uses two transactions of a small block at most.
    expect(mean(tail, ({ results }) => results)).toBeGreaterThan(
      (0.9 * (bearable - 2 * FIXED_GAS)) / RESULT_GAS,
    );
    expect(inMinimums(mean(tail, ({ price }) => price))).toBeLessThan(1.05);
    // A step above the ceiling, as the others are not known at first.
    expect(Math.max(...blocks.map(({ price }) => inMinimums(price)))).toBeLessThan(2 * 1.125);
    // Of small transactions the gas for the payout, the reserve of the gas limit, and client updates are a larger part.
    expect(costOf(tail)).toBeLessThan(1.2);
    expect(world.status().problems).toEqual([]);
  });

  it("fills each block, and has no second burst, when calls take a quarter of a block and twice of what the market bears is due", async () => {
    const params = { ...PARAMS, maxBlockUtilization: 2n * PARAMS.maxBlockUtilization };
    const callMs = { local: 250, remote: 250 };
    const market = { params, others: () => 0n };
    const { blocks, world } = await run(market.others, WARM_UP + 50, { market, callMs, queries: 200 });
    const tail = blocks.slice(WARM_UP);
    expect(mean(tail, ({ own }) => own)).toBeGreaterThan(0.97 * Number(params.maxBlockUtilization / 2n));
    expect(Math.max(...tail.map(({ price }) => inMinimums(price)))).toBeLessThan(1.05);
    // Each query has its turn in every second block.
    for (let id = 1n; id <= 200n; id++)
      expect(Math.max(...distancesOf(world, id, WARM_UP))).toBeLessThanOrEqual(3);
  });

  it.each([
    { queries: 70, callMs: { local: 150, remote: 700 } },
    { queries: 110, callMs: { local: 450, remote: 550 } },
  ])(
    "is steady from the start when full blocks take longer and its pipeline 1.5 of them: $queries queries, $callMs",
    async ({ queries, callMs }) => {
      const localBlockMs = (gas: bigint): number => (Number(gas) > 0.8 * TARGET ? 1_300 : 1_000);
      const { blocks, world } = await run(() => 0n, 120, { queries, callMs, localBlockMs });
      const from = 15;
      const tail = blocks.slice(from);
      expect(mean(tail, ({ own }) => own)).toBeGreaterThan(0.95 * TARGET);
      expect(Math.max(...blocks.map(({ price }) => inMinimums(price)))).toBeLessThan(1.1);
      expect(tail.filter(({ results }) => results === 0)).toEqual([]);
      const counts = Array.from(
        { length: queries },
        (_, index) => answersOf(world, BigInt(index + 1)).filter((height) => height > from).length,
      );
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    { local: 10, remote: 10 },
    // The first broadcast after it is too cheap, and the block has results all the same.
    { local: 150, remote: 700 },
  ])(
    "has results in each block when others begin to use half of the target: calls of %o ms",
    async (callMs) => {
      const { blocks } = await run((height) => (height > 80n ? 880_000n : 0n), 130, { callMs });
      expect(blocks.slice(78).filter(({ results }) => results === 0)).toEqual([]);
    },
  );

  it("pays nothing above the ceiling, while others push the price as high as they can, and goes on afterwards", async () => {
    // They fill whatever the relayer leaves, for a minute.
    const { blocks } = await run((height, { left }) => (height > 60n && height <= 90n ? left : 0n), 200);
    for (const { price, fees } of blocks) if (price > CEILING) expect(fees).toBe(0n);
    const pushed = blocks.slice(60, 90);
    expect(inMinimums(pushed.at(-1)?.price ?? 0n)).toBeGreaterThan(15);
    // What it pays while the price rises to the ceiling is less than without them, for the same blocks.
    const calm = (await run(() => 0n, 90)).blocks;
    expect(mean(pushed, ({ fees }) => fees)).toBeLessThan(mean(calm.slice(60, 90), ({ fees }) => fees));
    expect(mean(blocks.slice(-20), ({ results }) => results)).toBeGreaterThan(40);
  });

  it("sends no more to a chain whose others come in waves than the price allows", async () => {
    const { blocks } = await run((height, { left }) => (height % 40n < 6n ? left : 300_000n), 170);
    for (const { price, own } of blocks) if (own > 0n) expect(price <= (CEILING * 9n) / 8n).toBe(true);
    expect(costOf(blocks.slice(WARM_UP))).toBeLessThan(2);
  });
});

describe("a backlog", () => {
  /** Registers queries that use a third of what the market bears, after the chain has been calm for `calm` blocks. */
  async function backlogAfter(calm: number): Promise<readonly SimBlock[]> {
    const { world } = await run(() => 0n, calm, { queries: 0, runs: true });
    for (let key = 0; key < 400; key++)
      world.local.register({
        type: "kv",
        connectionId: "connection-0",
        updatePeriod: 30n,
        keys: [{ path: "bank", key: bankKey(key % 8) }],
      });
    await world.run(110);
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
    const blocks = world.local.node.blocks();
    return blocks.slice(blocks.findIndex(({ results }) => results > 0));
  }
  const resultsOf = (blocks: readonly SimBlock[]): number =>
    blocks.reduce((sum, { results }) => sum + results, 0);

  it("is answered in a burst, and the price returns", async () => {
    const blocks = await backlogAfter(40);
    expect(resultsOf(blocks.slice(0, 7))).toBeGreaterThanOrEqual(400);
    expect(Math.max(...blocks.map(({ price }) => inMinimums(price)))).toBeGreaterThan(1.2);
    expect(Math.max(...blocks.map(({ price }) => inMinimums(price)))).toBeLessThanOrEqual(2);
    expect(Math.max(...blocks.slice(45).map(({ price }) => inMinimums(price)))).toBeLessThan(1.1);
  });

  it("is spread over the budget when it has become due shortly before the process began", async () => {
    const blocks = await backlogAfter(0);
    expect(resultsOf(blocks.slice(0, 9))).toBeGreaterThanOrEqual(400);
    expect(Math.max(...blocks.map(({ price }) => inMinimums(price)))).toBeLessThan(1.1);
  });
});

describe("urgent results", () => {
  const rule = {
    name: "vault",
    owners: [],
    priority: 1,
    max_price: undefined,
    max_age: undefined,
    daily_fee: undefined,
  };
  const ids = [3n, 4n];
  /** Others fill what is left from block 60 to 90, and the price rises thirtyfold. */
  const wave: SimMarket["others"] = (height, { left }) => (height > 60n && height <= 90n ? left : 0n);

  it.each([2, 3])(
    "leave in each block above the ceiling up to their own price, and nothing else does (seed %i)",
    async (seed) => {
      const maxPrice = 8n * MINIMUM;
      const urgency = [{ ...rule, ids, max_price: maxPrice }];
      // Near and distant nodes.
      const ms = seed === 2 ? 100 : 10;
      const { blocks } = await run(wave, 100, { seed, urgency, callMs: { local: ms, remote: ms } });
      const above = blocks.filter(({ price }) => price > CEILING);
      expect(above.length).toBeGreaterThan(20);
      for (const { price, fees } of above) if (price > maxPrice) expect(fees).toBe(0n);
      // Of the first two, the price was not known when they could have been read.
      const worth = above.slice(2).filter(({ price }) => price <= maxPrice);
      expect(worth.length).toBeGreaterThan(8);
      expect(worth.map(({ results }) => results)).toEqual(worth.map(() => ids.length));
      // In one transaction.
      for (const { own } of worth) expect(Number(own)).toBeLessThan(FIXED_GAS + ids.length * RESULT_GAS + 1);
    },
  );

  it("with an age have a result that is not older, whatever else is due, and in the order of their turns else", async () => {
    // Each of 110 queries has a result in every second block, one of 300 in every sixth.
    const urgency = [{ ...rule, ids, max_age: 3 }];
    const { world } = await run(() => 0n, WARM_UP + 30, { urgency, queries: 300 });
    for (const id of ids) expect(Math.max(...distancesOf(world, id, WARM_UP))).toBeLessThanOrEqual(5);
    expect(Math.max(...distancesOf(world, 100n, WARM_UP))).toBeGreaterThan(5);
  });

  it("stop when their budget of a day is used up, and do not use that of all others", async () => {
    const requests: AdmissionRequest[] = [];
    let spent = 0n;
    const budget = 3_000n;
    const gate: SubmitGate = {
      admit: async (request) => {
        requests.push(request);
        const own = request.feeByRule?.get("vault") ?? 0n;
        if (spent + own > budget) return { admitted: false, reason: "used up", rules: ["vault"] };
        spent += own;
        return { admitted: true, release: () => void (spent -= own) };
      },
    };
    const urgency = [{ ...rule, ids, daily_fee: budget }];
    const { blocks } = await run(wave, 90, { urgency, gate });
    const paid = blocks.filter(({ price }) => price > CEILING).reduce((sum, { fees }) => sum + fees, 0n);
    expect(spent).toBeGreaterThan(0n);
    expect(paid).toBeLessThanOrEqual(budget);
    // Above the ceiling the whole fee is that of the rule, below it none is.
    for (const { fee, feeByRule } of requests) expect([0n, fee]).toContain(feeByRule?.get("vault") ?? 0n);
  });
});
