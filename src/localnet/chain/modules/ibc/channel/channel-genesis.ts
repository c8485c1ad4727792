import { toBase64 } from "../../../../../platform/base/bytes.ts";
import {
  type JsonObject,
  type JsonValue,
  asText,
  asUint64,
  elements,
  type JsonField,
  member,
  required,
} from "../../../../../platform/base/json.ts";
import {
  IdentifiedChannel,
  PacketState,
  Params,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { messageToJson } from "../../../../../cosmos/proto/json.ts";
import type { Context } from "../../../runtime/context.ts";
import { atPath, GenesisError } from "../../../runtime/genesis.ts";
import { getConnection } from "../connection/connection-store.ts";
import { asMessage, asMessages } from "../genesis-fields.ts";
import { validateChannelId, validatePortId } from "../identifiers.ts";
import type { PacketEntryName, SequenceName } from "../keys.ts";
import {
  DEFAULT_CHANNEL_PARAMS,
  getChannel,
  getChannelParams,
  getSequence,
  listChannels,
  listPacketEntries,
  nextChannelSequence,
  setChannel,
  setChannelParams,
  setPacketEntry,
  setSequence,
} from "./channel-store.ts";
import { hopOf } from "./handshake.ts";
import { validateChannel, validateParams } from "./messages.ts";
import type { ChannelEndpoint } from "./packet.ts";

const PACKAGE = "ibc.core.channel.v1";

/** Lists of the genesis with the entries of packets. */
const PACKET_LISTS: readonly (readonly [list: string, name: PacketEntryName])[] = [
  ["acknowledgements", "acks"],
  ["commitments", "commitments"],
  ["receipts", "receipts"],
];

/** Lists of the genesis with the sequences of channels. */
const SEQUENCE_LISTS: readonly (readonly [list: string, name: SequenceName])[] = [
  ["send_sequences", "nextSequenceSend"],
  ["recv_sequences", "nextSequenceRecv"],
  ["ack_sequences", "nextSequenceAck"],
];

/**
 * Reads `channel_genesis` in ibc-go's form, after the connections. Throws `GenesisError` for a channel that is invalid, given
 * twice, or without its connection, and for entries of an unknown channel.
 */
export function initChannels(context: Context, genesis: JsonField): void {
  const params = asMessage(member(genesis, "params"), { name: `${PACKAGE}.Params`, codec: Params });
  if (params !== undefined) atPath(`${genesis.path}.params`, () => validateParams(params));
  setChannelParams(context, params ?? DEFAULT_CHANNEL_PARAMS);
  const list = member(genesis, "channels");
  const channels = asMessages(list, { name: `${PACKAGE}.IdentifiedChannel`, codec: IdentifiedChannel });
  for (const [index, channel] of channels.entries())
    atPath(`${list.path}[${index}]`, () => initChannel(context, channel));
  for (const [name, entry] of PACKET_LISTS) initPackets(context, member(genesis, name), entry);
  for (const [name, sequence] of SEQUENCE_LISTS) initSequences(context, member(genesis, name), sequence);
  nextChannelSequence.set(context, asUint64(member(genesis, "next_channel_sequence")));
}

function initChannel(context: Context, { portId, channelId, ...channel }: IdentifiedChannel): void {
  const end = { portId, channelId };
  validatePortId(portId);
  validateChannelId(channelId);
  validateChannel(channel);
  if (getChannel(context, end) !== undefined)
    throw new Error(`duplicate channel ${channelId} of port ${portId}`);
  if (getConnection(context, hopOf(channel)) === undefined)
    throw new Error(`the connection ${hopOf(channel)} does not exist`);
  setChannel(context, end, channel);
}

function initPackets(context: Context, list: JsonField, name: PacketEntryName): void {
  const states = asMessages(list, { name: `${PACKAGE}.PacketState`, codec: PacketState });
  for (const [index, { portId, channelId, sequence, data }] of states.entries()) {
    const end = { portId, channelId };
    requireChannel(context, `${list.path}[${index}]`, end);
    setPacketEntry(context, name, { end, sequence }, data);
  }
}

function initSequences(context: Context, list: JsonField, name: SequenceName): void {
  for (const element of elements(list)) {
    const portId = asText(required(member(element, "port_id")));
    const channelId = asText(required(member(element, "channel_id")));
    requireChannel(context, element.path, { portId, channelId });
    setSequence(context, name, { portId, channelId }, asUint64(required(member(element, "sequence"))));
  }
}

function requireChannel(context: Context, path: string, end: ChannelEndpoint): void {
  if (getChannel(context, end) !== undefined) return;
  throw new GenesisError(path, `the channel ${end.channelId} of port ${end.portId} does not exist`);
}

/** Prints all channels with their packets. */
export function exportChannels(context: Context): JsonObject {
  const channels = listChannels(context);
  return {
    channels: channels.map((channel) =>
      messageToJson(`${PACKAGE}.IdentifiedChannel`, IdentifiedChannel.encode(channel).finish()),
    ),
    ...Object.fromEntries(PACKET_LISTS.map(([list, name]) => [list, exportPackets(context, name)])),
    ...Object.fromEntries(
      SEQUENCE_LISTS.map(([list, name]) => [list, exportSequences(context, channels, name)]),
    ),
    next_channel_sequence: `${nextChannelSequence.get(context) ?? 0n}`,
    params: messageToJson(`${PACKAGE}.Params`, Params.encode(getChannelParams(context)).finish()),
  };
}

function exportPackets(context: Context, name: PacketEntryName): readonly JsonValue[] {
  return listPacketEntries(context, name).map(({ portId, channelId, sequence, data }) => ({
    port_id: portId,
    channel_id: channelId,
    sequence: sequence.toString(),
    data: toBase64(data),
  }));
}

function exportSequences(
  context: Context,
  channels: readonly ChannelEndpoint[],
  name: SequenceName,
): readonly JsonValue[] {
  return channels.flatMap((end) => {
    const sequence = getSequence(context, name, end)?.toString();
    return sequence === undefined ? [] : [{ port_id: end.portId, channel_id: end.channelId, sequence }];
  });
}
