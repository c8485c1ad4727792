import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEC18_ONE, formatDec18, parseDec18 } from "../../../src/platform/base/decimal.ts";
import {
  addUtilization,
  closeBlock,
  initialState,
  type State,
} from "../../../src/cosmos/fee-market/market.ts";
import type { Params } from "../../../src/cosmos/fee-market/market.ts";
import { defaultParams, findParamsError } from "../../../src/localnet/chain/modules/feemarket/params.ts";

const PARAMS = defaultParams("untrn");
const TARGET = PARAMS.maxBlockUtilization / 2n;

/** Returns the state after one block that used this gas. */
function after(state: State, gas: bigint, params: Params): State {
  const added = addUtilization(state, gas, params);
  if ("exceeded" in added) throw new Error("the block is too full");
  return closeBlock(added.state, params);
}

const priced = (price: string): State => ({ ...initialState(PARAMS), baseGasPrice: parseDec18(price) });

describe("the price of gas", () => {
  it.each([
    ["falls by an eighth after an empty block", "1", 0n, "0.875000000000000000"],
    ["stays after a block on target", "1", TARGET, "1.000000000000000000"],
    ["rises by an eighth after a full block", "1", PARAMS.maxBlockUtilization, "1.125000000000000000"],
    [
      "rises by a sixteenth half way between target and full",
      "1",
      (TARGET * 3n) / 2n,
      "1.062500000000000000",
    ],
    ["does not fall below its minimum", "0.0026", 0n, "0.002500000000000000"],
    ["rises from its minimum", "0.0025", PARAMS.maxBlockUtilization, "0.002812500000000000"],
  ])("%s", (_name, price, gas, expected) => {
    expect(formatDec18(after(priced(price), gas, PARAMS).baseGasPrice)).toBe(expected);
  });

  it("is at least the minimum after any blocks", () => {
    const gases = fc.array(fc.bigInt({ min: 0n, max: PARAMS.maxBlockUtilization }), { maxLength: 30 });
    fc.assert(
      fc.property(gases, (all) => {
        const end = all.reduce((state, gas) => after(state, gas, PARAMS), initialState(PARAMS));
        expect(end.baseGasPrice).toBeGreaterThanOrEqual(PARAMS.minBaseGasPrice);
        expect(end.window).toEqual([0n]);
      }),
    );
  });
});

describe("the learning rate", () => {
  const params: Params = {
    ...PARAMS,
    alpha: parseDec18("0.025"),
    beta: parseDec18("0.95"),
    gamma: parseDec18("0.25"),
    minLearningRate: parseDec18("0.0125"),
    window: 4n,
  };

  it("grows by alpha when the window is nearly empty or full and shrinks by beta otherwise", () => {
    const start: State = { ...initialState(params), window: [0n, 0n, 0n, 0n] };
    const full = [1, 2, 3, 4].reduce((state) => after(state, params.maxBlockUtilization, params), start);
    expect(formatDec18(after(start, 0n, params).learningRate)).toBe("0.037500000000000000");
    expect(full.learningRate).toBeGreaterThan(start.learningRate);
    const mixed = after(
      { ...start, learningRate: DEC18_ONE / 4n, window: [0n, TARGET, TARGET, TARGET] },
      TARGET,
      params,
    );
    expect(formatDec18(mixed.learningRate)).toBe("0.237500000000000000");
    expect(mixed.index).toBe(1n);
  });

  it("stays between its bounds", () => {
    const gases = fc.array(fc.bigInt({ min: 0n, max: params.maxBlockUtilization }), { maxLength: 60 });
    fc.assert(
      fc.property(gases, (all) => {
        const end = all.reduce((state, gas) => after(state, gas, params), initialState(params));
        expect(end.learningRate).toBeGreaterThanOrEqual(params.minLearningRate);
        expect(end.learningRate).toBeLessThanOrEqual(params.maxLearningRate);
      }),
    );
  });
});

describe("the utilization of a block", () => {
  it("may reach the maximum and not exceed it by one", () => {
    const state = initialState(PARAMS);
    expect(addUtilization(state, PARAMS.maxBlockUtilization, PARAMS)).toMatchObject({
      state: { window: [30_000_000n] },
    });
    expect(addUtilization(state, PARAMS.maxBlockUtilization + 1n, PARAMS)).toEqual({ exceeded: 30_000_001n });
  });
});

describe("parameters", () => {
  it.each<readonly [Partial<Params>, string | undefined]>([
    [{}, undefined],
    [{ window: 0n }, "window"],
    [{ alpha: -1n }, "alpha"],
    [{ beta: DEC18_ONE + 1n }, "beta"],
    [{ gamma: DEC18_ONE }, "gamma"],
    [{ delta: -1n }, "delta"],
    [{ maxBlockUtilization: 1n }, "max_block_utilization"],
    [{ minBaseGasPrice: 0n }, "min_base_gas_price"],
    [{ maxLearningRate: 0n }, "max_learning_rate"],
    [{ feeDenom: "" }, "fee_denom"],
  ])("%o: invalid field %s", (change, field) => {
    expect(findParamsError({ ...PARAMS, ...change })?.field).toBe(field);
  });
});
