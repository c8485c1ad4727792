import { unregisteredError } from "../../runtime/errors.ts";
import { Params as ClientParams } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { Params as ConnectionParams } from "../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../runtime/context.ts";
import { createItem, messageCodec } from "../../store/collections.ts";
import { CLIENT_PARAMS, CONNECTION_PARAMS, STORE_NAME } from "./keys.ts";

/** Entry of `allowed_clients` that allows all client types. */
const ALLOW_ALL_CLIENTS = "*";

/** Default client params: all client types are allowed. */
export const DEFAULT_CLIENT_PARAMS: ClientParams = { allowedClients: [ALLOW_ALL_CLIENTS] };

/** Default connection params: 30 s per block, in nanoseconds. */
export const DEFAULT_CONNECTION_PARAMS: ConnectionParams = { maxExpectedTimePerBlock: 30_000_000_000n };

const clientParams = createItem(STORE_NAME, CLIENT_PARAMS, messageCodec(ClientParams));
const connectionParams = createItem(STORE_NAME, CONNECTION_PARAMS, messageCodec(ConnectionParams));

/** Returns the client params, or the default params before any are stored. */
export function getClientParams(context: Context): ClientParams {
  return clientParams.get(context) ?? DEFAULT_CLIENT_PARAMS;
}

/** Stores client params. Throws `ModuleError` when they are invalid. */
export function setClientParams(context: Context, params: ClientParams): void {
  validateClientParams(params);
  clientParams.set(context, params);
}

/** Returns the connection params, or the default params before any are stored. */
export function getConnectionParams(context: Context): ConnectionParams {
  return connectionParams.get(context) ?? DEFAULT_CONNECTION_PARAMS;
}

/** Stores connection params. Throws `ModuleError` when they are invalid. */
export function setConnectionParams(context: Context, params: ConnectionParams): void {
  validateConnectionParams(params);
  connectionParams.set(context, params);
}

/** Checks connection params of a message or of a genesis document. Throws `ModuleError`. */
export function validateConnectionParams({ maxExpectedTimePerBlock }: ConnectionParams): void {
  if (maxExpectedTimePerBlock === 0n) throw unregisteredError("MaxExpectedTimePerBlock cannot be zero");
}

/** Whether clients of this type may be created and used. */
export function isAllowedClient(params: ClientParams, clientType: string): boolean {
  return params.allowedClients.some((allowed) => allowed === ALLOW_ALL_CLIENTS || allowed === clientType);
}

/** Checks client params of a message or of a genesis document. Throws `ModuleError`. */
export function validateClientParams({ allowedClients }: ClientParams): void {
  for (const [index, type] of allowedClients.entries()) {
    if (type.trim() === "") throw unregisteredError(`client type ${index} cannot be blank`);
    if (allowedClients.indexOf(type) !== index) throw unregisteredError(`duplicate client type: ${type}`);
  }
  if (allowedClients.length > 1 && allowedClients.includes(ALLOW_ALL_CLIENTS)) {
    throw unregisteredError(
      `allow list must have only one element because the allow all clients wildcard (${ALLOW_ALL_CLIENTS}) is present`,
    );
  }
}
