import { isRecord, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { Params as ClientParams } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import {
  ConnectionPaths,
  IdentifiedConnection,
  Params as ConnectionParams,
} from "../../../proto/gen/ibc/core/connection/v1/connection.ts";
import { messageToJson } from "../../../proto/json.ts";
import type { Context } from "../../runtime/context.ts";
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
import { type GenesisPart, genesisPart, noPart } from "./genesis-part.ts";
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
 * Reads the module's genesis, in ibc-go's form: `client_genesis` and `connection_genesis`. Absent: no clients, params of
 * a new chain. The localhost client and its connection are made anew. Throws with the path of what is wrong; so do
 * channels, which this chain does not have.
 */
export function initGenesis(context: Context, genesis: JsonValue | undefined): void {
  const root = genesis === undefined ? noPart("ibc") : genesisPart("ibc", genesis);
  const channels = root.child("channel_genesis");
  for (const list of ["channels", "commitments", "receipts", "acknowledgements"]) {
    if (channels.list(list).length > 0)
      throw new Error(`${channels.path}.${list}: channels are not implemented`);
  }
  initClients(context, root.child("client_genesis"));
  initConnections(context, root.child("connection_genesis"));
}

function initClients(context: Context, part: GenesisPart): void {
  setClientParams(context, part.message("params", `${CLIENT}.Params`, ClientParams) ?? DEFAULT_CLIENT_PARAMS);
  for (const client of part.list("clients")) importClient(context, client, part);
  nextClientSequence.set(context, part.uint64("next_client_sequence"));
  createLocalhostClient(context);
}

function initConnections(context: Context, part: GenesisPart): void {
  const params = part.message("params", `${CONNECTION}.Params`, ConnectionParams);
  setConnectionParams(context, params ?? DEFAULT_CONNECTION_PARAMS);
  for (const connection of part.messages(
    "connections",
    `${CONNECTION}.IdentifiedConnection`,
    IdentifiedConnection,
  )) {
    setConnection(context, connection);
  }
  for (const { clientId, paths } of part.messages(
    "client_connection_paths",
    `${CONNECTION}.ConnectionPaths`,
    ConnectionPaths,
  )) {
    setClientConnections(context, clientId, paths);
  }
  nextConnectionSequence.set(context, part.uint64("next_connection_sequence"));
  createLocalhostConnection(context);
}

/** The whole state of the module: importing it gives the same store again. */
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
  if (!isRecord(json)) throw new Error(`${typeName} does not print as an object`);
  return json;
}
