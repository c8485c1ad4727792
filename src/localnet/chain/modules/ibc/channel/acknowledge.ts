import { equalBytes, sha256 } from "../../../../../platform/base/bytes.ts";
import { type Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Context } from "../../../runtime/context.ts";
import { type MessageProof, verifyRemoteValue } from "../connection/connection-proofs.ts";
import { requireOpenConnection } from "../connection/connection-state.ts";
import { enumName } from "../enum-name.ts";
import { packetPath } from "../keys.ts";
import { deleteCommitment, getPacketEntry, getSequence, setSequence } from "./channel-store.ts";
import {
  ErrInvalidChannelState,
  ErrInvalidPacket,
  ErrPacketSequenceOutOfOrder,
  ErrSequenceAckNotFound,
} from "./errors.ts";
import { packetAcknowledged } from "./events.ts";
import { counterpartyOf, hopOf } from "./handshake.ts";
import { type Packet, packetCommitment } from "./packet.ts";

/**
 * Verifies the acknowledgement of a sent packet and deletes its commitment. Returns false, without a change, for a packet
 * without a commitment: it was acknowledged or timed out before. Throws `ModuleError`.
 */
export function acknowledgePacket(
  context: Context,
  channel: Channel,
  packet: Packet,
  { acknowledgement, proof }: { readonly acknowledgement: Uint8Array; readonly proof: MessageProof },
): boolean {
  if (channel.state !== State.STATE_OPEN) {
    throw ErrInvalidChannelState(
      `packets cannot be acknowledged on channel with state (${enumName(State, channel.state)})`,
    );
  }
  requireDestination(packet, channel);
  const connection = requireOpenConnection(context, hopOf(channel));
  const { source, destination, sequence } = packet;
  const commitment = getPacketEntry(context, "commitments", source, sequence);
  if (commitment === undefined) return false;
  const expected = packetCommitment(packet);
  if (!equalBytes(commitment, expected)) {
    throw ErrInvalidPacket(
      `commitment bytes are not equal: got (${goBytes(expected)}), expected (${goBytes(commitment)})`,
    );
  }
  const path = packetPath("acks", destination, sequence);
  const proven = { ...proof, path, name: "packet acknowledgement", isPacket: true };
  verifyRemoteValue(context, connection, proven, sha256(acknowledgement));
  if (channel.ordering === Order.ORDER_ORDERED) advanceAcknowledged(context, packet);
  deleteCommitment(context, source, sequence);
  for (const event of packetAcknowledged(packet, channel)) context.emit(event);
  return true;
}

/** Throws channel/13 when a packet names another end than that of the channel. */
export function requireDestination({ destination }: Packet, channel: Channel): void {
  const { portId, channelId } = counterpartyOf(channel);
  if (destination.portId !== portId) {
    throw ErrInvalidPacket(
      `packet destination port doesn't match the counterparty's port (${destination.portId} ≠ ${portId})`,
    );
  }
  if (destination.channelId !== channelId) {
    throw ErrInvalidPacket(
      `packet destination channel doesn't match the counterparty's channel (${destination.channelId} ≠ ${channelId})`,
    );
  }
}

/** Prints bytes as Go prints a slice with `%v`: "[1 125 203]". */
export function goBytes(bytes: Uint8Array): string {
  return `[${bytes.join(" ")}]`;
}

function advanceAcknowledged(context: Context, { source, sequence }: Packet): void {
  const next = getSequence(context, "nextSequenceAck", source);
  if (next === undefined)
    throw ErrSequenceAckNotFound(`source port: ${source.portId}, source channel: ${source.channelId}`);
  if (sequence !== next)
    throw ErrPacketSequenceOutOfOrder(`packet sequence ≠ next ack sequence (${sequence} ≠ ${next})`);
  setSequence(context, "nextSequenceAck", source, next + 1n);
}
