import {
  DEPLOYED_MARKET,
  paramsFromWire,
  type Params,
  paramsToWire,
} from "../../../../cosmos/fee-market/market.ts";
import { DEC18_ONE, formatDec18 } from "../../../../platform/base/decimal.ts";
import { Params as WireParams } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import { isDenom } from "../../runtime/coins.ts";
import { createRequiredItem, mappedCodec, messageCodec, rememberingCodec } from "../../store/collections.ts";

/** Name of the module and its store. */
export const MODULE_NAME = "feemarket";

/** Module account that holds a transaction's fee between the ante step and the post step. */
export const ESCROW_NAME = "feemarket-fee-collector";

/** Returns the deployed chain's parameters. */
export function defaultParams(feeDenom: string): Params {
  return {
    ...DEPLOYED_MARKET,
    feeDenom,
    enabled: true,
    distributeFees: true,
    sendTipToProposer: true,
  };
}

export const storedParams = createRequiredItem(
  MODULE_NAME,
  Uint8Array.of(1),
  rememberingCodec(mappedCodec(messageCodec(WireParams), paramsFromWire, paramsToWire)),
);

/** Returns the first invalid field and the reason, or undefined. The rules, their order and the texts match the Go module. */
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
