import { fromUtf8 } from "../../../../../platform/base/bytes.ts";
import { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/query.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context, QueryHandler } from "../../../runtime/context.ts";
import { queryHandlers } from "../../../runtime/handlers.ts";
import { readPage } from "../../../runtime/pagination.ts";
import { packClientState, openClientStore, packConsensusState } from "../client/client-store.ts";
import * as ibcErrors from "../host/errors.ts";
import { selfHeight } from "../host/height.ts";
import { validateClientId, validateConnectionId } from "../host/identifiers.ts";
import { CONNECTIONS_PREFIX, STORE_NAME } from "../host/keys.ts";
import { connectionParams } from "../host/params.ts";
import { checkArgument, emptyProof, requireFound } from "../host/signed-handler.ts";
import { clientConnections, connections } from "./connection-store.ts";

/** Handlers for all queries of `ibc.core.connection.v1.Query`. */
export const connectionQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  Connection: (context, { connectionId }) => {
    checkArgument(() => validateConnectionId(connectionId));
    const connection = connections.get(context, connectionId);
    const found = requireFound(connection, () => ibcErrors.ErrConnectionNotFound(connectionId));
    return { connection: found, ...emptyProof(context) };
  },
  Connections: (context, { pagination }) => {
    const paged = { store: context.store(STORE_NAME), prefix: CONNECTIONS_PREFIX };
    const page = readPage(paged, pagination, (key, value) => ({
      id: fromUtf8(key.subarray(1)),
      ...ConnectionEnd.decode(value),
    }));
    return { connections: page.items, pagination: page.pagination, height: selfHeight(context) };
  },
  ClientConnections: (context, { clientId }) => {
    checkArgument(() => validateClientId(clientId));
    const entry = clientConnections.get(context, clientId);
    const { paths } = requireFound(entry, () => ibcErrors.ErrClientConnectionPathsNotFound(clientId));
    return { connectionPaths: paths, ...emptyProof(context) };
  },
  ConnectionClientState: (context, { connectionId }) => {
    checkArgument(() => validateConnectionId(connectionId));
    return clientStateOf(context, connectionId);
  },
  ConnectionConsensusState: (context, { connectionId, ...height }) => {
    checkArgument(() => validateConnectionId(connectionId));
    return consensusStateOf(context, connectionId, height);
  },
  ConnectionParams: connectionParams.query,
});

/**
 * Returns the state of a connection's client, without checking the connection id. Throws gRPC status NotFound if the connection
 * or client does not exist.
 */
export function clientStateOf(
  context: Context,
  connectionId: string,
): wire.QueryConnectionClientStateResponse {
  const clientId = clientOf(context, connectionId);
  const client = requireFound(openClientStore(context, clientId).clientState(), () =>
    ibcErrors.ErrClientNotFound(`client-id: ${clientId}`),
  );
  return {
    identifiedClientState: { clientId, clientState: packClientState(client) },
    ...emptyProof(context),
  };
}

/**
 * Returns a consensus state of a connection's client. Like {@link clientStateOf}, does not check the connection id and throws
 * gRPC status NotFound.
 */
export function consensusStateOf(
  context: Context,
  connectionId: string,
  height: Height,
): wire.QueryConnectionConsensusStateResponse {
  const clientId = clientOf(context, connectionId);
  const state = requireFound(openClientStore(context, clientId).consensusState(height), () =>
    ibcErrors.ErrConsensusStateNotFound(`client-id: ${clientId}`),
  );
  return { clientId, consensusState: packConsensusState(state), ...emptyProof(context) };
}

function clientOf(context: Context, connectionId: string): string {
  const connection = connections.get(context, connectionId);
  return requireFound(connection, () => ibcErrors.ErrConnectionNotFound(`connection-id: ${connectionId}`))
    .clientId;
}
