import { toHex } from "../../../base/bytes.ts";
import { Any } from "../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import { formatHeight } from "./height.ts";

/** A client that an event is about. */
export interface ClientOf {
  readonly clientId: string;
  readonly clientType: string;
}

/** Events of a created client. */
export function clientCreated(client: ClientOf, consensusHeight: Height): readonly ChainEvent[] {
  return [
    event("create_client", [
      ...clientAttributes(client),
      ["consensus_height", formatHeight(consensusHeight)],
    ]),
    moduleEvent(),
  ];
}

/** Events of an update. `message` is the client message as Any; it is printed in hex. */
export function clientUpdated(client: ClientOf, height: Height, message: Any): readonly ChainEvent[] {
  return [
    event("update_client", [
      ...clientAttributes(client),
      ["consensus_height", formatHeight(height)],
      ["consensus_heights", formatHeight(height)],
      ["header", toHex(Any.encode(message).finish())],
    ]),
    moduleEvent(),
  ];
}

/** Events of a client that was frozen. */
export function misbehaviourFound(client: ClientOf): readonly ChainEvent[] {
  return [event("client_misbehaviour", clientAttributes(client)), moduleEvent()];
}

/** Events of a client that took over its substitute's state. */
export function clientRecovered(client: ClientOf): readonly ChainEvent[] {
  return [
    event("recover_client", [
      ["subject_client_id", client.clientId],
      ["client_type", client.clientType],
    ]),
    moduleEvent(),
  ];
}

function clientAttributes(client: ClientOf): readonly (readonly [string, string])[] {
  return [
    ["client_id", client.clientId],
    ["client_type", client.clientType],
  ];
}

function moduleEvent(): ChainEvent {
  return event("message", [["module", "ibc_client"]]);
}
