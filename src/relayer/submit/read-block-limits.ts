import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { QueryParamsRequest, QueryParamsResponse } from "../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import { ParamsRequest, ParamsResponse } from "../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import type { BlockLimits } from "./block-budget.ts";

/** Reads the limits of a block from the fee market and the consensus parameters. Rejects with `ClientError`. */
export async function readBlockLimits(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
): Promise<BlockLimits> {
  const [utilization, consensus] = await Promise.all([
    ifServed(async () => {
      const request = ParamsRequest.encode({}).finish();
      const response = await client.grpcQuery("/feemarket.feemarket.v1.Query/Params", request, signal);
      const { params } = ParamsResponse.decode(response);
      return params?.enabled === true ? params.maxBlockUtilization : undefined;
    }),
    ifServed(async () => {
      const request = QueryParamsRequest.encode({}).finish();
      const response = await client.grpcQuery("/cosmos.consensus.v1.Query/Params", request, signal);
      return QueryParamsResponse.decode(response).params?.block;
    }),
  ]);
  return {
    utilization: positive(utilization),
    gas: positive(consensus?.maxGas),
    bytes: positive(consensus?.maxBytes),
  };
}

/** Returns undefined when the chain has no such query: not every chain has a fee market. */
async function ifServed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "abci") return undefined;
    throw error;
  }
}

/** 0 and -1 mean that there is no limit. */
function positive(value: bigint | undefined): bigint | undefined {
  return value !== undefined && value > 0n ? value : undefined;
}
