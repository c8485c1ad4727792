import { describe, expect, it } from "vitest";
import {
  addUtilization,
  closeBlock,
  DEPLOYED_MARKET,
  gasOfBlock,
  gasUpToPrice,
  initialState,
  priceAfter,
} from "../../../src/cosmos/fee-market/market.ts";
import { formatDec18 } from "../../../src/platform/base/decimal.ts";
import {
  closed,
  impliedGas,
  payingTxs,
  RECORDED_PARAMS,
  RECORDED_STEPS,
  stateAfter,
} from "../../support/recorded-market.ts";

describe("the recorded fee market", () => {
  it("has the parameters of the deployed chain", () => {
    expect(RECORDED_PARAMS).toMatchObject(DEPLOYED_MARKET);
  });

  it("was recorded at the minimum, above it, on its way up and down", () => {
    expect(RECORDED_STEPS.length).toBe(167);
    const prices = RECORDED_STEPS.map(({ block }) => stateAfter(block).baseGasPrice);
    expect(prices.filter((price) => price > RECORDED_PARAMS.minBaseGasPrice).length).toBeGreaterThan(100);
    expect(formatDec18(prices.reduce((a, b) => (a > b ? a : b)))).toMatch(/^[01]\.\d+$/);
  });

  it("is reached by the model to the last digit", () => {
    for (const step of RECORDED_STEPS) {
      // A price of 10^-18 units moves by many units for each unit of gas, so the gas of a block above the minimum is exact.
      const before = stateAfter(step.previous);
      expect(closed(before, impliedGas(step)), step.block.height).toEqual(stateAfter(step.block));
    }
  });

  it("counts the gas of a transaction without that of its fee's payout", () => {
    for (const step of RECORDED_STEPS) {
      const { block } = step;
      const paying = payingTxs(block);
      if (stateAfter(block).baseGasPrice === RECORDED_PARAMS.minBaseGasPrice || paying.length === 0) continue;
      const used = paying.reduce((sum, tx) => sum + BigInt(tx.gas_used), 0n);
      const payout = (used - impliedGas(step)) / BigInt(paying.length);
      expect(payout, block.height).toBeGreaterThan(44_400n);
      expect(payout, block.height).toBeLessThan(44_800n);
    }
  });
});

describe("the gas that a block used", () => {
  it("follows from the recorded states before and after it, to the unit of the price's last digits", () => {
    let exact = 0;
    for (const { previous, block } of RECORDED_STEPS) {
      const [before, after] = [stateAfter(previous), stateAfter(block)];
      const found = gasOfBlock(before, after, RECORDED_PARAMS);
      // The recorded gas includes the payouts, which do not count: below 44,800 for each transaction.
      const recordedGas = block.txs.reduce((sum, { gas_used: gas }) => sum + BigInt(gas), 0n);
      const payouts = BigInt(block.txs.length) * 44_800n;
      if (!found.isExact) {
        expect(found.gas >= recordedGas - payouts).toBe(true);
        continue;
      }
      exact += 1;
      expect(priceAfter(before, found.gas, RECORDED_PARAMS)).toBe(after.baseGasPrice);
      expect(found.gas <= recordedGas && found.gas >= recordedGas - payouts).toBe(true);
    }
    expect(exact).toBeGreaterThan(100);
  });

  it("is in the window when that has several blocks", () => {
    const params = { ...RECORDED_PARAMS, window: 4n };
    const before = { ...initialState(params), index: 2n };
    const used = addUtilization(before, 12_345n, params);
    const state = "state" in used ? used.state : before;
    expect(gasOfBlock(state, closeBlock(state, params), params)).toEqual({ gas: 12_345n, isExact: true });
  });
});

describe("the gas up to a price", () => {
  it("is the most that keeps the next price at or below it", () => {
    const state = { ...initialState(RECORDED_PARAMS), baseGasPrice: 2n * RECORDED_PARAMS.minBaseGasPrice };
    for (const percent of [90n, 100n, 105n, 112n]) {
      const most = (state.baseGasPrice * percent) / 100n;
      const gas = gasUpToPrice(state, most, RECORDED_PARAMS) ?? -1n;
      expect(priceAfter(state, gas, RECORDED_PARAMS) <= most).toBe(true);
      expect(priceAfter(state, gas + 1n, RECORDED_PARAMS) > most).toBe(true);
    }
    expect(gasUpToPrice(state, 2n * state.baseGasPrice, RECORDED_PARAMS)).toBe(
      RECORDED_PARAMS.maxBlockUtilization,
    );
    expect(gasUpToPrice(state, state.baseGasPrice / 2n, RECORDED_PARAMS)).toBeUndefined();
  });
});
