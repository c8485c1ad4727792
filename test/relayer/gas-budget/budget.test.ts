import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { initialState } from "../../../src/cosmos/fee-market/market.ts";
import { createBudgetController } from "../../../src/relayer/gas-budget/budget.ts";
import { DEC18_ONE } from "../../../src/platform/base/decimal.ts";
import { MINIMUM, type MarketLoad, PARAMS, runMarket, TARGET, type WorldBlock } from "./market-world.ts";

const CEILING = 2n * MINIMUM;
const BLOCKS = 300;
/** Blocks until the others are known. */
const WARM_UP = 100;
/** More than any block holds. */
const always = (): bigint => 40_000_000n;

const mean = (blocks: readonly WorldBlock[], of: (block: WorldBlock) => bigint): number =>
  blocks.reduce((sum, block) => sum + Number(of(block)), 0) / blocks.length;
const inMinimums = (price: bigint): number => Number((price * 1_000_000n) / MINIMUM) / 1_000_000;
const highest = (blocks: readonly WorldBlock[]): number =>
  Math.max(...blocks.map(({ price }) => inMinimums(price)));

/** Numbers from 0 to 1 that depend on the index only. */
const noise = (index: number): number => (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
const gas = (millions: number): bigint => BigInt(Math.round(millions * 1_000_000));

const TRAFFIC: Readonly<Record<string, MarketLoad["others"]>> = {
  none: () => 0n,
  constant: () => gas(8),
  "nearly all": () => gas(14.5),
  noisy: (index) => gas(4 + 4 * noise(index)),
  "bursts at random": (index) => gas(noise(index) < 0.2 ? 20 : 2),
  alternating: (index) => gas(index % 2 === 0 ? 0 : 12),
  "more from block 100 on": (index) => gas(index < 100 ? 0 : 10),
  "less from block 100 on": (index) => gas(index < 100 ? 10 : 0),
  "sensitive to the price": (_index, { price }) => gas(Math.min(30, 18 / inMinimums(price))),
  "a full block in ten": (index) => gas(index % 10 === 0 ? 25 : 1),
};

describe.each([0, 1])("the budget of a relayer that knows a state %i blocks later", (delay) => {
  it.each(Object.entries(TRAFFIC))(
    "keeps the price, and leaves no gas unused: others are %s",
    (_name, others) => {
      const { blocks } = runMarket({ blocks: BLOCKS, demand: always, others, delay });
      const tail = blocks.slice(WARM_UP);
      // Of what any policy could send at a price that does not grow.
      expect(mean(tail, ({ own }) => own)).toBeGreaterThan(
        0.95 * (Number(TARGET) - mean(tail, (block) => block.others)),
      );
      for (const { own, price } of blocks) if (delay === 0 && own > 0n) expect(price <= CEILING).toBe(true);
      // The ceiling, and a step for each block that is not known.
      expect(highest(blocks)).toBeLessThan(2 * 1.125 ** (1 + delay));
    },
  );
});

describe("the price", () => {
  it("stays within two percent of the minimum while nothing varies, and within a tenth while others do", () => {
    for (const [name, others] of Object.entries(TRAFFIC)) {
      const tail = runMarket({ blocks: BLOCKS, demand: always, others }).blocks.slice(2 * WARM_UP);
      const price = mean(tail, (block) => block.price) / Number(MINIMUM);
      if (["none", "constant"].includes(name)) expect(price).toBeLessThan(1.02);
      else if (!["nearly all", "sensitive to the price"].includes(name)) expect(price).toBeLessThan(1.1);
    }
  });

  it("does not matter when the ceiling is not below the cap: then only the share of a block limits it", () => {
    const { blocks } = runMarket({
      blocks: 50,
      demand: always,
      others: TRAFFIC["none"] ?? always,
      ceiling: DEC18_ONE,
    });
    expect(blocks.every(({ own }) => own === 27_000_000n)).toBe(true);
  });

  it("stops everything while it exceeds the ceiling", () => {
    const others = (index: number): bigint => (index < 10 ? PARAMS.maxBlockUtilization : 0n);
    const { blocks } = runMarket({
      blocks: 60,
      demand: always,
      others: (index, { left }) => (others(index) > 0n ? left : 0n),
    });
    for (const { price, own, budget } of blocks)
      if (price > CEILING) expect([own, budget.phase]).toEqual([0n, "above-ceiling"]);
    expect(blocks.some(({ price }) => price > CEILING)).toBe(true);
    expect(blocks.slice(-5).every(({ own }) => own > 0n)).toBe(true);
  });
});

describe("a backlog", () => {
  const backlog = (index: number): bigint => (index === 30 ? 143_000_000n : 5_000_000n);

  it("is sent in one burst below the ceiling, and the price returns in 30 blocks", () => {
    const { blocks } = runMarket({ blocks: 120, demand: backlog, others: () => 0n });
    const sent = blocks.slice(30, 38).reduce((sum, { own }) => sum + own, 0n);
    expect(sent).toBeGreaterThan(143_000_000n);
    expect(highest(blocks)).toBeGreaterThan(1.3);
    expect(highest(blocks)).toBeLessThanOrEqual(2);
    expect(highest(blocks.slice(68))).toBeLessThan(1.1);
  });

  it("starts one burst only while it lasts, and a later one starts the next", () => {
    const twice = (index: number): bigint => (index === 30 || index === 150 ? 143_000_000n : 5_000_000n);
    const bursts = (demand: (index: number) => bigint, more: Partial<MarketLoad> = {}): number =>
      runMarket({ blocks: 300, demand, others: () => 0n, ...more }).blocks.filter(
        ({ budget: { phase } }, index, all) => phase === "burst" && all[index - 1]?.budget.phase !== "burst",
      ).length;
    expect([bursts(backlog), bursts(twice)]).toEqual([1, 2]);
    // Although it never ends.
    expect(bursts(always, { isOld: true })).toBe(1);
    expect(bursts(always, { isOld: true, average: 40_000_000n })).toBe(0);
  });

  it("that is there at the start begins a burst only when it is old", () => {
    const atStart = (index: number): bigint => (index === 0 ? 143_000_000n : 5_000_000n);
    const start = (isOld: boolean) =>
      runMarket({ blocks: 60, demand: atStart, others: () => 0n, isOld, average: 5_000_000n }).blocks;
    expect(highest(start(true))).toBeGreaterThan(1.4);
    expect(highest(start(false))).toBeLessThan(1.03);
  });

  it("ends its burst with the second block that could not be filled, or when its blocks are over", () => {
    const burstBlocks = (load: Partial<MarketLoad>): number =>
      runMarket({ blocks: 100, demand: backlog, others: () => 0n, ...load }).blocks.filter(
        ({ budget }) => budget.phase === "burst",
      ).length;
    // All are in one block, and none is ready for the next one.
    const inTurn = (index: number, due: bigint): bigint => (index % 2 === 0 ? due : 0n);
    expect(burstBlocks({ ready: inTurn })).toBeLessThanOrEqual(5);
    // None is sent at all.
    expect(burstBlocks({ ready: (index, due) => (index < 30 ? due : 0n) })).toBe(9);
    // There is more to send all the time.
    expect(burstBlocks({ demand: (index) => (index < 30 ? 0n : 143_000_000n) })).toBeLessThanOrEqual(9);
  });

  it("of a demand a little above the budget is no series of bursts", () => {
    const average = 15_500_000n;
    const { blocks } = runMarket({ blocks: BLOCKS, demand: () => average, average, others: () => 0n });
    expect(highest(blocks.slice(WARM_UP))).toBeLessThan(1.03);
  });
});

describe("what a burst leaves", () => {
  it("is twice the deviation of the others, besides their mean", () => {
    const others = { mean: 4_000_000n, deviation: 2_000_000n };
    const input = {
      state: initialState(PARAMS),
      params: PARAMS,
      ceiling: CEILING,
      others,
      othersPeak: 4_000_000n,
      backlog: { gas: 200_000_000n, oldGas: 200_000_000n, demandGas: 0n },
      sentGas: 0n,
    };
    const few = { ...input, othersPeak: 0n, others: { mean: 6_000_000n, deviation: 2_000_000n } };
    // The whole block keeps the price below the ceiling.
    expect(createBudgetController().plan(1n, few)).toMatchObject({ phase: "burst", gas: 20_000_000n });
    // And the room for what they have used of one block already, or three tenths of it.
    const room = (othersPeak: bigint) => createBudgetController().plan(1n, { ...input, othersPeak }).gas;
    expect([room(12_000_000n), room(0n)]).toEqual([18_000_000n, 21_000_000n]);
    const alone = { ...input, others: { mean: 0n, deviation: 0n }, othersPeak: 0n };
    expect(createBudgetController().plan(1n, alone).gas).toBe(21_000_000n);
  });

  it("has no tolerance: its price ends at the ceiling. The steady budget has one of a 25th", () => {
    const { blocks } = runMarket({ blocks: 100, demand: always, others: () => 0n, isOld: true });
    for (const { budget } of blocks)
      expect(budget.toleranceGas).toBe(budget.phase === "burst" ? 0n : budget.gas / 25n);
    expect(new Set(blocks.map(({ budget }) => budget.phase))).toEqual(
      new Set(["burst", "recovering", "steady"]),
    );
  });
});

describe("others who begin to use 8 million gas of each block", () => {
  it.each([
    { when: "in the steady state", load: { demand: always, average: 40_000_000n } },
    { when: "in a burst", load: { demand: (index: number) => (index === 100 ? 200_000_000n : 5_000_000n) } },
  ])("find room in each block, and none is without a result: $when", ({ load }) => {
    for (const delay of [0, 1]) {
      const others = (index: number): bigint => gas(index < 102 ? 0 : 8);
      const { blocks } = runMarket({ blocks: 200, others, delay, ...load });
      const after = blocks.slice(102);
      expect(after.filter((block) => block.others < gas(8))).toEqual([]);
      expect(after.filter(({ own }) => own === 0n)).toEqual([]);
    }
  });
});

describe("a single result that exceeds the budget", () => {
  it("may be sent while the price is calm and stays below the ceiling, and not while it recovers", () => {
    const { blocks } = runMarket({ blocks: 100, demand: always, others: () => gas(14) });
    const calm = blocks.at(-1)?.budget;
    expect(Number(calm?.singleGas)).toBeGreaterThan(Number(calm?.gas));
    for (const { budget } of blocks) if (budget.phase === "recovering") expect(budget.singleGas).toBe(0n);
  });
});

describe("with any parameters and any traffic", () => {
  it("nothing is sent above the ceiling, and the relayer alone does not push the price above it", () => {
    const percent = (min: number, max: number) =>
      fc.integer({ min, max }).map((value) => (BigInt(value) * DEC18_ONE) / 100n);
    fc.assert(
      fc.property(
        fc.record({
          alpha: percent(0, 5),
          beta: percent(90, 100),
          gamma: percent(0, 40),
          rate: percent(1, 30),
          window: fc.integer({ min: 1, max: 8 }).map(BigInt),
          maximum: fc.bigInt({ min: 1_000_000n, max: 60_000_000n }),
          seed: fc.nat(),
          share: fc.integer({ min: 0, max: 100 }),
          ceiling: fc.integer({ min: 101, max: 1_000 }),
        }),
        ({ alpha, beta, gamma, rate, window, maximum, seed, share, ceiling: percentOfMinimum }) => {
          const params = {
            ...PARAMS,
            alpha,
            beta,
            gamma,
            window,
            minLearningRate: rate,
            maxLearningRate: rate + DEC18_ONE / 10n,
            maxBlockUtilization: maximum,
          };
          const ceiling = (MINIMUM * BigInt(percentOfMinimum)) / 100n;
          const others = (index: number): bigint =>
            BigInt(Math.floor((noise(seed + index) * share * Number(maximum)) / 100));
          const run = (traffic: MarketLoad["others"]) =>
            runMarket({ blocks: 60, params, ceiling, demand: () => maximum, others: traffic }).blocks;
          for (const { own, price } of run(others)) expect(own === 0n || price <= ceiling).toBe(true);
          for (const { price } of run(() => 0n)) expect(price <= ceiling || ceiling < MINIMUM).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});
