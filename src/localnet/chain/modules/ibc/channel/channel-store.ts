import * as wireChannel from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { latin1, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { createGasMeter } from "../../../runtime/gas.ts";
import * as collections from "../../../store/collections.ts";
import { channelCapability, chargeLookup, portCapability } from "../host/capability.ts";
import * as ibcErrors from "../host/errors.ts";
import { endPath, type PacketEntryName, type SequenceName, STORE_NAME } from "../host/keys.ts";
import type { ChannelEndpoint } from "../host/packet.ts";
import type { IBCModule, PortRouter } from "./ibc-module.ts";

/** Identifies a packet by one end of its channel and its sequence. */
export interface PacketKey extends ChannelEndpoint {
  readonly sequence: bigint;
}

const endCodec: collections.Codec<ChannelEndpoint> = {
  encode: (end) => utf8(endPath(end)),
  decode: (key) => {
    const [, portId = "", , channelId = ""] = latin1(key).split("/");
    return { portId, channelId };
  },
};

const packetCodec: collections.Codec<PacketKey> = {
  encode: ({ sequence, ...end }) => utf8(`${endPath(end)}/sequences/${sequence}`),
  decode: (key) => {
    const [, portId = "", , channelId = "", , sequence = ""] = latin1(key).split("/");
    return { portId, channelId, sequence: BigInt(sequence) };
  },
};

/** Number that the next channel id will contain, starting at 0. */
export const channelSequence = collections.createSequence(STORE_NAME, utf8("nextChannelSequence"), 0n);

/** Channel ends, sorted by their ICS-24 path. */
export const channels = collections.createMap(
  STORE_NAME,
  utf8("channelEnds/"),
  endCodec,
  collections.messageCodec<wireChannel.Channel>(wireChannel.Channel),
);

/** The number of the next packet to send, receive or acknowledge on each channel. */
export const sequences: Readonly<Record<SequenceName, collections.StoredMap<ChannelEndpoint, bigint>>> = {
  nextSequenceSend: sequenceMap("nextSequenceSend"),
  nextSequenceRecv: sequenceMap("nextSequenceRecv"),
  nextSequenceAck: sequenceMap("nextSequenceAck"),
};

function sequenceMap(name: SequenceName): collections.StoredMap<ChannelEndpoint, bigint> {
  return collections.createMap(STORE_NAME, utf8(`${name}/`), endCodec, collections.uint64Codec);
}

/** Commitments of sent packets, receipts of received packets, and hashes of acknowledgements. */
export const packets: Readonly<Record<PacketEntryName, collections.StoredMap<PacketKey, Uint8Array>>> = {
  commitments: packetMap("commitments"),
  receipts: packetMap("receipts"),
  acks: packetMap("acks"),
};

function packetMap(name: PacketEntryName): collections.StoredMap<PacketKey, Uint8Array> {
  return collections.createMap(STORE_NAME, utf8(`${name}/`), packetCodec, collections.bytesCodec);
}

/** Returns the channels of all ports whose names start with `portPrefix`. */
export function listChannels(context: Context, portPrefix = ""): readonly wireChannel.IdentifiedChannel[] {
  const entries = channels.entries(context, utf8(`ports/${portPrefix}`));
  return Array.from(entries, ([end, channel]) => ({ ...channel, ...end }));
}

/** Decodes an entry under `channelEnds`, whose key starts with a slash. */
export function identifyChannel(key: Uint8Array, value: Uint8Array): wireChannel.IdentifiedChannel {
  return { ...wireChannel.Channel.decode(value), ...endCodec.decode(key.subarray(1)) };
}

/** For each sequence, the error thrown if the sequence is missing, and the channel end named in the error text. */
const NO_SEQUENCE = {
  nextSequenceSend: [ibcErrors.ErrSequenceSendNotFound, "source"],
  nextSequenceRecv: [ibcErrors.ErrSequenceReceiveNotFound, "destination"],
  nextSequenceAck: [ibcErrors.ErrSequenceAckNotFound, "source"],
} as const;

/** Reads one of a channel's next sequences. Throws channel/10, channel/11 or channel/12 if the sequence does not exist. */
export function requireSequence(context: Context, name: SequenceName, end: ChannelEndpoint): bigint {
  const sequence = sequences[name].get(context, end);
  if (sequence !== undefined) return sequence;
  const [kind, side] = NO_SEQUENCE[name];
  throw kind(`${side} port: ${end.portId}, ${side} channel: ${end.channelId}`);
}

/** Reads a channel in any state. Throws channel/3 with `words` (default: the port and channel ids) for an unknown channel. */
export function requireChannel(
  context: Context,
  end: ChannelEndpoint,
  words = `port ID (${end.portId}) channel ID (${end.channelId})`,
): wireChannel.Channel {
  const channel = channels.get(context, end);
  if (channel === undefined) throw ibcErrors.ErrChannelNotFound(words);
  return channel;
}

/** Returns the id of a channel's only connection. */
export function hopOf({ connectionHops }: Pick<wireChannel.Channel, "connectionHops">): string {
  return connectionHops[0] ?? "";
}

/** Returns a channel's other end, whose channel id is empty until the handshake sets this id. */
export function counterpartyOf({
  counterparty,
}: Pick<wireChannel.Channel, "counterparty">): wireChannel.Counterparty {
  return { portId: counterparty?.portId ?? "", channelId: counterparty?.channelId ?? "" };
}

/** Returns the application that is bound to a port. Throws capability/7 if no application is bound. */
export function applicationOfPort(context: Context, router: PortRouter, portId: string): IBCModule {
  return requireOwner(context, portCapability(portId), router(context, portId));
}

/** Returns the application that owns a channel. Throws capability/7 if the channel, and therefore its capability, does not exist. */
export function applicationOfChannel(context: Context, router: PortRouter, end: ChannelEndpoint): IBCModule {
  const exists = channels.get(context.withGas(createGasMeter()), end) !== undefined;
  return requireOwner(context, channelCapability(end), exists ? router(context, end.portId) : undefined);
}

function requireOwner(context: Context, capability: string, application: IBCModule | undefined): IBCModule {
  chargeLookup(context, capability, application?.moduleName);
  if (application !== undefined) return application;
  throw ibcErrors.ErrCapabilityNotFound(capability).wrap("could not retrieve module from port-id");
}
