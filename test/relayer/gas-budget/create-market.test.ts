import { describe, expect, it } from "vitest";
import {
  addUtilization,
  closeBlock,
  initialState,
  type State,
} from "../../../src/cosmos/fee-market/market.ts";
import { DEC18_ONE } from "../../../src/platform/base/decimal.ts";
import { createMarket, type Market } from "../../../src/relayer/gas-budget/create-market.ts";
import { MINIMUM, PARAMS, runMarket, TARGET } from "./market-world.ts";

/** A chain whose blocks use the given gas, and a market that reads it. */
function setUp(more: Partial<Parameters<typeof createMarket>[0]> = {}) {
  const clock = { monotonicMs: () => clock.ms, nowMs: () => clock.ms, ms: 1_000_000 };
  const market = createMarket({ ceiling: undefined, cap: DEC18_ONE, denom: "untrn", ...more }, clock);
  market.setParams(PARAMS);
  let state: State = initialState(PARAMS);
  let height = 100n;
  market.recordState(height, state);
  /** Makes a block with own gas and that of others, and reads its state. `paid`: what the own gas costs, in percent of its price. */
  const block = (own: bigint, others: bigint, isRead = true, paid = 105n): void => {
    const fee = (own * state.baseGasPrice * paid) / (100n * DEC18_ONE);
    market.recordSent(height, own);
    const used = addUtilization(state, own + others, PARAMS);
    state = closeBlock("state" in used ? used.state : state, PARAMS);
    height += 1n;
    market.recordOwn(height, own, fee);
    if (isRead) market.recordState(height, state);
    market.recordComplete(height);
  };
  return { market, block, clock, state: () => state, height: () => height };
}

const lastBlock = (market: Market) => market.status()?.blocks.at(-1);

/** A backlog that has been due for long. */
const due = (gas: bigint) => ({ gas, oldGas: gas, demandGas: 0n });

describe("the gas of others", () => {
  it("is what the change of the price says, less the own gas", () => {
    const { market, block, height } = setUp();
    block(9_000_000n, 7_000_000n);
    block(9_000_000n, 7_000_000n);
    expect(lastBlock(market)).toMatchObject({ height: height(), ownGas: 9_000_000n, othersGas: 7_000_000n });
    for (let count = 0; count < 40; count++) block(8_500_000n, 7_000_000n);
    expect(Number(market.status()?.othersGas) / 7_000_000).toBeCloseTo(1, 4);
  });

  it("is not known while the price stays at the minimum: the estimate decays, and never exceeds what is left", () => {
    const { market, block } = setUp();
    for (let count = 0; count < 30; count++) block(10_000_000n, 8_000_000n);
    expect(market.status()?.othersGas).toBeGreaterThan(7_900_000n);
    for (let count = 0; count < 60; count++) block(0n, 0n);
    expect(lastBlock(market)).toMatchObject({ ownGas: 0n, othersGas: undefined });
    expect(market.status()?.othersGas).toBeLessThan(2_000_000n);
    block(14_000_000n, 0n);
    expect(market.status()?.othersGas).toBeLessThanOrEqual(1_000_000n);
  });

  it("counts a block when all own transactions of it are known, and leaves out blocks that were not read", () => {
    const { market, block, state, height } = setUp();
    block(12_000_000n, 6_000_000n);
    block(12_000_000n, 6_000_000n, false);
    block(12_000_000n, 6_000_000n);
    expect(market.status()?.blocks.map((one) => one.height)).toEqual([101n]);
    market.recordState(height() + 1n, state());
    expect(lastBlock(market)?.height).toBe(101n);
  });
});

describe("the factor of the fees", () => {
  it("is what was paid for the gas of the last blocks at their prices, and unknown before", () => {
    const { market, block } = setUp();
    const factor = (): number => Number(market.status()?.feeFactor) / Number(DEC18_ONE);
    block(0n, 9_000_000n);
    expect(market.status()?.feeFactor).toBeUndefined();
    block(14_000_000n, 9_000_000n, true, 120n);
    expect(factor()).toBeCloseTo(1.2, 4);
    block(14_000_000n, 0n, true, 110n);
    // The second block has a higher price.
    expect(factor()).toBeGreaterThan(1.145);
    expect(factor()).toBeLessThan(1.15);
    for (let count = 0; count < 100; count++) block(14_000_000n, 0n, true, 110n);
    expect(factor()).toBeCloseTo(1.1, 4);
  });

  it("is unknown when fees are paid in another denom than the market's", () => {
    const { market, block } = setUp({ denom: "uatom" });
    block(14_000_000n, 0n);
    expect(market.status()).toMatchObject({ blocks: [{ ownGas: 14_000_000n }], feeFactor: undefined });
  });
});

describe("a market", () => {
  it("predicts the state of a block that was not read yet, from what was sent and what others use", () => {
    const { market, block, height, state } = setUp();
    for (let count = 0; count < 40; count++) block(12_000_000n, 6_000_000n);
    const price = market.priceAt(height())?.price ?? 0n;
    expect(price).toBe(state().baseGasPrice);
    block(12_000_000n, 6_000_000n, false);
    const predicted = market.priceAt(height())?.price ?? 0n;
    expect(Number(predicted) / Number(state().baseGasPrice)).toBeCloseTo(1, 2);
    expect(predicted).toBeGreaterThan(price);
    // Nothing is known about a distant height.
    expect(market.priceAt(height() + 10n)).toBeUndefined();
  });

  it("is that of the newest block with an own transaction, although nothing has announced that block", () => {
    const { market, block, height } = setUp();
    for (let count = 0; count < 5; count++) block(27_000_000n, 3_000_000n);
    const before = height();
    market.plan(before, due(50_000_000n));
    const known = market.priceAt(before)?.price ?? 0n;
    expect(market.budget()).toMatchObject({ phase: "burst" });
    market.recordSent(before, 27_000_000n);
    market.recordOwn(before + 1n, 27_000_000n, 0n);
    market.plan(before, due(50_000_000n));
    const next = market.priceAt(before)?.price ?? 0n;
    expect(Number(next) / Number(known)).toBeCloseTo(1.125, 2);
    expect(market.budget()).toMatchObject({ phase: "above-ceiling", gas: 0n });
    // What is sent now is in the block after that one.
    market.recordSent(before, 0n);
    expect(market.priceAt(before + 1n)?.price).toBe(next);
    // A chain that was reset has none of them.
    expect(market.priceAt(before - 50n)).toBeUndefined();
  });

  it("covers the rise of the price until the block after the next one", () => {
    const { market, block, height } = setUp();
    for (let count = 0; count < 40; count++) block(15_000_000n, 15_000_000n);
    market.plan(height(), due(0n));
    expect(market.priceAt(height())?.rise).toBeGreaterThan(DEC18_ONE);
    const calm = setUp();
    calm.market.plan(calm.height(), due(0n));
    expect(calm.market.priceAt(calm.height())?.rise).toBeLessThan((DEC18_ONE * 102n) / 100n);
  });

  it("covers the rise that the own gas of the next block causes, also without a budget", () => {
    const { market, height } = setUp({ ceiling: DEC18_ONE });
    market.plan(height(), due(90_000_000n));
    expect(market.budget()).toBeUndefined();
    expect(market.priceAt(height())?.rise).toBe(DEC18_ONE);
    expect(Number(market.priceAt(height(), 27_000_000n)?.rise) / 1e18).toBeCloseTo(1 + (0.125 * 12) / 15, 6);
  });

  it("expects others that have begun to fill blocks to go on", () => {
    const { market, block, height, state } = setUp();
    for (let count = 0; count < 40; count++) block(13_000_000n, 2_000_000n);
    block(5_000_000n, 12_000_000n);
    const { price, rise } = market.priceAt(height()) ?? { price: 0n, rise: 0n };
    expect(price).toBe(state().baseGasPrice);
    // With the target's gas beside them: 12 M of 15 M above the target.
    expect(Number(rise) / Number(DEC18_ONE)).toBeCloseTo(1 + (0.125 * 12) / 15, 6);
  });

  it("offers enough for the block after the next one while it sends a burst itself, beside others or not", () => {
    for (const others of [0n, 3_000_000n]) {
      const demand = (index: number): bigint => (index === 60 ? 143_000_000n : 7_000_000n);
      const { blocks } = runMarket({ blocks: 90, demand, others: () => others });
      // At the minimum the others were not known. The first blocks of the burst show them.
      const burst = blocks.slice(62);
      expect(burst.filter(({ budget }) => budget.phase === "burst").length).toBeGreaterThan(3);
      for (const [index, { quote, price }] of burst.slice(0, -1).entries()) {
        const offer = ((quote?.price ?? 0n) * (quote?.rise ?? 0n)) / DEC18_ONE;
        expect(quote?.price).toBe(price);
        expect(Number(burst[index + 1]?.price) / Number(offer)).toBeLessThan(1.001);
      }
    }
  });

  it("compares ceiling and cap of fees in another denom in one denom, and says when the price in it is not known", () => {
    // 0.002 uatom; the market's minimum is 0.0025 untrn, and uatom cost a sixth.
    const { market, block, height } = setUp({ denom: "uatom", cap: 2n * 10n ** 15n });
    const plan = () => (market.plan(height(), due(10n * TARGET)), market.budget());
    expect(plan()).toMatchObject({ phase: "unpriced", gas: TARGET });
    expect([market.latestPrice(), market.ceiling(), market.status()?.phase]).toEqual([
      undefined,
      undefined,
      "unpriced",
    ]);
    market.recordFeePrice(height(), MINIMUM / 6n);
    // The cap is 12 × 10^15 untrn, above the ceiling of twice the minimum.
    expect(plan()?.phase).toBe("burst");
    expect([market.status()?.ceiling, market.status()?.cap]).toEqual([2n * MINIMUM, expect.anything()]);
    expect(Number(market.status()?.cap) / 12e15).toBeCloseTo(1, 6);
    expect(Number(market.latestPrice()) / (Number(MINIMUM) / 6)).toBeCloseTo(1, 6);
    expect(Number(market.ceiling()) / (Number(MINIMUM) / 3)).toBeCloseTo(1, 6);
    for (let count = 0; count < 3; count++) block(27_000_000n, 3_000_000n);
    expect(Number(market.latestPrice()) / (Number(MINIMUM) / 6)).toBeGreaterThan(1.3);
    // It is worth more: the cap is below the ceiling now, and the share of a block alone limits it.
    market.recordFeePrice(height(), MINIMUM);
    expect(plan()).toBeUndefined();
    const own = setUp({ denom: "uatom", ceiling: MINIMUM / 4n, cap: DEC18_ONE });
    expect((own.market.plan(100n, due(TARGET)), own.market.budget())?.phase).toBe("unpriced");
    own.market.recordFeePrice(100n, MINIMUM / 6n);
    expect(Number(own.market.status()?.ceiling) / (Number(MINIMUM) * 1.5)).toBeCloseTo(1, 6);
  });

  it("has no price for fees in another denom, and no budget without parameters or with the ceiling at the cap", () => {
    const other = setUp({ denom: "uatom" });
    other.market.plan(100n, due(TARGET));
    expect(other.market.priceAt(100n)).toBeUndefined();
    expect(other.market.budget()).toBeDefined();
    const full = setUp({ ceiling: DEC18_ONE });
    full.market.plan(100n, due(TARGET));
    expect([full.market.budget(), full.market.status()?.phase]).toEqual([undefined, "unlimited"]);
    full.market.setParams(undefined);
    expect([full.market.params(), full.market.status(), full.market.ceiling()]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    full.market.setParams({ ...PARAMS, enabled: false });
    expect(full.market.params()).toBeUndefined();
  });

  it("has the budget that keeps the price while its state cannot be read, and never a whole block", () => {
    const { market, block, height } = setUp();
    market.plan(50n, due(10n * TARGET));
    expect(market.budget()).toMatchObject({ gas: TARGET, toleranceGas: 0n, phase: "steady" });
    for (let count = 0; count < 40; count++) block(12_000_000n, 6_000_000n);
    market.plan(height() + 10n, due(10n * TARGET));
    expect(Number(market.budget()?.gas) / 9_000_000).toBeCloseTo(1, 2);
  });

  it("has a ceiling of twice the minimum, unless one is set", () => {
    expect(setUp().market.ceiling()).toBe(2n * MINIMUM);
    expect(setUp({ ceiling: 3n * MINIMUM }).market.ceiling()).toBe(3n * MINIMUM);
  });

  it("forgets a chain that was reset, and ignores a response that comes late", () => {
    const { market, block, height } = setUp();
    for (let count = 0; count < 10; count++) block(12_000_000n, 6_000_000n);
    const before = market.status();
    market.recordState(height() - 2n, initialState(PARAMS));
    expect(market.status()?.readAtHeight).toBe(before?.readAtHeight);
    market.recordState(3n, initialState(PARAMS));
    expect(market.status()).toMatchObject({ readAtHeight: 3n, price: MINIMUM, blocks: [] });
  });

  it("keeps a hundred blocks, and the lowest and highest price of each five minutes of a day", () => {
    const { market, block, clock } = setUp();
    for (let count = 0; count < 700; count++) {
      clock.ms += 150_000;
      block(count % 2 === 0 ? 30_000_000n : 1_000_000n, 0n);
    }
    const status = market.status();
    expect([status?.blocks.length, status?.day.length]).toEqual([100, 288]);
    expect(status?.day.slice(1, -1).every(({ low, high }) => low < high)).toBe(true);
  });
});
