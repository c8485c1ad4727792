import type { ChainClient, QueryHeight } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { badResponse } from "../../cosmos/client/rpc-response.ts";
import * as market from "../../cosmos/fee-market/market.ts";
import {
  ParamsRequest,
  ParamsResponse,
  StateRequest,
  StateResponse,
} from "../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";

const SERVICE = "/feemarket.feemarket.v1.Query";
/** Maximum accepted fee market window, in blocks. The deployed chain uses 1. */
const MAX_WINDOW = 10_000;

/**
 * Reads the chain's fee market parameters. Resolves with undefined if the chain has no fee market or disables it; the price is then
 * constant. Rejects with `ClientError`. The code "bad-answer" means that a value is impossible for a fee market.
 */
export async function readMarketParams(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
): Promise<market.Params | undefined> {
  const response = await ifServed(() =>
    client.grpcQuery(`${SERVICE}/Params`, ParamsRequest.encode({}).finish(), signal),
  );
  if (response === undefined) return undefined;
  const { params: wire } = ParamsResponse.decode(response);
  if (wire === undefined) throw badResponse("chain", "params", "is missing");
  if (!wire.enabled) return undefined;
  const { alpha, beta, gamma, delta, minBaseGasPrice, minLearningRate, maxLearningRate } = wire;
  const decimals = { alpha, beta, gamma, delta, minBaseGasPrice, minLearningRate, maxLearningRate };
  for (const [name, text] of Object.entries(decimals)) requireDecimal(`params.${name}`, text);
  const params = market.paramsFromWire(wire);
  if (params.minBaseGasPrice === 0n) throw badResponse("chain", "params.minBaseGasPrice", "is zero");
  if (params.maxBlockUtilization <= 1n)
    throw badResponse("chain", "params.maxBlockUtilization", "is not above 1");
  if (params.window < 1n || params.window > MAX_WINDOW)
    throw badResponse("chain", "params.window", `is not from 1 to ${MAX_WINDOW}`);
  return params;
}

/**
 * Reads the fee market's state after block `height` (default: the latest). The state's price applies to the next block. Rejects
 * with `ClientError`. The code "bad-answer" means that a value is impossible for a fee market.
 */
export async function readMarketState(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
  height?: QueryHeight,
): Promise<market.State> {
  const request = StateRequest.encode({}).finish();
  const response = await client.grpcQuery(`${SERVICE}/State`, request, signal, height);
  const { state: wire } = StateResponse.decode(response);
  if (wire === undefined) throw badResponse("chain", "state", "is missing");
  requireDecimal("state.baseGasPrice", wire.baseGasPrice);
  requireDecimal("state.learningRate", wire.learningRate);
  if (wire.window.length > MAX_WINDOW || wire.index >= BigInt(wire.window.length))
    throw badResponse("chain", "state.index", "is outside the window");
  return market.fromWire(wire);
}

/** The chain encodes a decimal as text, multiplied by 10^18. A fee market has no negative decimals. */
function requireDecimal(where: string, text: string): void {
  if (!/^\d{1,60}$/.test(text)) throw badResponse("chain", where, "is not a decimal number");
}

/** Resolves with undefined if the chain does not serve the query. */
export async function ifServed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "abci") return undefined;
    throw error;
  }
}
