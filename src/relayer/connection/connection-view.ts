import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { revisionOfChainId, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import type { LightClientState } from "../../cosmos/light-client/client-queries.ts";
import { RelayError } from "../chain/relay-error.ts";

/** A cached lookup of a connection's client id, which never changes on a chain. */
export type ClientOfConnection = ReturnType<typeof createClientOfConnection>;

/** Creates the lookup of a connection's client id. The first call of `id` reads the client id from the chain. */
export function createClientOfConnection(
  local: Pick<LocalQueries, "clientOfConnection">,
  connectionId: string,
) {
  let clientId: string | undefined;
  return {
    id: async (signal: AbortSignal): Promise<string> =>
      (clientId ??= await local.clientOfConnection(connectionId, signal)),
    /**
     * Makes the next call of `id` read the client id again. Call `forget` after an error, because a reset local chain may have
     * different clients.
     */
    forget: (): void => (clientId = undefined),
  };
}

/** A connection's light client and remote chain at the start of a cycle. */
export interface ConnectionView {
  readonly client: LightClientState;
  /** Height H of the newest remote block. The header of block H contains the app hash of the state at H−1. */
  readonly headerAt: RemoteHeight;
  /** Height H−1, at which the relayer reads the state. */
  readonly stateAt: RemoteHeight;
}

export interface ViewDeps {
  readonly connectionId: string;
  readonly remote: Pick<ChainClient, "status">;
  readonly local: Pick<LocalQueries, "clientState" | "clientStatus">;
  readonly client: ClientOfConnection;
  /** Detects a reset of the remote chain (`src/relayer/state/history.ts`); if absent, resets are not detected. */
  readonly checkHistory?: ((latestHeight: bigint, signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Block 3 proves the state at height 2. The SDK refuses proofs at height 1 (baseapp: "cannot query with proof when height <= 1").
 */
const FIRST_PROVING_BLOCK = 3n;

/**
 * Reads the remote status and the light client in parallel. Resolves with undefined until the remote chain has a block that can
 * prove new state. Throws `RelayError` "wrong-chain", "client-not-active" or "remote-behind" if the connection can prove nothing.
 */
export async function viewConnection(
  deps: ViewDeps,
  signal: AbortSignal,
): Promise<ConnectionView | undefined> {
  const [status, client] = await Promise.all([deps.remote.status(signal), activeClient(deps, signal)]);
  requireSameChain(deps, client, status.chainId);
  await deps.checkHistory?.(status.latestHeight, signal);
  if (status.latestHeight < FIRST_PROVING_BLOCK) return undefined;
  const revision = revisionOfChainId(client.chainId);
  const headerAt = { revision, height: status.latestHeight };
  if (isBehind(client, headerAt)) return undefined;
  return { client, headerAt, stateAt: { revision, height: headerAt.height - 1n } };
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
    `${deps.connectionId}: the endpoint serves chain ${found}, but the connection's client tracks ${client.chainId}`,
  );
}

/** Maximum height difference, in blocks, between nodes behind one address. */
const MAX_APART = 5n;

/**
 * Returns true if a block is slightly below the client's latest height, because another node behind the same address has newer
 * blocks.
 *
 * Throws if the block is far below the client's latest height, because the endpoint lags or its chain was reset. The header of a
 * reset chain contradicts the client's consensus states, and ibc-go freezes the client for such misbehaviour.
 */
function isBehind(client: LightClientState, headerAt: RemoteHeight): boolean {
  const latest = client.latestHeight;
  if (latest.revision !== headerAt.revision || headerAt.height >= latest.height) return false;
  if (headerAt.height + MAX_APART >= latest.height) return true;
  throw new RelayError(
    { code: "remote-behind", chainId: client.chainId, height: headerAt.height },
    `the endpoint of ${client.chainId} is at height ${headerAt.height}, behind ${client.clientId} at height ${latest.height}; retrying until it catches up`,
  );
}
