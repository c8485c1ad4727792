import { MAX_LAG } from "../../cosmos/client/chain-client.ts";
import type { PoolEndpointHealth } from "../../cosmos/client/endpoint-pool.ts";

/** What an endpoint reveals about why results are late. */
export interface EndpointFacts
  extends Pick<PoolEndpointHealth, "name" | "failures" | "lastError" | "lacks" | "lagBlocks" | "distrusted"> {
  readonly chainId: string;
}

/** Number of consecutive failures that indicates more than an interruption. */
const REFUSALS = 3;
/** Methods that have no substitute. Without a transaction index, by contrast, blocks are scanned. */
const NEEDED = ["abci_query", "commit", "validators", "block_results", "block", "response size"];

/**
 * Returns why no endpoint of a chain does what it is asked to, although its status can be read: a request limit, results that no
 * endpoint stores, or a choice between an endpoint that is behind and one that is distrusted. Undefined if an endpoint does.
 */
export function endpointProblem(endpoints: readonly EndpointFacts[], chainId: string): string | undefined {
  const own = endpoints.filter((endpoint) => endpoint.chainId === chainId);
  if (own.length === 0) return undefined;
  const each = own.length === 1 ? `the endpoint of ${chainId}` : `each endpoint of ${chainId}`;
  const missing = NEEDED.find((method) => own.every(({ lacks }) => lacks?.has(method) === true));
  if (missing !== undefined) return `${each} cannot do ${missing}: ${own[0]?.lacks?.get(missing)}`;
  if (own.every(({ failures }) => failures >= REFUSALS))
    return `${each} fails: ${own[0]?.lastError}; add another endpoint`;
  return doubtText(own);
}

/** A distrusted endpoint is used only after one that is behind, and then nothing new can be proven. */
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
