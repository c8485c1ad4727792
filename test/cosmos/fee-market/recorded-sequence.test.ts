import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  addUtilization,
  closeBlock,
  type MarketParams,
  type State,
} from "../../../src/cosmos/fee-market/market.ts";
import { type Dec18, formatDec18, parseDec18 } from "../../../src/platform/base/decimal.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

interface RecordedBlock {
  readonly height: string;
  readonly txs: readonly { readonly code: number; readonly gas_wanted: string; readonly gas_used: string }[];
  readonly state_after: {
    readonly base_gas_price: string;
    readonly learning_rate: string;
    readonly window: readonly string[];
    readonly index: string;
  };
}

interface RecordedMarket {
  readonly params: Readonly<Record<string, string>>;
  readonly blocks: readonly RecordedBlock[];
}

const recorded: RecordedMarket = JSON.parse(readFileSync(fixtureFile("feemarket/sequence.json"), "utf8"));
const decimal = (name: string): Dec18 => parseDec18(recorded.params[name] ?? "");

const PARAMS: MarketParams = {
  alpha: decimal("alpha"),
  beta: decimal("beta"),
  gamma: decimal("gamma"),
  delta: decimal("delta"),
  minBaseGasPrice: decimal("min_base_gas_price"),
  minLearningRate: decimal("min_learning_rate"),
  maxLearningRate: decimal("max_learning_rate"),
  maxBlockUtilization: BigInt(recorded.params["max_block_utilization"] ?? ""),
  window: BigInt(recorded.params["window"] ?? ""),
};

/** Each block whose predecessor was recorded too. */
const STEPS = recorded.blocks.flatMap((block, index) => {
  const before = recorded.blocks[index - 1];
  return before !== undefined && BigInt(before.height) + 1n === BigInt(block.height)
    ? [{ before: stateAfter(before), block }]
    : [];
});

function stateAfter({ state_after: state }: RecordedBlock): State {
  return {
    baseGasPrice: parseDec18(state.base_gas_price),
    learningRate: parseDec18(state.learning_rate),
    window: state.window.map(BigInt),
    index: BigInt(state.index),
  };
}

function closed(before: State, gas: bigint): State {
  const added = addUtilization(before, gas, PARAMS);
  if ("exceeded" in added) throw new Error("the block is too full");
  return closeBlock(added.state, PARAMS);
}

/** The least gas with which the model reaches the recorded price. */
function impliedGas(before: State, price: Dec18): bigint {
  let [low, high] = [0n, PARAMS.maxBlockUtilization];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (closed(before, middle).baseGasPrice < price) low = middle + 1n;
    else high = middle;
  }
  return low;
}

describe("the recorded fee market", () => {
  it("was recorded at the minimum, above it, on its way up and down", () => {
    expect(STEPS.length).toBe(167);
    const prices = recorded.blocks.map((block) => stateAfter(block).baseGasPrice);
    expect(prices.filter((price) => price > PARAMS.minBaseGasPrice).length).toBeGreaterThan(100);
    expect(formatDec18(prices.reduce((a, b) => (a > b ? a : b)))).toMatch(/^[01]\.\d+$/);
  });

  it("is reached by the model to the last digit", () => {
    for (const { before, block } of STEPS) {
      const after = stateAfter(block);
      // A price of 10^-18 units moves by many units for each unit of gas, so the gas of a block above the minimum is exact.
      expect(closed(before, impliedGas(before, after.baseGasPrice)), block.height).toEqual(after);
    }
  });

  it("counts the gas of a transaction without that of its fee's payout", () => {
    const isPaying = ({ gas_wanted }: { readonly gas_wanted: string }): boolean => gas_wanted !== "0";
    for (const { before, block } of STEPS) {
      const after = stateAfter(block);
      const paying = block.txs.filter(isPaying);
      if (after.baseGasPrice === PARAMS.minBaseGasPrice || paying.length === 0) continue;
      const used = paying.reduce((sum, tx) => sum + BigInt(tx.gas_used), 0n);
      const payout = (used - impliedGas(before, after.baseGasPrice)) / BigInt(paying.length);
      expect(payout, block.height).toBeGreaterThan(44_400n);
      expect(payout, block.height).toBeLessThan(44_800n);
    }
  });
});
