import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { type Channel, Order } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { fromLossyUtf8, toHex } from "../../../../../platform/base/bytes.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import { type ChainEvent, event } from "../../../runtime/events.ts";
import { formatHeight } from "./height.ts";
import type { ChannelEndpoint, Packet } from "./packet.ts";

/** Client attributes of an event. */
export interface EventClient {
  readonly clientId: string;
  readonly clientType: string;
}

/** Builds the events for a new client. */
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
 * Builds the events for an update. `message` is the client message as an Any, whose bytes the attribute `header` contains in hex.
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

/** Builds the events for a frozen client. */
export function misbehaviourFound(client: EventClient): readonly ChainEvent[] {
  return [event("client_misbehaviour", clientAttributes(client)), moduleEvent("ibc_client")];
}

/** Builds the events for a recovered client. */
export function clientRecovered(client: EventClient): readonly ChainEvent[] {
  return [
    event("recover_client", [
      ["subject_client_id", client.clientId],
      ["client_type", client.clientType],
    ]),
    moduleEvent("ibc_client"),
  ];
}

/** Builds the events for a connection handshake step. The counterparty's connection id is omitted while it is unknown. */
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

/** Builds the event that names an IBC submodule. */
function moduleEvent(module: "ibc_client" | "ibc_connection" | "ibc_channel"): ChainEvent {
  return event("message", [["module", module]]);
}

type Attribute = readonly [key: string, value: string];

/** Builds the events for a step of the opening or closing handshake. Only the first two steps include the version. */
export function channelStep(
  type: string,
  { portId, channelId }: ChannelEndpoint,
  channel: Channel,
): readonly ChainEvent[] {
  const remoteId = channel.counterparty?.channelId ?? "";
  const isVersioned = type === "channel_open_init" || type === "channel_open_try";
  return [
    event(type, [
      ["port_id", portId],
      ["channel_id", channelId],
      ["counterparty_port_id", channel.counterparty?.portId ?? ""],
      ...(type === "channel_open_init" ? [] : [["counterparty_channel_id", remoteId] as const]),
      ["connection_id", connectionOf(channel)],
      ...(isVersioned ? [["version", channel.version] as const] : []),
    ]),
    moduleEvent("ibc_channel"),
  ];
}

/** Builds the events for an ordered channel that is closed by a timeout. */
export function channelClosed(
  { portId, channelId }: ChannelEndpoint,
  channel: Channel,
): readonly ChainEvent[] {
  return [
    event("channel_close", [
      ["port_id", portId],
      ["channel_id", channelId],
      ["counterparty_port_id", channel.counterparty?.portId ?? ""],
      ["counterparty_channel_id", channel.counterparty?.channelId ?? ""],
      ["connection_id", connectionOf(channel)],
      orderingOf(channel),
    ]),
    moduleEvent("ibc_channel"),
  ];
}

/** Builds the events for a sent packet. */
export function packetSent(packet: Packet, channel: Channel): readonly ChainEvent[] {
  return packetEvents("send_packet", [...dataOf(packet), ...idsOf(packet), ...bothConnections(channel)]);
}

/** Builds the events for a received packet. */
export function packetReceived(packet: Packet, channel: Channel): readonly ChainEvent[] {
  return packetEvents("recv_packet", [...dataOf(packet), ...idsOf(packet), ...bothConnections(channel)]);
}

/** Builds the events for an acknowledgement that this chain writes. */
export function acknowledgementWritten(
  packet: Packet,
  channel: Channel,
  acknowledgement: Uint8Array,
): readonly ChainEvent[] {
  return packetEvents("write_acknowledgement", [
    ...dataOf(packet),
    ...idsOf(packet),
    ["packet_ack", fromLossyUtf8(acknowledgement)],
    ["packet_ack_hex", toHex(acknowledgement)],
    ...bothConnections(channel),
  ]);
}

/** Builds the events for a packet that the counterparty has acknowledged. */
export function packetAcknowledged(packet: Packet, channel: Channel): readonly ChainEvent[] {
  return packetEvents("acknowledge_packet", [...idsOf(packet), ...bothConnections(channel)]);
}

/** Builds the events for a packet that has timed out. */
export function packetTimedOut(packet: Packet, channel: Channel): readonly ChainEvent[] {
  return packetEvents("timeout_packet", [
    ...idsOf(packet),
    ["connection_id", connectionOf(channel)],
    orderingOf(channel),
  ]);
}

function packetEvents(type: string, attributes: readonly Attribute[]): readonly ChainEvent[] {
  return [event(type, attributes), moduleEvent("ibc_channel")];
}

function dataOf({ data }: Packet): readonly Attribute[] {
  return [
    ["packet_data", fromLossyUtf8(data)],
    ["packet_data_hex", toHex(data)],
  ];
}

function idsOf({ timeout, sequence, source, destination }: Packet): readonly Attribute[] {
  return [
    ["packet_timeout_height", formatHeight(timeout.height)],
    ["packet_timeout_timestamp", timeout.timestamp.toString()],
    ["packet_sequence", sequence.toString()],
    ["packet_src_port", source.portId],
    ["packet_src_channel", source.channelId],
    ["packet_dst_port", destination.portId],
    ["packet_dst_channel", destination.channelId],
  ];
}

/** Returns two attributes for the connection, because ibc-go still emits the one with the old name. */
function bothConnections(channel: Channel): readonly Attribute[] {
  const connection = connectionOf(channel);
  return [orderingOf(channel), ["packet_connection", connection], ["connection_id", connection]];
}

function orderingOf({ ordering }: Channel): Attribute {
  return ["packet_channel_ordering", enumName(Order, ordering)];
}

function connectionOf({ connectionHops }: Channel): string {
  return connectionHops[0] ?? "";
}
