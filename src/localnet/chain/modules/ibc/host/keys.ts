import type { ChannelEndpoint } from "./packet.ts";
import { concat, readUint64BigEndian, uint64BigEndian, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { formatHeight } from "./height.ts";

/** Name of the module and its store. The store's paths follow ICS-24, because counterparties verify proofs for these paths. */
export const STORE_NAME = "ibc";

export const CLIENTS_PREFIX = utf8("clients");

/**
 * Key prefix of connection ends, followed by "/" and the id. The prefix does not include the slash, because `next_key` in ibc-go
 * starts with the slash.
 */
export const CONNECTIONS_PREFIX = utf8("connections");

/** Prefix of channel ends, before "/ports/{port}/channels/{channel}". The slash is excluded as in {@link CONNECTIONS_PREFIX}. */
export const CHANNELS_PREFIX = utf8("channelEnds");

/** Key of the client state, an encoded `Any`, within the client's store. */
export const CLIENT_STATE = utf8("clientState");

const ITERATION_PREFIX = utf8("iterateConsensusStates");

/** Returns the prefix of a client's store. */
export function clientPrefix(clientId: string): Uint8Array {
  return utf8(`clients/${clientId}/`);
}

/** Returns the key for a consensus state, an encoded `Any`, within the client's store. */
export function consensusStateKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}`);
}

/** Returns the key for the block time at which a consensus state was stored: nanoseconds, 8 bytes big-endian. */
export function processedTimeKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}/processedTime`);
}

/** Returns the key for this chain's height at which a consensus state was stored: "revision-height". */
export function processedHeightKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}/processedHeight`);
}

/**
 * Returns the key for an iteration entry, whose value is the {@link consensusStateKey}. Iteration keys sort by height. Consensus
 * state keys, in contrast, sort as text, so that 1000 precedes 33.
 */
export function iterationKey(height: Height): Uint8Array {
  return concat(ITERATION_PREFIX, heightBytes(height));
}

/** Selects heights from `from` (inclusive) to `below` (exclusive). Default: no bound. */
export interface HeightBounds {
  readonly from?: Height;
  readonly below?: Height;
}

/** Returns the range of the iteration keys for these heights, with an exclusive end. */
export function iterationRange({ from, below }: HeightBounds): readonly [start: Uint8Array, end: Uint8Array] {
  const start = from === undefined ? ITERATION_PREFIX : iterationKey(from);
  // The first key after all iteration keys is their prefix with the last letter "s" increased to "t".
  const end = below === undefined ? utf8("iterateConsensusStatet") : iterationKey(below);
  return [start, end];
}

export function heightOfIterationKey(key: Uint8Array): Height {
  const at = ITERATION_PREFIX.length;
  return {
    revisionNumber: readUint64BigEndian(key, at),
    revisionHeight: readUint64BigEndian(key, at + 8),
  };
}

/** Returns the prefix of a client's consensus states and their metadata. */
export function consensusStatesPrefix(clientId: string): Uint8Array {
  return utf8(`clients/${clientId}/consensusStates/`);
}

/** Names of a channel's sequence entries. Each entry contains the next packet's sequence, 8 bytes big-endian. */
export type SequenceName = "nextSequenceSend" | "nextSequenceRecv" | "nextSequenceAck";

/** Names of the entries that a channel stores for its packets. */
export type PacketEntryName = "commitments" | "receipts" | "acks";

export function channelPath(end: ChannelEndpoint): string {
  return `channelEnds/${endPath(end)}`;
}

export function sequencePath(name: SequenceName, end: ChannelEndpoint): string {
  return `${name}/${endPath(end)}`;
}

/** Returns the path of the counterparty's channel upgrade. No channel on this chain has an upgrade. */
export function upgradePath(end: ChannelEndpoint): string {
  return `channelUpgrades/counterpartyUpgrade/${endPath(end)}`;
}

/** Returns the path for the first packet sequence after a channel upgrade. No channel on this chain has an upgrade. */
export function startPath(end: ChannelEndpoint): string {
  return `recvStartSequence/${endPath(end)}`;
}

/** Returns the path of a packet's commitment, receipt or acknowledgement. */
export function packetPath(name: PacketEntryName, end: ChannelEndpoint, sequence: bigint): string {
  return `${name}/${endPath(end)}/sequences/${sequence}`;
}

/** Returns the last part of a channel's paths. */
export function endPath({ portId, channelId }: ChannelEndpoint): string {
  return `ports/${portId}/channels/${channelId}`;
}

function heightBytes(height: Height): Uint8Array {
  return concat(uint64BigEndian(height.revisionNumber), uint64BigEndian(height.revisionHeight));
}
