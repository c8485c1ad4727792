import { equalBytes, uint64BigEndian } from "../../../../../platform/base/bytes.ts";
import { type Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { type MessageProof, verifyRemoteAbsence, verifyRemoteValue } from "../client/verify-proof.ts";
import { requireConnection } from "../connection/connection-store.ts";
import { packetPath, sequencePath } from "../host/keys.ts";
import { goBytes, requireDestination } from "./acknowledge.ts";
import { deleteCommitment, getPacketEntry, setChannel } from "./channel-store.ts";
import { ErrInvalidPacket, ErrPacketReceived } from "../host/errors.ts";
import { channelClosed, packetTimedOut } from "../host/events.ts";
import { hopOf, verifyClosed } from "./handshake.ts";
import { hasElapsed, type Packet, packetCommitment, timeoutNotReachedError } from "./packet.ts";
import { timestampAt } from "./send.ts";

/** The proof that a packet was not received. */
export interface Unreceived {
  readonly proof: MessageProof;
  /** Number of the next packet on an ordered channel of the counterparty. */
  readonly nextSequenceRecv: bigint;
}

/** The proof that the counterparty has closed its end of the channel. */
export interface ClosedProof {
  readonly proof: MessageProof;
  readonly upgradeSequence: bigint;
}

/**
 * Verifies that a sent packet can no longer be received. Returns false, without a change, for a packet without a
 * commitment. Throws `ModuleError`.
 */
export function timeOutPacket(
  context: Context,
  channel: Channel,
  packet: Packet,
  unreceived: Unreceived,
): boolean {
  requireDestination(packet, channel);
  const connection = requireConnection(context, hopOf(channel));
  const { height } = unreceived.proof;
  const timestamp = timestampAt(context, connection.clientId, height);
  if (!hasElapsed(packet.timeout, height, timestamp))
    throw timeoutNotReachedError(packet.timeout, height, timestamp).wrap("packet timeout not reached");
  if (!isCommitted(context, packet)) return false;
  if (channel.ordering === Order.ORDER_ORDERED && unreceived.nextSequenceRecv > packet.sequence) {
    throw ErrPacketReceived(
      `packet already received, next sequence receive > packet sequence (${unreceived.nextSequenceRecv} > ${packet.sequence})`,
    );
  }
  verifyUnreceived(context, { connection, ordering: channel.ordering }, packet, unreceived);
  return true;
}

/** As {@link timeOutPacket}, for a channel that the counterparty has closed: the timeout need not have passed. */
export function timeOutOnClose(
  context: Context,
  channel: Channel,
  packet: Packet,
  { closed, ...unreceived }: Unreceived & { readonly closed: ClosedProof },
): boolean {
  requireDestination(packet, channel);
  const connection = requireConnection(context, hopOf(channel));
  if (!isCommitted(context, packet)) return false;
  verifyClosed(context, { connection, channel, end: packet.source }, closed);
  if (channel.ordering === Order.ORDER_ORDERED && unreceived.nextSequenceRecv > packet.sequence) {
    // The missing bracket is that of ibc-go.
    throw ErrInvalidPacket(
      `packet already received, next sequence receive > packet sequence (${unreceived.nextSequenceRecv} > ${packet.sequence}`,
    );
  }
  verifyUnreceived(context, { connection, ordering: channel.ordering }, packet, unreceived);
  return true;
}

/** Deletes the commitment of a packet that has timed out. A timeout closes an ordered channel. */
export function executeTimeout(context: Context, channel: Channel, packet: Packet): void {
  deleteCommitment(context, packet.source, packet.sequence);
  if (channel.ordering === Order.ORDER_ORDERED) {
    const closed = { ...channel, state: State.STATE_CLOSED };
    setChannel(context, packet.source, closed);
    for (const event of channelClosed(packet.source, closed)) context.emit(event);
  }
  for (const event of packetTimedOut(packet, channel)) context.emit(event);
}

/** Whether a packet has a commitment. Throws channel/13 when it is that of another packet. */
function isCommitted(context: Context, packet: Packet): boolean {
  const commitment = getPacketEntry(context, "commitments", packet.source, packet.sequence);
  if (commitment === undefined) return false;
  const expected = packetCommitment(packet);
  if (equalBytes(commitment, expected)) return true;
  throw ErrInvalidPacket(
    `packet commitment bytes are not equal: got (${goBytes(commitment)}), expected (${goBytes(expected)})`,
  );
}

/** An unordered channel has no receipt of the packet. An ordered one still expects it, or an earlier one. */
function verifyUnreceived(
  context: Context,
  { connection, ordering }: { readonly connection: ConnectionEnd; readonly ordering: Order },
  { destination, sequence }: Packet,
  { proof, nextSequenceRecv }: Unreceived,
): void {
  if (ordering === Order.ORDER_ORDERED) {
    const path = sequencePath("nextSequenceRecv", destination.portId, destination.channelId);
    const proven = { ...proof, path, name: "next sequence receive", isPacket: true };
    verifyRemoteValue(context, connection, proven, uint64BigEndian(nextSequenceRecv));
    return;
  }
  const path = packetPath("receipts", destination, sequence);
  verifyRemoteAbsence(context, connection, {
    ...proof,
    path,
    name: "packet receipt absence",
    isPacket: true,
  });
}
