import { readFileSync } from "node:fs";
import {
  addUtilization,
  closeBlock,
  gasOfBlock,
  type Params,
  type State,
} from "../../src/cosmos/fee-market/market.ts";
import { type Dec18, parseDec18 } from "../../src/platform/base/decimal.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { fixtureFile } from "./fixture-file.ts";

interface RecordedTx {
  readonly code: number;
  /** "0" for the extended commit of the proposer, which is not a transaction. */
  readonly gas_wanted: string;
  readonly gas_used: string;
}

export interface RecordedBlock {
  readonly height: string;
  readonly txs: readonly RecordedTx[];
  readonly state_after: {
    readonly base_gas_price: string;
    readonly learning_rate: string;
    readonly window: readonly string[];
    readonly index: string;
  };
}

interface RecordedMarket {
  readonly params: Readonly<Record<string, string | boolean>>;
  readonly blocks: readonly RecordedBlock[];
}

const recorded: RecordedMarket = JSON.parse(readFileSync(fixtureFile("feemarket/sequence.json"), "utf8"));
const text = (name: string): string => String(recorded.params[name]);
const decimal = (name: string): Dec18 => parseDec18(text(name));

/** Genesis state of the module `feemarket` that continues after a recorded block. */
export function genesisAfter({ state_after }: RecordedBlock): JsonObject {
  return { params: recorded.params, state: { ...state_after } };
}

/** Parameters of the recorded chain. */
export const RECORDED_PARAMS: Params = {
  alpha: decimal("alpha"),
  beta: decimal("beta"),
  gamma: decimal("gamma"),
  delta: decimal("delta"),
  minBaseGasPrice: decimal("min_base_gas_price"),
  minLearningRate: decimal("min_learning_rate"),
  maxLearningRate: decimal("max_learning_rate"),
  maxBlockUtilization: BigInt(text("max_block_utilization")),
  window: BigInt(text("window")),
  feeDenom: text("fee_denom"),
  enabled: recorded.params["enabled"] === true,
  distributeFees: recorded.params["distribute_fees"] === true,
  sendTipToProposer: recorded.params["send_tip_to_proposer"] === true,
};

/** A block whose predecessor was recorded too. */
export interface RecordedStep {
  readonly previous: RecordedBlock;
  readonly block: RecordedBlock;
}

/** All such blocks. The recording has two parts, each of consecutive heights. */
export const RECORDED_STEPS: readonly RecordedStep[] = recorded.blocks.flatMap((block, index) => {
  const previous = recorded.blocks[index - 1];
  return previous !== undefined && BigInt(previous.height) + 1n === BigInt(block.height)
    ? [{ previous, block }]
    : [];
});

/** Converts the recorded state after a block. */
export function stateAfter({ state_after: state }: RecordedBlock): State {
  return {
    baseGasPrice: parseDec18(state.base_gas_price),
    learningRate: parseDec18(state.learning_rate),
    window: state.window.map(BigInt),
    index: BigInt(state.index),
  };
}

/** Returns the transactions of a block without the extended commit. */
export function payingTxs({ txs }: RecordedBlock): readonly RecordedTx[] {
  return txs.filter(({ gas_wanted }) => gas_wanted !== "0");
}

/** Returns the state after a block of this gas. */
export function closed(before: State, gas: bigint): State {
  const added = addUtilization(before, gas, RECORDED_PARAMS);
  if ("exceeded" in added) throw new Error("the block is too full");
  return closeBlock(added.state, RECORDED_PARAMS);
}

/** Returns the gas that the block counted, as its price shows it: above the minimum exactly, at the minimum the most that it can be. */
export function impliedGas({ previous, block }: RecordedStep): bigint {
  return gasOfBlock(stateAfter(previous), stateAfter(block), RECORDED_PARAMS).gas;
}
