import { untilAborted } from "../../base/abort.ts";
import type { Service } from "../../base/service.ts";
import { ClientError } from "../../client/errors.ts";
import type { EndpointCheck, EndpointPool } from "../../client/endpoints/endpoint-pool.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

/** A chain and its endpoints. */
export interface CheckedChain {
  readonly chainId: string;
  readonly pool: Pick<EndpointPool, "check">;
}

/**
 * Asks every endpoint once which chain it serves. A chain of which every endpoint that answers serves another one is a
 * wrong setting and ends the process; an endpoint that does not answer is only told: it may come up.
 */
export function createChainCheck(chains: readonly CheckedChain[], logger: Logger): Service {
  return {
    name: "chain id check",
    run: async (signal) => {
      await Promise.all(chains.map((chain) => checkChain(chain, logger, signal)));
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
  const anyOther = checks.some((check) => check.ok || !isWrongChain(check));
  if (wrong?.ok === false && !anyOther) throw wrong.error;
}

function isWrongChain(check: EndpointCheck): boolean {
  return !check.ok && check.error instanceof ClientError && check.error.facts.code === "wrong-chain";
}
