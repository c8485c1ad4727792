import {
  Channel,
  type Counterparty,
  type IdentifiedChannel,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import {
  latin1,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { createGasMeter } from "../../../runtime/gas.ts";
import { createItem, uint64Codec } from "../../../store/collections.ts";
import { channelCapability, chargeLookup, portCapability } from "../host/capability.ts";
import { ErrCapabilityNotFound } from "../host/errors.ts";
import * as keys from "../host/keys.ts";
import type { IBCModule, PortRouter } from "./ibc-module.ts";
import type { ChannelEndpoint } from "../host/packet.ts";

/** Number of the next channel, starting at 0. */
export const nextChannelSequence = createItem(keys.STORE_NAME, keys.NEXT_CHANNEL_SEQUENCE, uint64Codec);

export function getChannel(context: Context, { portId, channelId }: ChannelEndpoint): Channel | undefined {
  const bytes = context.store(keys.STORE_NAME).get(utf8(keys.channelPath(portId, channelId)));
  return bytes === undefined ? undefined : Channel.decode(bytes);
}

export function setChannel(context: Context, { portId, channelId }: ChannelEndpoint, channel: Channel): void {
  context
    .store(keys.STORE_NAME)
    .set(utf8(keys.channelPath(portId, channelId)), Channel.encode(channel).finish());
}

/** Returns the number of the next packet to send, receive or acknowledge, or undefined for an unknown channel. */
export function getSequence(
  context: Context,
  name: keys.SequenceName,
  { portId, channelId }: ChannelEndpoint,
): bigint | undefined {
  const bytes = context.store(keys.STORE_NAME).get(utf8(keys.sequencePath(name, portId, channelId)));
  return bytes === undefined ? undefined : readUint64BigEndian(bytes);
}

export function setSequence(
  context: Context,
  name: keys.SequenceName,
  { portId, channelId }: ChannelEndpoint,
  sequence: bigint,
): void {
  context
    .store(keys.STORE_NAME)
    .set(utf8(keys.sequencePath(name, portId, channelId)), uint64BigEndian(sequence));
}

/** Returns a packet's commitment, receipt or acknowledgement hash. */
export function getPacketEntry(
  context: Context,
  name: keys.PacketEntryName,
  end: ChannelEndpoint,
  sequence: bigint,
): Uint8Array | undefined {
  return context.store(keys.STORE_NAME).get(utf8(keys.packetPath(name, end, sequence)));
}

export function hasPacketEntry(
  context: Context,
  name: keys.PacketEntryName,
  end: ChannelEndpoint,
  sequence: bigint,
): boolean {
  return context.store(keys.STORE_NAME).has(utf8(keys.packetPath(name, end, sequence)));
}

export function setPacketEntry(
  context: Context,
  name: keys.PacketEntryName,
  packet: { readonly end: ChannelEndpoint; readonly sequence: bigint },
  value: Uint8Array,
): void {
  context.store(keys.STORE_NAME).set(utf8(keys.packetPath(name, packet.end, packet.sequence)), value);
}

export function deleteCommitment(context: Context, end: ChannelEndpoint, sequence: bigint): void {
  context.store(keys.STORE_NAME).delete(utf8(keys.packetPath("commitments", end, sequence)));
}

/** Returns the channels of all ports whose names start with `portPrefix`, in ascending path order. */
export function listChannels(context: Context, portPrefix?: string): readonly IdentifiedChannel[] {
  const prefix = portPrefix === undefined ? keys.CHANNELS_PREFIX : utf8(`channelEnds/ports/${portPrefix}`);
  const entries = context.store(keys.STORE_NAME).iterate(prefix, prefixEnd(prefix));
  return Array.from(entries, ([key, value]) => identifyChannel(latin1(key), value));
}

/** Decodes a channel and reads its ids from the path, whose leading parts may be missing. */
export function identifyChannel(path: string, value: Uint8Array): IdentifiedChannel {
  const match = /ports\/([^/]+)\/channels\/([^/]+)$/.exec(path);
  return { ...Channel.decode(value), portId: match?.[1] ?? "", channelId: match?.[2] ?? "" };
}

/** Returns all entries of one kind, each with its channel and packet number, in ascending path order. */
export function listPacketEntries(
  context: Context,
  name: keys.PacketEntryName,
): readonly (ChannelEndpoint & { readonly sequence: bigint; readonly data: Uint8Array })[] {
  const prefix = utf8(`${name}/`);
  const found = [];
  for (const [key, data] of context.store(keys.STORE_NAME).iterate(prefix, prefixEnd(prefix))) {
    const match = /\/ports\/([^/]+)\/channels\/([^/]+)\/sequences\/(\d+)$/.exec(latin1(key));
    if (match === null) continue;
    const [, portId = "", channelId = "", digits = ""] = match;
    found.push({ portId, channelId, sequence: BigInt(digits), data });
  }
  return found;
}

/** Returns the next sequence numbers of all channels, in ascending path order. */
export function listSequences(
  context: Context,
  name: keys.SequenceName,
): readonly (ChannelEndpoint & { readonly sequence: bigint })[] {
  const prefix = utf8(`${name}/`);
  const entries = context.store(keys.STORE_NAME).iterate(prefix, prefixEnd(prefix));
  return Array.from(entries, ([key, value]) => {
    const [, , portId = "", , channelId = ""] = latin1(key).split("/");
    return { portId, channelId, sequence: readUint64BigEndian(value) };
  });
}

/**
 * Returns the key prefix for a channel's entries of one kind. As in ibc-go, it excludes the slash before the sequence, so a
 * page's `next_key` starts with the slash.
 */
export function packetEntriesPrefix(
  name: keys.PacketEntryName,
  { portId, channelId }: ChannelEndpoint,
): Uint8Array {
  return utf8(keys.packetsPath(name, portId, channelId));
}

/** Returns the id of a channel's only connection. */
export function hopOf({ connectionHops }: Pick<Channel, "connectionHops">): string {
  return connectionHops[0] ?? "";
}

/** Returns a channel's other end. Its channel id is empty until known. */
export function counterpartyOf({ counterparty }: Pick<Channel, "counterparty">): Counterparty {
  return { portId: counterparty?.portId ?? "", channelId: counterparty?.channelId ?? "" };
}

const WORDS = "could not retrieve module from port-id";

/** Returns a port's application. Throws capability/7. */
export function applicationOfPort(context: Context, router: PortRouter, portId: string): IBCModule {
  const application = router(context, portId);
  const name = portCapability(portId);
  chargeLookup(context, name, application?.moduleName);
  if (application === undefined) throw ErrCapabilityNotFound(name).wrap(WORDS);
  return application;
}

/** Returns a channel's application. The channel's capability exists as long as the channel does. Throws capability/7. */
export function applicationOfChannel(context: Context, router: PortRouter, end: ChannelEndpoint): IBCModule {
  const exists = getChannel(context.withGas(createGasMeter()), end) !== undefined;
  const application = exists ? router(context, end.portId) : undefined;
  const name = channelCapability(end);
  chargeLookup(context, name, application?.moduleName);
  if (application === undefined) throw ErrCapabilityNotFound(name).wrap(WORDS);
  return application;
}
