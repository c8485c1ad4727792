import type { ChainClient } from "../../../src/cosmos/client/chain-client.ts";
import type { EndpointCheck } from "../../../src/cosmos/client/endpoint-pool.ts";
import type { ChainPool } from "../../../src/relayer/health/create-health.ts";

/** Creates the pool of a simulated chain, which has one endpoint. */
export function poolOf(chainId: string, status: ChainClient["status"]): ChainPool {
  const name = "sim";
  const check = async (signal: AbortSignal): Promise<readonly EndpointCheck[]> => {
    try {
      return [{ name, ok: true, status: await status(signal) }];
    } catch (error) {
      return [{ name, ok: false, error }];
    }
  };
  const health = () => [
    {
      name,
      state: "good",
      failures: 0,
      lastError: undefined,
      status: undefined,
      latencyMs: 12,
      lagBlocks: 0n,
      distrusted: undefined,
    } as const,
  ];
  return { chainId, client: { pool: { check, health } } };
}
