import {
  type ConnectionEnd,
  State,
} from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { openClientStore } from "../client/client-store.ts";
import { statusOf } from "../client/client-status.ts";
import { enumName } from "../../../../../platform/base/go-text.ts";
import {
  ErrClientNotActive,
  ErrClientNotFound,
  ErrConnectionNotFound,
  ErrInvalidConnectionState,
} from "../host/errors.ts";
import { getConnection } from "./connection-store.ts";

/** Returns a connection in any state. Throws connection/3. */
export function requireConnection(context: Context, connectionId: string): ConnectionEnd {
  const connection = getConnection(context, connectionId);
  if (connection === undefined) throw ErrConnectionNotFound(connectionId);
  return connection;
}

/** Returns an open connection. Throws connection/3 or connection/6. */
export function requireOpenConnection(context: Context, connectionId: string): ConnectionEnd {
  const connection = requireConnection(context, connectionId);
  if (connection.state === State.STATE_OPEN) return connection;
  throw ErrInvalidConnectionState(`connection state is not OPEN (got ${enumName(State, connection.state)})`);
}

/** Throws client/4 for an unknown client, client/29 for one that is not active. */
export function requireActiveClient(context: Context, clientId: string): void {
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound(`clientID (${clientId})`);
  const status = statusOf(context, client, store);
  if (status !== "Active") throw ErrClientNotActive(`client (${clientId}) status is ${status}`);
}
