import { untilAborted } from "../platform/base/abort.ts";
import { errorText } from "../platform/base/errors.ts";
import type { Logger } from "../platform/base/logger.ts";
import type { Service } from "../platform/base/service.ts";
import type { EndpointCheck, EndpointPool } from "../cosmos/client/endpoints/endpoint-pool.ts";
import { ClientError } from "../cosmos/client/errors.ts";

/** A chain with its endpoints. */
export interface CheckedChain {
  readonly chainId: string;
  readonly pool: Pick<EndpointPool, "check">;
}

/**
 * Creates a service that reads the chain id of every endpoint once at the start.
 *
 * If every endpoint of a chain serves another chain, the configuration is wrong and the service throws `ClientError`
 * "wrong-chain". An endpoint that does not answer is only logged, since it may come up later.
 */
export function createChainCheck(chains: readonly CheckedChain[], logger: Logger): Service {
  return {
    name: "chain id check",
    run: async (signal) => {
      await Promise.all(chains.map((chain) => checkChain(chain, logger, signal)));
      // A service that returns counts as failed, so it stays until the daemon stops.
      await untilAborted(signal);
    },
  };
}

async function checkChain(
  { chainId, pool }: CheckedChain,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const checks = await pool.check(signal);
  for (const check of checks) {
    if (!check.ok)
      logger.warn("endpoint is not usable", {
        chainId,
        endpoint: check.name,
        reason: errorText(check.error),
      });
  }
  const wrong = checks.find(isWrongChain);
  const isOnlyWrong = checks.every(isWrongChain);
  if (wrong?.ok === false && isOnlyWrong) throw wrong.error;
}

function isWrongChain(check: EndpointCheck): boolean {
  return !check.ok && check.error instanceof ClientError && check.error.facts.code === "wrong-chain";
}
