import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../../base/decimal.ts";
import type { State as WireState } from "../../../proto/gen/feemarket/feemarket/v1/genesis.ts";
import type { Params } from "./params.ts";

/** The market between two transactions. Decimals are {@link Dec18}. */
export interface State {
  readonly baseGasPrice: Dec18;
  readonly learningRate: Dec18;
  /** Gas used by the last blocks; the current one is at `index`. */
  readonly window: readonly bigint[];
  readonly index: bigint;
}

/** Where the market begins. */
export function initialState(params: Params): State {
  return {
    baseGasPrice: params.minBaseGasPrice,
    learningRate: params.minLearningRate,
    window: Array.from({ length: Number(params.window) }, () => 0n),
    index: 0n,
  };
}

/** Reads a stored state; decimals are text of the number times 10^18. */
export function fromWire(wire: WireState): State {
  return { ...wire, baseGasPrice: BigInt(wire.baseGasPrice), learningRate: BigInt(wire.learningRate) };
}

/** The inverse of {@link fromWire}. */
export function toWire(state: State): WireState {
  return {
    baseGasPrice: state.baseGasPrice.toString(),
    learningRate: state.learningRate.toString(),
    window: [...state.window],
    index: state.index,
  };
}

/** The state after a transaction that used this gas, or what the block's use would be if that is too much. */
export function addUse(
  state: State,
  gas: bigint,
  params: Params,
): { readonly state: State } | { readonly tooMuch: bigint } {
  const use = currentUse(state) + gas;
  if (use > params.maxBlockUtilization) return { tooMuch: use };
  return { state: { ...state, window: state.window.with(Number(state.index), use) } };
}

/** The state for the next block: learning rate, then price from the current block's use, then an empty place in the window. */
export function closeBlock(state: State, params: Params): State {
  const learningRate = nextLearningRate(state, params);
  const baseGasPrice = nextPrice({ ...state, learningRate }, params);
  const index = (state.index + 1n) % BigInt(state.window.length);
  return { baseGasPrice, learningRate, index, window: state.window.with(Number(index), 0n) };
}

function currentUse(state: State): bigint {
  return state.window[Number(state.index)] ?? 0n;
}

function targetOf(params: Params): bigint {
  return params.maxBlockUtilization / 2n;
}

/** Additive increase when the window was nearly empty or nearly full, multiplicative decrease otherwise. */
function nextLearningRate({ window, learningRate }: State, params: Params): Dec18 {
  const used = window.reduce((sum, use) => sum + use, 0n);
  const possible = BigInt(window.length) * params.maxBlockUtilization;
  const average = quoDec18(used * DEC18_ONE, possible * DEC18_ONE);
  if (average <= params.gamma || average >= DEC18_ONE - params.gamma)
    return min(params.alpha + learningRate, params.maxLearningRate);
  return max(mulDec18(learningRate, params.beta), params.minLearningRate);
}

/** EIP-1559 with the learning rate as its step, plus `delta` times the window's net use; not below the minimum. */
function nextPrice(state: State, params: Params): Dec18 {
  const target = targetOf(params);
  const utilization = quoDec18((currentUse(state) - target) * DEC18_ONE, target * DEC18_ONE);
  const factor = DEC18_ONE + mulDec18(state.learningRate, utilization);
  const net = state.window.reduce((sum, use) => sum + use - target, 0n) * params.delta;
  return max(mulDec18(state.baseGasPrice, factor) + net, params.minBaseGasPrice);
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
