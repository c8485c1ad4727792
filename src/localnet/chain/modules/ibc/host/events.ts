import { toHex } from "../../../../../platform/base/bytes.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { type ChainEvent, event } from "../../../runtime/events.ts";
import { formatHeight } from "./height.ts";

/** The client attributes of an event. */
export interface EventClient {
  readonly clientId: string;
  readonly clientType: string;
}

/** Builds the events of a new client. */
export function clientCreated(client: EventClient, consensusHeight: Height): readonly ChainEvent[] {
  return [
    event("create_client", [
      ...clientAttributes(client),
      ["consensus_height", formatHeight(consensusHeight)],
    ]),
    moduleEvent("ibc_client"),
  ];
}

/**
 * Builds the events of an update. `message` is the client message as Any; the attribute `header` contains its bytes in
 * hex.
 */
export function clientUpdated(client: EventClient, height: Height, message: Any): readonly ChainEvent[] {
  return [
    event("update_client", [
      ...clientAttributes(client),
      ["consensus_height", formatHeight(height)],
      // A list in ibc-go, because other client types store several heights with one update.
      ["consensus_heights", formatHeight(height)],
      ["header", toHex(Any.encode(message).finish())],
    ]),
    moduleEvent("ibc_client"),
  ];
}

/** Builds the events of a client that was frozen. */
export function misbehaviourFound(client: EventClient): readonly ChainEvent[] {
  return [event("client_misbehaviour", clientAttributes(client)), moduleEvent("ibc_client")];
}

/** Builds the events of a recovered client. */
export function clientRecovered(client: EventClient): readonly ChainEvent[] {
  return [
    event("recover_client", [
      ["subject_client_id", client.clientId],
      ["client_type", client.clientType],
    ]),
    moduleEvent("ibc_client"),
  ];
}

/**
 * Builds the events of a step of the connection handshake. The connection id of the counterparty is left out while it is
 * unknown.
 */
export function connectionEvent(
  type: string,
  connectionId: string,
  { clientId, counterparty }: Pick<ConnectionEnd, "clientId" | "counterparty">,
): readonly ChainEvent[] {
  const remoteId = counterparty?.connectionId ?? "";
  return [
    event(type, [
      ["connection_id", connectionId],
      ["client_id", clientId],
      ["counterparty_client_id", counterparty?.clientId ?? ""],
      ...(remoteId === "" ? [] : [["counterparty_connection_id", remoteId] as const]),
    ]),
    moduleEvent("ibc_connection"),
  ];
}

function clientAttributes(client: EventClient): readonly (readonly [string, string])[] {
  return [
    ["client_id", client.clientId],
    ["client_type", client.clientType],
  ];
}

/** The event that names a part of IBC. */
export function moduleEvent(module: "ibc_client" | "ibc_connection" | "ibc_channel"): ChainEvent {
  return event("message", [["module", module]]);
}
