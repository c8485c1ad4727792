import { sha256 } from "../../../../../platform/base/bytes.ts";
import { type Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { type MessageProof, verifyRemoteValue } from "../connection/connection-proofs.ts";
import { requireOpenConnection } from "../connection/connection-state.ts";
import { enumName } from "../enum-name.ts";
import { selfHeight } from "../height.ts";
import { packetPath } from "../keys.ts";
import type { Acknowledgement } from "./application.ts";
import { getChannel, getPacketEntry, getSequence, setPacketEntry, setSequence } from "./channel-store.ts";
import {
  ErrAcknowledgementExists,
  ErrChannelNotFound,
  ErrInvalidAcknowledgement,
  ErrInvalidChannelState,
  ErrInvalidPacket,
  ErrPacketSequenceOutOfOrder,
  ErrSequenceReceiveNotFound,
} from "./errors.ts";
import { acknowledgementWritten, packetReceived } from "./events.ts";
import { counterpartyOf, hopOf } from "./handshake.ts";
import { hasElapsed, type Packet, packetCommitment, timeoutElapsedError } from "./packet.ts";

/** Value of the receipt of a packet on an unordered channel. */
const RECEIPT = Uint8Array.of(1);

/**
 * Verifies a packet and notes that it was received. Returns false, without a change, for a packet that was received
 * before. Throws `ModuleError`.
 */
export function receivePacket(context: Context, packet: Packet, proof: MessageProof): boolean {
  const channel = destinationOf(context, packet);
  requireSource(packet, channel);
  const connection = requireOpenConnection(context, hopOf(channel));
  const height = selfHeight(context);
  if (hasElapsed(packet.timeout, height, context.timeNs))
    throw timeoutElapsedError(packet.timeout, height, context.timeNs).wrap("packet timeout elapsed");
  const path = packetPath("commitments", packet.source, packet.sequence);
  wrapErrors(
    (error) => error.wrap("couldn't verify counterparty packet commitment"),
    () =>
      verifyRemoteValue(
        context,
        connection,
        { ...proof, path, name: "packet commitment", isPacket: true },
        packetCommitment(packet),
      ),
  );
  if (!markReceived(context, packet, channel.ordering)) return false;
  for (const event of packetReceived(packet, channel)) context.emit(event);
  return true;
}

/** Notes a packet whose proof was verified before. For the repeated check of a waiting transaction. Throws `ModuleError`. */
export function receiveVerified(context: Context, packet: Packet): boolean {
  const channel = getChannel(context, packet.destination);
  if (channel === undefined) throw ErrChannelNotFound(packet.destination.channelId);
  return markReceived(context, packet, channel.ordering);
}

/** Stores the hash of an acknowledgement, which a relayer proves to the counterparty. Throws `ModuleError`. */
export function writeAcknowledgement(
  context: Context,
  packet: Packet,
  { bytes }: Pick<Acknowledgement, "bytes">,
): void {
  const { destination: end, sequence } = packet;
  const channel = destinationOf(context, packet);
  if (getPacketEntry(context, "acks", end, sequence) !== undefined) throw ErrAcknowledgementExists();
  if (bytes.length === 0) throw ErrInvalidAcknowledgement("acknowledgement cannot be empty");
  setPacketEntry(context, "acks", { end, sequence }, sha256(bytes));
  for (const event of acknowledgementWritten(packet, channel, bytes)) context.emit(event);
}

function destinationOf(context: Context, { destination }: Packet): Channel {
  const channel = getChannel(context, destination);
  if (channel === undefined) throw ErrChannelNotFound(destination.channelId);
  if (channel.state === State.STATE_OPEN) return channel;
  throw ErrInvalidChannelState(
    `expected channel state to be one of [STATE_OPEN, STATE_FLUSHING, STATE_FLUSHCOMPLETE], but got ${enumName(State, channel.state)}`,
  );
}

function requireSource({ source }: Packet, channel: Channel): void {
  const { portId, channelId } = counterpartyOf(channel);
  if (source.portId !== portId) {
    throw ErrInvalidPacket(
      `packet source port doesn't match the counterparty's port (${source.portId} ≠ ${portId})`,
    );
  }
  if (source.channelId !== channelId) {
    throw ErrInvalidPacket(
      `packet source channel doesn't match the counterparty's channel (${source.channelId} ≠ ${channelId})`,
    );
  }
}

/** An unordered channel keeps a receipt of each packet, an ordered one the number of the next. */
function markReceived(context: Context, { destination: end, sequence }: Packet, ordering: Order): boolean {
  if (ordering === Order.ORDER_UNORDERED) {
    if (getPacketEntry(context, "receipts", end, sequence) !== undefined) return false;
    setPacketEntry(context, "receipts", { end, sequence }, RECEIPT);
    return true;
  }
  const next = getSequence(context, "nextSequenceRecv", end);
  if (next === undefined) {
    throw ErrSequenceReceiveNotFound(
      `destination port: ${end.portId}, destination channel: ${end.channelId}`,
    );
  }
  if (sequence < next) return false;
  if (sequence !== next)
    throw ErrPacketSequenceOutOfOrder(`packet sequence ≠ next receive sequence (${sequence} ≠ ${next})`);
  setSequence(context, "nextSequenceRecv", end, next + 1n);
  return true;
}
