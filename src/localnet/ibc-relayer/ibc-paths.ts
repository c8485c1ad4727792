import type { ChannelEnd } from "./ibc-reads.ts";

// Paths of ICS-24, as ibc-go stores them.

/** Returns the path of a channel. */
export function channelPath(end: ChannelEnd): string {
  return `channelEnds/${suffix(end)}`;
}

/** Returns the path of the number of the next packet that an ordered channel receives. */
export function nextReceivePath(end: ChannelEnd): string {
  return `nextSequenceRecv/${suffix(end)}`;
}

/** Returns the path of the hash of a sent packet, of the receipt of a packet, or of the hash of its acknowledgement. */
export function packetPath(
  name: "commitments" | "receipts" | "acks",
  end: ChannelEnd,
  sequence: bigint,
): string {
  return `${name}/${suffix(end)}/sequences/${sequence}`;
}

function suffix({ portId, channelId }: ChannelEnd): string {
  return `ports/${portId}/channels/${channelId}`;
}
