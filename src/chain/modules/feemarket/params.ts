import { type Dec18, DEC18_ONE, formatDec18, parseDec18 } from "../../../base/decimal.ts";
import type { Params as WireParams } from "../../../proto/gen/feemarket/feemarket/v1/params.ts";
import { isDenom } from "../../runtime/coins.ts";

/** How the price of gas follows the use of blocks (x/feemarket v1.1.1). Decimals are {@link Dec18}. */
export interface Params {
  /** Added to the learning rate when blocks are nearly empty or nearly full. */
  readonly alpha: Dec18;
  /** Multiplies the learning rate otherwise. */
  readonly beta: Dec18;
  /** How far from empty or full counts as nearly. */
  readonly gamma: Dec18;
  /** Weight of the window's net use, added to the price. */
  readonly delta: Dec18;
  readonly minBaseGasPrice: Dec18;
  readonly minLearningRate: Dec18;
  readonly maxLearningRate: Dec18;
  /** Gas that one block may use; half of it is the target. */
  readonly maxBlockUtilization: bigint;
  /** Number of blocks that the learning rate looks back on. */
  readonly window: bigint;
  readonly feeDenom: string;
  readonly enabled: boolean;
  /** Whether fees leave the escrow account; otherwise they stay there for ever. */
  readonly distributeFees: boolean;
  readonly sendTipToProposer: boolean;
}

/** The parameters of the deployed chain: the price moves only with the use of the last block. */
export function defaultParams(feeDenom: string): Params {
  return {
    alpha: 0n,
    beta: DEC18_ONE,
    gamma: 0n,
    delta: 0n,
    minBaseGasPrice: parseDec18("0.0025"),
    minLearningRate: parseDec18("0.125"),
    maxLearningRate: parseDec18("0.5"),
    maxBlockUtilization: 30_000_000n,
    window: 1n,
    feeDenom,
    enabled: true,
    distributeFees: true,
    sendTipToProposer: true,
  };
}

/** Reads stored or queried parameters; decimals are text of the number times 10^18. */
export function fromWire(wire: WireParams): Params {
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

/** The inverse of {@link fromWire}. */
export function toWire(params: Params): WireParams {
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

/** What is wrong with parameters (field and text), or undefined. The rules are those of the Go module. */
export function findParamsError(
  params: Params,
): { readonly field: string; readonly text: string } | undefined {
  const half = DEC18_ONE / 2n;
  const rules: readonly (readonly [field: string, holds: boolean, text: string])[] = [
    ["window", params.window > 0n, "window cannot be zero"],
    ["alpha", params.alpha >= 0n, "alpha cannot be negative"],
    ["beta", params.beta >= 0n && params.beta <= DEC18_ONE, "beta must be between [0, 1]"],
    ["gamma", params.gamma >= 0n && params.gamma <= half, "gamma must be between [0, 0.5]"],
    ["delta", params.delta >= 0n, "delta cannot be negative"],
    ["max_block_utilization", params.maxBlockUtilization > 1n, "max block utilization must be above 1"],
    ["min_base_gas_price", params.minBaseGasPrice > 0n, "min base gas price cannot be zero or negative"],
    [
      "max_learning_rate",
      params.maxLearningRate >= params.minLearningRate,
      `max learning rate cannot be less than min learning rate ${formatDec18(params.minLearningRate)}`,
    ],
    ["min_learning_rate", params.minLearningRate >= 0n, "min learning rate cannot be negative"],
    ["fee_denom", isDenom(params.feeDenom), "fee denom must be set"],
  ];
  const broken = rules.find(([, holds]) => !holds);
  return broken === undefined ? undefined : { field: broken[0], text: broken[2] };
}
