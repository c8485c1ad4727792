import { MAX_LAG } from "../../cosmos/client/chain-client.ts";
import type { PoolEndpointHealth } from "../../cosmos/client/endpoint-pool.ts";

/** The endpoint data that may explain late results. */
export interface EndpointFacts
  extends Pick<PoolEndpointHealth, "name" | "failures" | "lastError" | "lacks" | "lagBlocks" | "distrusted"> {
  readonly chainId: string;
}

/** Number of consecutive failures that indicates more than a brief interruption. */
const REFUSALS = 3;
/** Methods without a substitute. A missing transaction index, by contrast, can be replaced by scanning blocks. */
const NEEDED = ["abci_query", "commit", "validators", "block_results", "block", "response size"];

/**
 * Explains why no endpoint of a chain serves the relayer although their status is readable. Possible reasons are a request
 * limit, results that no endpoint stores, or a choice between a lagging and a distrusted endpoint. Undefined if an endpoint serves
 * the relayer.
 */
export function endpointProblem(endpoints: readonly EndpointFacts[], chainId: string): string | undefined {
  const own = endpoints.filter((endpoint) => endpoint.chainId === chainId);
  if (own.length === 0) return undefined;
  const each = own.length === 1 ? `${chainId}'s endpoint` : `each ${chainId} endpoint`;
  const missing = NEEDED.find((method) => own.every(({ lacks }) => lacks?.has(method) === true));
  if (missing !== undefined) return `${each} cannot do ${missing}: ${own[0]?.lacks?.get(missing)}`;
  if (own.every(({ failures }) => failures >= REFUSALS))
    return `${each} fails: ${own[0]?.lastError}; add another endpoint`;
  return doubtText(own);
}

/** The relayer uses a distrusted endpoint only after an endpoint that lags. Nothing new can be proven then. */
function doubtText(own: readonly EndpointFacts[]): string | undefined {
  const doubted = own.find(({ distrusted }) => distrusted !== undefined);
  const trusted = own.filter(({ distrusted }) => distrusted === undefined);
  const [best] = trusted.toSorted((a, b) => Number((a.lagBlocks ?? 0n) - (b.lagBlocks ?? 0n)));
  if (doubted === undefined || best === undefined) return undefined;
  const { name, lagBlocks: blocks = 0n } = best;
  return blocks <= MAX_LAG
    ? undefined
    : `${name} is ${blocks} blocks behind, and ${doubted.name}, which is not, returned a wrong response: ${doubted.distrusted}; repair one of the nodes, or add an endpoint`;
}
