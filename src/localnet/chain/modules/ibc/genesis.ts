import { unreachable } from "../../../../platform/base/errors.ts";
import {
  isRecord,
  type JsonObject,
  type JsonValue,
  asUint64,
  elements,
  type JsonField,
  member,
} from "../../../../platform/base/json.ts";
import { Params as ClientParams } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import {
  ConnectionPaths,
  IdentifiedConnection,
  Params as ConnectionParams,
} from "../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageToJson } from "../../../../cosmos/proto/json.ts";
import type { Context } from "../../runtime/context.ts";
import { exportChannels, initChannels } from "./channel/channel-genesis.ts";
import { importClient, listClients } from "./client/client-genesis.ts";
import { nextClientSequence } from "./client/create-client.ts";
import { createLocalhostClient } from "./client/localhost.ts";
import {
  createLocalhostConnection,
  getClientConnections,
  listConnections,
  nextConnectionSequence,
  setClientConnections,
  setConnection,
} from "./connection/connection-store.ts";
import { asMessage, asMessages, genesisField, objectMember } from "./genesis-fields.ts";
import {
  DEFAULT_CLIENT_PARAMS,
  DEFAULT_CONNECTION_PARAMS,
  getClientParams,
  getConnectionParams,
  setClientParams,
  setConnectionParams,
} from "./params.ts";

const CLIENT = "ibc.core.client.v1";
const CONNECTION = "ibc.core.connection.v1";

/**
 * Reads the module's genesis in ibc-go's form: `client_genesis`, `connection_genesis` and `channel_genesis`. Absent parts mean
 * no clients, connections or channels, and default params. Creates the localhost client and its connection, as ibc-go does at
 * every start from a genesis. Throws `GenesisError`.
 */
export function initGenesis(context: Context, genesis: JsonValue | undefined): void {
  const root = genesisField(genesis);
  initClients(context, objectMember(root, "client_genesis"));
  initConnections(context, objectMember(root, "connection_genesis"));
  initChannels(context, objectMember(root, "channel_genesis"));
}

function initClients(context: Context, genesis: JsonField): void {
  const params = asMessage(member(genesis, "params"), { name: `${CLIENT}.Params`, codec: ClientParams });
  setClientParams(context, params ?? DEFAULT_CLIENT_PARAMS);
  for (const client of elements(member(genesis, "clients"))) importClient(context, client, genesis);
  nextClientSequence.set(context, asUint64(member(genesis, "next_client_sequence")));
  createLocalhostClient(context);
}

function initConnections(context: Context, genesis: JsonField): void {
  const params = asMessage(member(genesis, "params"), {
    name: `${CONNECTION}.Params`,
    codec: ConnectionParams,
  });
  setConnectionParams(context, params ?? DEFAULT_CONNECTION_PARAMS);
  const connections = asMessages(member(genesis, "connections"), {
    name: `${CONNECTION}.IdentifiedConnection`,
    codec: IdentifiedConnection,
  });
  for (const connection of connections) setConnection(context, connection);
  const clientPaths = asMessages(member(genesis, "client_connection_paths"), {
    name: `${CONNECTION}.ConnectionPaths`,
    codec: ConnectionPaths,
  });
  for (const { clientId, paths } of clientPaths) setClientConnections(context, clientId, paths);
  nextConnectionSequence.set(context, asUint64(member(genesis, "next_connection_sequence")));
  createLocalhostConnection(context);
}

/** Prints the complete state of the module. {@link initGenesis} restores the same store from it. */
export function exportGenesis(context: Context): JsonObject {
  const clients = listClients(context);
  return {
    client_genesis: {
      clients: clients.map(({ clientId, clientState }) => ({
        client_id: clientId,
        client_state: clientState,
      })),
      clients_consensus: clients
        .filter(({ consensusStates }) => consensusStates.length > 0)
        .map(({ clientId, consensusStates }) => ({ client_id: clientId, consensus_states: consensusStates })),
      clients_metadata: clients
        .filter(({ metadata }) => metadata.length > 0)
        .map(({ clientId, metadata }) => ({ client_id: clientId, client_metadata: metadata })),
      params: toJson(`${CLIENT}.Params`, ClientParams.encode(getClientParams(context))),
      create_localhost: false,
      next_client_sequence: `${nextClientSequence.get(context) ?? 0n}`,
    },
    connection_genesis: exportConnections(
      context,
      clients.map(({ clientId }) => clientId),
    ),
    channel_genesis: exportChannels(context),
  };
}

function exportConnections(context: Context, clientIds: readonly string[]): JsonObject {
  return {
    connections: listConnections(context).map((connection) =>
      toJson(`${CONNECTION}.IdentifiedConnection`, IdentifiedConnection.encode(connection)),
    ),
    client_connection_paths: clientIds.flatMap((clientId): JsonObject[] => {
      const paths = getClientConnections(context, clientId);
      return paths === undefined ? [] : [{ client_id: clientId, paths }];
    }),
    next_connection_sequence: `${nextConnectionSequence.get(context) ?? 0n}`,
    params: toJson(`${CONNECTION}.Params`, ConnectionParams.encode(getConnectionParams(context))),
  };
}

function toJson(typeName: string, writer: { finish(): Uint8Array }): JsonObject {
  const json = messageToJson(typeName, writer.finish());
  return isRecord(json) ? json : unreachable(`${typeName} does not print as an object`);
}
