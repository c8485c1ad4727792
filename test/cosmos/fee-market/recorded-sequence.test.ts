import { describe, expect, it } from "vitest";
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
