import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { type Channel, Order } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { fromLossyUtf8, toHex } from "../../../../../platform/base/bytes.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import { type Context, event } from "../../../runtime/context.ts";
import { formatHeight } from "./height.ts";
import type { ChannelEndpoint, Packet } from "./packet.ts";

type Attribute = readonly [key: string, value: string];

/** Emits an event, followed by a `message` event that names the IBC submodule. */
function emit(
  context: Context,
  module: "ibc_client" | "ibc_connection" | "ibc_channel",
  type: string,
  attributes: readonly Attribute[],
): void {
  context.emit(event(type, attributes));
  context.emit(event("message", [["module", module]]));
}

export interface EventClient {
  readonly clientId: string;
  readonly clientType: string;
}

export function emitClientCreated(context: Context, client: EventClient, height: Height): void {
  const attributes = [...clientAttributes(client), ["consensus_height", formatHeight(height)] as const];
  emit(context, "ibc_client", "create_client", attributes);
}

/** Emits the events for a frozen client. */
export function emitMisbehaviour(context: Context, client: EventClient): void {
  emit(context, "ibc_client", "client_misbehaviour", clientAttributes(client));
}

/**
 * Emits the events for a client update. The attribute `header` contains the hex bytes of `message`, the client message as an Any.
 */
export function emitClientUpdated(context: Context, client: EventClient, height: Height, message: Any): void {
  emit(context, "ibc_client", "update_client", [
    ...clientAttributes(client),
    ["consensus_height", formatHeight(height)],
    // In ibc-go, `consensus_heights` is a list, because other client types can store several heights in one update.
    ["consensus_heights", formatHeight(height)],
    ["header", toHex(Any.encode(message).finish())],
  ]);
}

export function emitClientRecovered(context: Context, { clientId, clientType }: EventClient): void {
  emit(context, "ibc_client", "recover_client", [
    ["subject_client_id", clientId],
    ["client_type", clientType],
  ]);
}

function clientAttributes({ clientId, clientType }: EventClient): readonly Attribute[] {
  return [
    ["client_id", clientId],
    ["client_type", clientType],
  ];
}

/** Emits the events for a connection handshake step. The counterparty's connection id is omitted while it is unknown. */
export function emitConnectionStep(
  context: Context,
  type: string,
  connectionId: string,
  { clientId, counterparty }: Pick<ConnectionEnd, "clientId" | "counterparty">,
): void {
  const remoteId = counterparty?.connectionId ?? "";
  emit(context, "ibc_connection", type, [
    ["connection_id", connectionId],
    ["client_id", clientId],
    ["counterparty_client_id", counterparty?.clientId ?? ""],
    ...(remoteId === "" ? [] : [["counterparty_connection_id", remoteId] as const]),
  ]);
}

/**
 * Emits the events for a step of the opening or closing handshake, or for an ordered channel that a timeout closes
 * (`channel_close`). Only the events for the first two handshake steps include the version.
 */
export function emitChannelStep(
  context: Context,
  type: string,
  { portId, channelId }: ChannelEndpoint,
  channel: Channel,
): void {
  const remoteId = channel.counterparty?.channelId ?? "";
  const isVersioned = type === "channel_open_init" || type === "channel_open_try";
  emit(context, "ibc_channel", type, [
    ["port_id", portId],
    ["channel_id", channelId],
    ["counterparty_port_id", channel.counterparty?.portId ?? ""],
    ...(type === "channel_open_init" ? [] : [["counterparty_channel_id", remoteId] as const]),
    ["connection_id", connectionOf(channel)],
    ...(isVersioned ? [["version", channel.version] as const] : []),
    ...(type === "channel_close" ? [orderingOf(channel)] : []),
  ]);
}

/** Emits the events for a packet that this chain sends or receives. */
export function emitPacket(
  context: Context,
  type: "send_packet" | "recv_packet",
  packet: Packet,
  channel: Channel,
): void {
  const attributes = [...dataOf(packet), ...idsOf(packet), ...bothConnections(channel)];
  emit(context, "ibc_channel", type, attributes);
}

/** Emits the events for an acknowledgement that this chain writes. */
export function emitAcknowledgement(
  context: Context,
  packet: Packet,
  channel: Channel,
  acknowledgement: Uint8Array,
): void {
  emit(context, "ibc_channel", "write_acknowledgement", [
    ...dataOf(packet),
    ...idsOf(packet),
    ["packet_ack", fromLossyUtf8(acknowledgement)],
    ["packet_ack_hex", toHex(acknowledgement)],
    ...bothConnections(channel),
  ]);
}

/** Emits the events for a packet that the counterparty has acknowledged. */
export function emitPacketAcknowledged(context: Context, packet: Packet, channel: Channel): void {
  emit(context, "ibc_channel", "acknowledge_packet", [...idsOf(packet), ...bothConnections(channel)]);
}

export function emitPacketTimedOut(context: Context, packet: Packet, channel: Channel): void {
  const connection = ["connection_id", connectionOf(channel)] as const;
  emit(context, "ibc_channel", "timeout_packet", [...idsOf(packet), connection, orderingOf(channel)]);
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

/** Returns the connection id under two attribute names, because ibc-go still emits the old name. */
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
