import { maxInt, minInt } from "../../platform/base/integers.ts";
import { type Dec18, DEC18_ONE, mulDec18, parseDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { Params as WireParams } from "../proto/gen/feemarket/feemarket/v1/params.ts";
import type { State as WireState } from "../proto/gen/feemarket/feemarket/v1/genesis.ts";

/** Parameters that determine the gas price (x/feemarket v1.1.1), with decimals as {@link Dec18}. */
export interface MarketParams {
  /** Amount added to the learning rate after each block if the window is nearly empty or nearly full. */
  readonly alpha: Dec18;
  /** Factor applied to the learning rate after each block if the window is neither nearly empty nor nearly full. */
  readonly beta: Dec18;
  /** Share of the window's capacity up to which the window is nearly empty. The window is nearly full from 1 minus this share on. */
  readonly gamma: Dec18;
  /** Price change per unit of gas that the window is above or below its target. */
  readonly delta: Dec18;
  readonly minBaseGasPrice: Dec18;
  readonly minLearningRate: Dec18;
  readonly maxLearningRate: Dec18;
  /** Maximum gas per block. The target is half of the maximum. */
  readonly maxBlockUtilization: bigint;
  readonly window: bigint;
}

/**
 * The deployed chain's parameters. With alpha 0, beta 1 and a window of one block, the learning rate is constant. Each price change
 * then depends only on the last block.
 */
export const DEPLOYED_MARKET: MarketParams = {
  alpha: 0n,
  beta: DEC18_ONE,
  gamma: 0n,
  delta: 0n,
  minBaseGasPrice: parseDec18("0.0025"),
  minLearningRate: DEC18_ONE / 8n,
  maxLearningRate: DEC18_ONE / 2n,
  maxBlockUtilization: 30_000_000n,
  window: 1n,
};

/** All parameters of the fee market, for setting the price and for paying out fees. */
export interface Params extends MarketParams {
  readonly feeDenom: string;
  readonly enabled: boolean;
  /** If true, fees are paid out. If false, fees stay in escrow. */
  readonly distributeFees: boolean;
  readonly sendTipToProposer: boolean;
}

/**
 * Converts parameters from protobuf, where decimals are integers in units of 10^-18. Throws `SyntaxError` if a text is not an
 * integer.
 */
export function paramsFromWire(wire: WireParams): Params {
  return {
    ...wire,
    alpha: BigInt(wire.alpha),
    beta: BigInt(wire.beta),
    gamma: BigInt(wire.gamma),
    delta: BigInt(wire.delta),
    minBaseGasPrice: BigInt(wire.minBaseGasPrice),
    minLearningRate: BigInt(wire.minLearningRate),
    maxLearningRate: BigInt(wire.maxLearningRate),
  };
}

/** Converts parameters to protobuf. The inverse function is {@link paramsFromWire}. */
export function paramsToWire(params: Params): WireParams {
  return {
    ...params,
    alpha: params.alpha.toString(),
    beta: params.beta.toString(),
    gamma: params.gamma.toString(),
    delta: params.delta.toString(),
    minBaseGasPrice: params.minBaseGasPrice.toString(),
    minLearningRate: params.minLearningRate.toString(),
    maxLearningRate: params.maxLearningRate.toString(),
  };
}

/** The fee market's state, with decimals as {@link Dec18}. */
export interface State {
  readonly baseGasPrice: Dec18;
  readonly learningRate: Dec18;
  /** Ring buffer with the gas used by the last blocks. The current block is at `index`. */
  readonly window: readonly bigint[];
  readonly index: bigint;
}

/** Returns the state of a new market: minimum price, minimum learning rate and an empty window. */
export function initialState(params: MarketParams): State {
  return {
    baseGasPrice: params.minBaseGasPrice,
    learningRate: params.minLearningRate,
    window: Array.from({ length: Number(params.window) }, () => 0n),
    index: 0n,
  };
}

/** Converts the state from protobuf, where decimals are integers in units of 10^-18. */
export function fromWire(wire: WireState): State {
  return { ...wire, baseGasPrice: BigInt(wire.baseGasPrice), learningRate: BigInt(wire.learningRate) };
}

/** Converts the state to protobuf. The inverse function is {@link fromWire}. */
export function toWire(state: State): WireState {
  return {
    baseGasPrice: state.baseGasPrice.toString(),
    learningRate: state.learningRate.toString(),
    window: [...state.window],
    index: state.index,
  };
}

/** Adds a transaction's gas to the current block. If the sum would exceed the maximum, returns the block's utilization instead. */
export function addUtilization(
  state: State,
  gas: bigint,
  params: MarketParams,
): { readonly state: State } | { readonly exceeded: bigint } {
  const utilization = currentUtilization(state) + gas;
  if (utilization > params.maxBlockUtilization) return { exceeded: utilization };
  return { state: { ...state, window: state.window.with(Number(state.index), utilization) } };
}

/** Computes the state for the next block (Go `UpdateFeeMarket`). Call this at the end of each block. */
export function closeBlock(state: State, params: MarketParams): State {
  // Compute the learning rate first, because the price of the same block uses the new rate.
  const learningRate = nextLearningRate(state, params);
  const baseGasPrice = nextPrice({ ...state, learningRate }, params);
  // The window is a ring buffer, so the next block reuses the oldest block's slot.
  const index = (state.index + 1n) % BigInt(state.window.length);
  return { baseGasPrice, learningRate, index, window: state.window.with(Number(index), 0n) };
}

/** Returns the next block's price if the current block uses this much additional gas. Cost: O(window). */
export function priceAfter(state: State, gas: bigint, params: MarketParams): Dec18 {
  const used = minInt(currentUtilization(state) + gas, params.maxBlockUtilization);
  const window = state.window.with(Number(state.index), used);
  return closeBlock({ ...state, window }, params).baseGasPrice;
}

/**
 * Returns the most gas that a block can use without raising the next price above `most`. Returns undefined if the price exceeds
 * `most` even after an empty block. Cost: O(window × log(maximum)).
 */
export function gasUpToPrice(state: State, most: Dec18, params: MarketParams): bigint | undefined {
  if (priceAfter(state, 0n, params) > most) return undefined;
  const isAbove = (gas: bigint): boolean => priceAfter(state, gas, params) > most;
  return firstThat(isAbove, params.maxBlockUtilization + 1n) - 1n;
}

/**
 * Returns the gas that one block used, from the states before and after it. If the price stayed at the minimum and the window does
 * not contain the gas, the exact gas is unknown. In this case, `isExact` is false, and `gas` is the maximum that the block can have
 * used. Cost: O(window × log(maximum)).
 */
export function gasOfBlock(
  before: State,
  after: State,
  params: MarketParams,
): { readonly gas: bigint; readonly isExact: boolean } {
  // A window of one block no longer contains the gas, because its only entry belongs to the next block.
  if (before.window.length > 1) return { gas: after.window[Number(before.index)] ?? 0n, isExact: true };
  const { baseGasPrice: price } = after;
  if (price <= params.minBaseGasPrice)
    return { gas: gasUpToPrice(before, price, params) ?? 0n, isExact: false };
  const isReached = (gas: bigint): boolean => priceAfter(before, gas, params) >= price;
  return { gas: firstThat(isReached, params.maxBlockUtilization), isExact: true };
}

/** Returns the smallest number below `end` for which a monotonic condition is true, or `end` if there is no such number. */
function firstThat(holds: (value: bigint) => boolean, end: bigint): bigint {
  let [low, high] = [0n, end];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (holds(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

function currentUtilization(state: State): bigint {
  return state.window[Number(state.index)] ?? 0n;
}

/** Returns the amount of gas in a block that keeps the price unchanged: half of the maximum, rounded down as in Go. */
export function targetOf({ maxBlockUtilization }: Pick<MarketParams, "maxBlockUtilization">): bigint {
  return maxBlockUtilization / 2n;
}

/**
 * Computes the learning rate (AIMD): additive increase if the window is nearly empty or nearly full, multiplicative decrease
 * otherwise. If blocks stay nearly empty or nearly full, the price therefore moves in increasingly large steps.
 */
function nextLearningRate({ window, learningRate }: State, params: MarketParams): Dec18 {
  const used = window.reduce((sum, utilization) => sum + utilization, 0n);
  const maximum = BigInt(window.length) * params.maxBlockUtilization;
  // The window's average utilization, from 0 to 1. Both operands are scaled to decimals, because Go divides two decimals.
  const average = quoDec18(used * DEC18_ONE, maximum * DEC18_ONE);
  if (average <= params.gamma || average >= DEC18_ONE - params.gamma)
    return minInt(params.alpha + learningRate, params.maxLearningRate);
  return maxInt(mulDec18(learningRate, params.beta), params.minLearningRate);
}

/**
 * Computes the price with the EIP-1559 formula, where the learning rate is the maximum step. Adds `delta` times the window's net
 * utilization, and returns at least the minimum price. Each quotient and product is rounded half to even, like `LegacyDec`, so a
 * different order of operations would change the last digit.
 */
function nextPrice(state: State, params: MarketParams): Dec18 {
  const target = targetOf(params);
  // The deviation is -1 for an empty block and 1 for a full block, because the target is half of the maximum.
  const deviation = quoDec18((currentUtilization(state) - target) * DEC18_ONE, target * DEC18_ONE);
  const factor = DEC18_ONE + mulDec18(state.learningRate, deviation);
  // The product of an integer and a decimal is exact, so it needs no rounding.
  const net = state.window.reduce((sum, utilization) => sum + utilization - target, 0n) * params.delta;
  return maxInt(mulDec18(state.baseGasPrice, factor) + net, params.minBaseGasPrice);
}
