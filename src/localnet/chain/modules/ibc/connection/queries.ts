import { fromUtf8 } from "../../../../../platform/base/bytes.ts";
import {
  ConnectionEnd,
  type IdentifiedConnection,
} from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/query.ts";
import type { Context } from "../../../runtime/context.ts";
import { queryHandlers } from "../../../runtime/handlers.ts";
import type { QueryHandler } from "../../../runtime/module.ts";
import { paginate } from "../../../runtime/pagination.ts";
import { packClientState, openClientStore, packConsensusState } from "../client/client-store.ts";
import {
  ErrClientConnectionPathsNotFound,
  ErrClientNotFound,
  ErrConnectionNotFound,
  ErrConsensusStateNotFound,
} from "../host/errors.ts";
import { selfHeight } from "../host/height.ts";
import { validateClientId, validateConnectionId } from "../host/identifiers.ts";
import { CONNECTIONS_PREFIX, STORE_NAME } from "../host/keys.ts";
import { checkArgument, emptyProof, requireFound } from "../host/signed-handler.ts";
import { getClientConnections, getConnection } from "./connection-store.ts";
import { connectionParams } from "../host/params.ts";

/** All queries of `ibc.core.connection.v1.Query`. */
export const connectionQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  Connection: (context, { connectionId }) => {
    checkArgument(() => validateConnectionId(connectionId));
    const connection = requireFound(getConnection(context, connectionId), () =>
      ErrConnectionNotFound(connectionId),
    );
    return { connection, ...emptyProof(context) };
  },
  Connections: queryConnections,
  ClientConnections: (context, { clientId }) => {
    checkArgument(() => validateClientId(clientId));
    const paths = requireFound(getClientConnections(context, clientId), () =>
      ErrClientConnectionPathsNotFound(clientId),
    );
    return { connectionPaths: [...paths], ...emptyProof(context) };
  },
  ConnectionClientState: queryClientState,
  ConnectionConsensusState: queryConsensusState,
  ConnectionParams: connectionParams.query,
});

function queryConnections(
  context: Context,
  { pagination }: wire.QueryConnectionsRequest,
): wire.QueryConnectionsResponse {
  const connections: IdentifiedConnection[] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CONNECTIONS_PREFIX };
  const page = paginate(paged, pagination, (key, value) => {
    // The prefix "connections" has no slash, so that each key begins with one, like the page keys of ibc-go.
    connections.push({ id: fromUtf8(key.subarray(1)), ...ConnectionEnd.decode(value) });
  });
  return { connections, pagination: page, height: selfHeight(context) };
}

function queryClientState(
  context: Context,
  { connectionId }: wire.QueryConnectionClientStateRequest,
): wire.QueryConnectionClientStateResponse {
  const { clientId } = connectionOf(context, connectionId);
  const client = requireFound(openClientStore(context, clientId).clientState(), () =>
    ErrClientNotFound(`client-id: ${clientId}`),
  );
  return {
    identifiedClientState: { clientId, clientState: packClientState(client) },
    ...emptyProof(context),
  };
}

function queryConsensusState(
  context: Context,
  { connectionId, ...height }: wire.QueryConnectionConsensusStateRequest,
): wire.QueryConnectionConsensusStateResponse {
  const { clientId } = connectionOf(context, connectionId);
  const state = requireFound(openClientStore(context, clientId).consensusState(height), () =>
    ErrConsensusStateNotFound(`client-id: ${clientId}`),
  );
  return { clientId, consensusState: packConsensusState(state), ...emptyProof(context) };
}

function connectionOf(context: Context, connectionId: string): ConnectionEnd {
  checkArgument(() => validateConnectionId(connectionId));
  return requireFound(getConnection(context, connectionId), () =>
    ErrConnectionNotFound(`connection-id: ${connectionId}`),
  );
}
