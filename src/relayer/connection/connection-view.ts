import { revisionOfChainId } from "../../comet/chain-revision.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { LightClientState, LocalQueries } from "../registry/local-queries.ts";
import type { RemoteHeight } from "../registry/registered-query.ts";
import { RelayError } from "../relay-error.ts";

/** The client of one connection. It never changes on a chain, so it is asked for once. */
export interface ClientOfConnection {
  readonly id: (signal: AbortSignal) => Promise<string>;
  /** Has it asked for again: after an error, since a local chain may have been started over. */
  readonly forget: () => void;
}

/** Creates the lookup; nothing is read before the first call. */
export function createClientOfConnection(
  local: Pick<LocalQueries, "clientOfConnection">,
  connectionId: string,
): ClientOfConnection {
  let known: string | undefined;
  return {
    id: async (signal) => (known ??= await local.clientOfConnection(connectionId, signal)),
    forget: () => (known = undefined),
  };
}

/** Both ends of a connection as a round finds them. */
export interface ConnectionView {
  readonly client: LightClientState;
  /** Newest block of the remote chain, whose header proves what is read. */
  readonly block: RemoteHeight;
  /** Height of the state that is read: one below the block. */
  readonly at: RemoteHeight;
}

/** What a view is made from. */
export interface ViewDeps {
  readonly connectionId: string;
  readonly remote: Pick<ChainClient, "status">;
  readonly local: Pick<LocalQueries, "clientState" | "clientStatus">;
  readonly client: ClientOfConnection;
}

/** A chain answers proofs from height 2 on, which block 3 proves. */
const FIRST_PROVING_BLOCK = 3n;

/**
 * Looks at both ends at once; undefined while the remote chain is only beginning. Throws `RelayError` when nothing can
 * be proven over this connection: another chain, a client that is not active, a remote endpoint that is behind.
 */
export async function viewConnection(
  deps: ViewDeps,
  signal: AbortSignal,
): Promise<ConnectionView | undefined> {
  const [status, client] = await Promise.all([deps.remote.status(signal), activeClient(deps, signal)]);
  requireSameChain(deps, client, status.chainId);
  if (status.latestHeight < FIRST_PROVING_BLOCK) return undefined;
  const revision = revisionOfChainId(client.chainId);
  const block = { revision, height: status.latestHeight };
  requireAhead(client, block);
  return { client, block, at: { revision, height: block.height - 1n } };
}

async function activeClient(deps: ViewDeps, signal: AbortSignal): Promise<LightClientState> {
  const clientId = await deps.client.id(signal);
  const [client, status] = await Promise.all([
    deps.local.clientState(clientId, signal),
    deps.local.clientStatus(clientId, signal),
  ]);
  if (status === "Active") return client;
  throw new RelayError(
    { code: "client-not-active", clientId, status },
    `client ${clientId} of ${deps.connectionId} is ${status}: no result can be proven until governance recovers it`,
  );
}

function requireSameChain(deps: ViewDeps, client: LightClientState, found: string): void {
  if (client.chainId === found) return;
  throw new RelayError(
    { code: "wrong-chain", connectionId: deps.connectionId, expected: client.chainId, found },
    `the endpoint configured for ${deps.connectionId} serves chain ${found}, but the connection leads to ${client.chainId}`,
  );
}

/**
 * A block below what the client knows comes from an endpoint that lags, or from a chain that started over: its header
 * would contradict the client's, which freezes the client for good.
 */
function requireAhead(client: LightClientState, block: RemoteHeight): void {
  const known = client.latestHeight;
  if (known.revision !== block.revision || block.height >= known.height) return;
  throw new RelayError(
    { code: "remote-behind", chainId: client.chainId, height: block.height },
    `the endpoint of ${client.chainId} is at height ${block.height}, behind height ${known.height} that ${client.clientId} knows: waiting until it is ahead`,
  );
}
