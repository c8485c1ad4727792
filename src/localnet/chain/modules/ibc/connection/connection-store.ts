import { fromUtf8, prefixEnd, utf8 } from "../../../../../platform/base/bytes.ts";
import {
  ClientPaths,
  ConnectionEnd,
  type IdentifiedConnection,
  State,
} from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { createItem, uint64Codec } from "../../../store/collections.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import {
  clientConnectionsKey,
  CONNECTIONS_PREFIX,
  connectionKey,
  NEXT_CONNECTION_SEQUENCE,
  STORE_NAME,
} from "../host/keys.ts";
import { SUPPORTED_VERSIONS } from "./versions.ts";

/** Id of the connection of a chain to itself. */
const LOCALHOST_CONNECTION = "connection-localhost";

/** Number of the next connection, from 0. */
export const nextConnectionSequence = createItem(STORE_NAME, NEXT_CONNECTION_SEQUENCE, uint64Codec);

export function getConnection(context: Context, id: string): ConnectionEnd | undefined {
  const bytes = context.store(STORE_NAME).get(connectionKey(id));
  return bytes === undefined ? undefined : ConnectionEnd.decode(bytes);
}

export function setConnection(context: Context, { id, ...end }: IdentifiedConnection): void {
  context.store(STORE_NAME).set(connectionKey(id), ConnectionEnd.encode(end).finish());
}

/** Returns the ids of a client's connections; undefined before the first. */
export function getClientConnections(context: Context, clientId: string): readonly string[] | undefined {
  const bytes = context.store(STORE_NAME).get(clientConnectionsKey(clientId));
  return bytes === undefined ? undefined : ClientPaths.decode(bytes).paths;
}

export function setClientConnections(context: Context, clientId: string, paths: readonly string[]): void {
  const value = ClientPaths.encode({ paths: [...paths] }).finish();
  context.store(STORE_NAME).set(clientConnectionsKey(clientId), value);
}

/** Creates the connection of the chain to itself, over the localhost client. */
export function createLocalhostConnection(context: Context): void {
  setConnection(context, {
    id: LOCALHOST_CONNECTION,
    clientId: LOCALHOST,
    versions: [...SUPPORTED_VERSIONS],
    state: State.STATE_OPEN,
    counterparty: {
      clientId: LOCALHOST,
      connectionId: LOCALHOST_CONNECTION,
      prefix: { keyPrefix: utf8(STORE_NAME) },
    },
    delayPeriod: 0n,
  });
}

/** Returns all connections in ascending order of ids as text. */
export function listConnections(context: Context): readonly IdentifiedConnection[] {
  const entries = context.store(STORE_NAME).iterate(CONNECTIONS_PREFIX, prefixEnd(CONNECTIONS_PREFIX));
  return Array.from(entries, ([key, value]) => ({
    id: fromUtf8(key.subarray(CONNECTIONS_PREFIX.length + 1)),
    ...ConnectionEnd.decode(value),
  }));
}
