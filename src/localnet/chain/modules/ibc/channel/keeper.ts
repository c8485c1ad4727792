import { Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { equalBytes, sha256, uint64BigEndian, goBytes } from "../../../../../platform/base/bytes.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import type { Context } from "../../../runtime/context.ts";
import { chargeRead } from "../../../runtime/gas.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { latestHeightOf, openClient, requireActive, timestampAt } from "../client/client-store.ts";
import { type MessageProof, verifyRemoteAbsence, verifyRemoteValue } from "../client/verify-proof.ts";
import { requireConnection, requireOpenConnection } from "../connection/connection-store.ts";
import { channelCapability, chargeAuthentication } from "../host/capability.ts";
import * as ibcErrors from "../host/errors.ts";
import * as events from "../host/events.ts";
import { isZeroHeight, selfHeight } from "../host/height.ts";
import { channelPath, packetPath, sequencePath, startPath, STORE_NAME, upgradePath } from "../host/keys.ts";
import {
  type ChannelEndpoint,
  hasElapsed,
  type Packet,
  packetCommitment,
  timeoutElapsedError,
  timeoutNotReachedError,
  validatePacket,
} from "../host/packet.ts";
import * as channelStore from "./channel-store.ts";
import { type Acknowledgement, type OutgoingPacket, requireCanonicalReply } from "./ibc-module.ts";

/** The value stored as a packet's receipt on an unordered channel. */
const RECEIPT = Uint8Array.of(1);

/** Verifies and records a received packet. Returns false without changes if the packet was received before. Throws `ModuleError`. */
export function receivePacket(context: Context, packet: Packet, proof: MessageProof): boolean {
  const channel = destinationOf(context, packet);
  chargeRead(context.gas, upgradePath(packet.destination).length, 0);
  chargeAuthentication(context, STORE_NAME, channelCapability(packet.destination));
  requireCounterparty("source", packet.source, channel);
  const connection = requireOpenConnection(context, channelStore.hopOf(channel));
  const height = selfHeight(context);
  if (hasElapsed(packet.timeout, height, context.timeNs))
    throw timeoutElapsedError(packet.timeout, height, context.timeNs).wrap("packet timeout elapsed");
  const path = packetPath("commitments", packet.source, packet.sequence);
  const proven = { ...proof, path, name: "packet commitment", isPacket: true };
  wrapErrors("couldn't verify counterparty packet commitment", () =>
    verifyRemoteValue(context, connection, proven, packetCommitment(packet)),
  );
  if (!markReceived(context, packet, channel.ordering)) return false;
  events.emitPacket(context, "recv_packet", packet, channel);
  return true;
}

/** Records a received packet during a CheckTx recheck, without verifying the packet's proof again. Throws `ModuleError`. */
export function receiveVerified(context: Context, packet: Packet): boolean {
  const { ordering } = channelStore.requireChannel(context, packet.destination, packet.destination.channelId);
  return markReceived(context, packet, ordering);
}

/** Stores an acknowledgement's hash, which a relayer proves to the counterparty. Throws `ModuleError`. */
export function writeAcknowledgement(
  context: Context,
  packet: Packet,
  { bytes }: Pick<Acknowledgement, "bytes">,
): void {
  const { destination: end, sequence } = packet;
  const channel = destinationOf(context, packet);
  chargeAuthentication(context, STORE_NAME, channelCapability(end));
  if (channelStore.packets.acks.has(context, { ...end, sequence }))
    throw ibcErrors.ErrAcknowledgementExists();
  if (bytes.length === 0) throw ibcErrors.ErrInvalidAcknowledgement("acknowledgement cannot be empty");
  channelStore.packets.acks.set(context, { ...end, sequence }, sha256(bytes));
  events.emitAcknowledgement(context, packet, channel, bytes);
}

function destinationOf(context: Context, { destination }: Packet): Channel {
  const channel = channelStore.requireChannel(context, destination, destination.channelId);
  if (channel.state === State.STATE_OPEN) return channel;
  throw ibcErrors.ErrInvalidChannelState(
    `expected channel state to be one of [STATE_OPEN, STATE_FLUSHING, STATE_FLUSHCOMPLETE], but got ${enumName(State, channel.state)}`,
  );
}

/** Throws channel/13 if a packet names a different counterparty than the channel. */
function requireCounterparty(name: "source" | "destination", end: ChannelEndpoint, channel: Channel): void {
  const { portId, channelId } = channelStore.counterpartyOf(channel);
  if (end.portId !== portId) {
    throw ibcErrors.ErrInvalidPacket(
      `packet ${name} port doesn't match the counterparty's port (${end.portId} ≠ ${portId})`,
    );
  }
  if (end.channelId !== channelId) {
    throw ibcErrors.ErrInvalidPacket(
      `packet ${name} channel doesn't match the counterparty's channel (${end.channelId} ≠ ${channelId})`,
    );
  }
}

/** Records a received packet: stores a receipt on an unordered channel, or advances the next sequence on an ordered channel. */
function markReceived(context: Context, { destination: end, sequence }: Packet, ordering: Order): boolean {
  chargeRead(context.gas, startPath(end).length, 0);
  if (ordering === Order.ORDER_UNORDERED) {
    if (channelStore.packets.receipts.get(context, { ...end, sequence }) !== undefined) return false;
    channelStore.packets.receipts.set(context, { ...end, sequence }, RECEIPT);
    return true;
  }
  const next = channelStore.requireSequence(context, "nextSequenceRecv", end);
  if (sequence < next) return false;
  if (sequence !== next)
    throw ibcErrors.ErrPacketSequenceOutOfOrder(
      `packet sequence ≠ next receive sequence (${sequence} ≠ ${next})`,
    );
  channelStore.sequences.nextSequenceRecv.set(context, end, next + 1n);
  return true;
}

/**
 * Stores a packet's commitment, which a relayer proves to the counterparty. Returns the packet's sequence. Throws `ModuleError`.
 */
export function sendPacket(context: Context, outgoing: OutgoingPacket): bigint {
  const { source } = outgoing;
  const channel = channelStore.requireChannel(context, source, source.channelId);
  if (channel.state !== State.STATE_OPEN)
    throw ibcErrors.ErrInvalidChannelState(`channel is not OPEN (got ${enumName(State, channel.state)})`);
  chargeAuthentication(context, STORE_NAME, channelCapability(source));
  const sequence = channelStore.requireSequence(context, "nextSequenceSend", source);
  const packet: Packet = { ...outgoing, sequence, destination: channelStore.counterpartyOf(channel) };
  wrapErrors("constructed packet failed basic validation", () => validatePacket(packet));
  requireTimeLeft(context, packet, requireConnection(context, channelStore.hopOf(channel)).clientId);
  channelStore.sequences.nextSequenceSend.set(context, source, sequence + 1n);
  channelStore.packets.commitments.set(context, { ...source, sequence }, packetCommitment(packet));
  events.emitPacket(context, "send_packet", packet, channel);
  return sequence;
}

/** Throws if the client is not active, or if the packet's timeout has passed at the client's latest height and time. */
function requireTimeLeft(context: Context, { timeout }: Packet, clientId: string): void {
  const words = `cannot send packet using client (${clientId}) with`;
  const opened = openClient(context, clientId, ibcErrors.ErrClientNotFound);
  requireActive(context, opened, (status) => `${words} status ${status}`);
  const latest = latestHeightOf(opened.client);
  if (isZeroHeight(latest)) throw ibcErrors.ErrInvalidClientHeight(`${words} zero height`);
  const timestamp = timestampAt(context, clientId, latest);
  if (hasElapsed(timeout, latest, timestamp))
    throw timeoutElapsedError(timeout, latest, timestamp).wrap("invalid packet timeout");
}

/** Proof that the counterparty has not received a packet. */
export interface Unreceived {
  readonly proof: MessageProof;
  /** The sequence that the counterparty's channel end expects next, if the channel is ordered. */
  readonly nextSequenceRecv: bigint;
}

/** Proof that the counterparty has closed its end of the channel. */
export interface ClosedProof {
  readonly proof: MessageProof;
  readonly upgradeSequence: bigint;
}

/**
 * Verifies that a packet has timed out and was not received. Returns false without changes if the packet has no commitment. Throws
 * `ModuleError`.
 */
export function timeOutPacket(context: Context, packet: Packet, unreceived: Unreceived): boolean {
  const channel = channelStore.requireChannel(context, packet.source);
  requireCounterparty("destination", packet.destination, channel);
  const connection = requireConnection(context, channelStore.hopOf(channel));
  const { height } = unreceived.proof;
  const timestamp = timestampAt(context, connection.clientId, height);
  if (!hasElapsed(packet.timeout, height, timestamp))
    throw timeoutNotReachedError(packet.timeout, height, timestamp).wrap("packet timeout not reached");
  if (!isCommitted(context, packet)) return false;
  if (channel.ordering === Order.ORDER_ORDERED && unreceived.nextSequenceRecv > packet.sequence) {
    throw ibcErrors.ErrPacketReceived(
      `packet already received, next sequence receive > packet sequence (${unreceived.nextSequenceRecv} > ${packet.sequence})`,
    );
  }
  verifyUnreceived(context, { connection, ordering: channel.ordering }, packet, unreceived);
  return true;
}

/** Like {@link timeOutPacket}, but verifies that the counterparty has closed the channel instead of checking the timeout. */
export function timeOutOnClose(
  context: Context,
  packet: Packet,
  { closed, ...unreceived }: Unreceived & { readonly closed: ClosedProof },
): boolean {
  const channel = channelStore.requireChannel(context, packet.source);
  chargeAuthentication(context, STORE_NAME, channelCapability(packet.source));
  requireCounterparty("destination", packet.destination, channel);
  const connection = requireConnection(context, channelStore.hopOf(channel));
  if (!isCommitted(context, packet)) return false;
  verifyClosed(context, { connection, channel, end: packet.source }, closed);
  if (channel.ordering === Order.ORDER_ORDERED && unreceived.nextSequenceRecv > packet.sequence) {
    // The closing parenthesis is missing in ibc-go's error message, too.
    throw ibcErrors.ErrInvalidPacket(
      `packet already received, next sequence receive > packet sequence (${unreceived.nextSequenceRecv} > ${packet.sequence}`,
    );
  }
  verifyUnreceived(context, { connection, ordering: channel.ordering }, packet, unreceived);
  return true;
}

/** Deletes the commitment of a packet that timed out. A timeout also closes an ordered channel. */
export function executeTimeout(context: Context, packet: Packet): void {
  const channel = channelStore.requireChannel(context, packet.source);
  chargeAuthentication(context, STORE_NAME, channelCapability(packet.source));
  channelStore.packets.commitments.delete(context, sentKey(packet));
  if (channel.ordering === Order.ORDER_ORDERED) {
    const closed = { ...channel, state: State.STATE_CLOSED };
    channelStore.channels.set(context, packet.source, closed);
    events.emitChannelStep(context, "channel_close", packet.source, closed);
  }
  events.emitPacketTimedOut(context, packet, channel);
}

/** Returns the key of a sent packet's commitment. */
function sentKey({ source, sequence }: Packet): channelStore.PacketKey {
  return { ...source, sequence };
}

/** Returns whether a packet has a commitment. Throws channel/13 if the stored commitment belongs to another packet. */
function isCommitted(context: Context, packet: Packet): boolean {
  const commitment = channelStore.packets.commitments.get(context, sentKey(packet));
  if (commitment === undefined) return false;
  const expected = packetCommitment(packet);
  if (equalBytes(commitment, expected)) return true;
  throw ibcErrors.ErrInvalidPacket(
    `packet commitment bytes are not equal: got (${goBytes(commitment)}), expected (${goBytes(expected)})`,
  );
}

/**
 * Verifies that a packet was not received. On an ordered channel, the counterparty's next sequence must not exceed the packet's
 * sequence. On an unordered channel, the counterparty must not store a receipt.
 */
function verifyUnreceived(
  context: Context,
  { connection, ordering }: { readonly connection: ConnectionEnd; readonly ordering: Order },
  { destination, sequence }: Packet,
  { proof, nextSequenceRecv }: Unreceived,
): void {
  if (ordering === Order.ORDER_ORDERED) {
    const path = sequencePath("nextSequenceRecv", destination);
    const proven = { ...proof, path, name: "next sequence receive", isPacket: true };
    verifyRemoteValue(context, connection, proven, uint64BigEndian(nextSequenceRecv));
    return;
  }
  const path = packetPath("receipts", destination, sequence);
  const proven = { ...proof, path, name: "packet receipt absence", isPacket: true };
  verifyRemoteAbsence(context, connection, proven);
}

/** Verifies that the counterparty has closed its end of a channel. Throws `ModuleError`. */
export function verifyClosed(
  context: Context,
  own: { readonly connection: ConnectionEnd; readonly channel: Channel; readonly end: ChannelEndpoint },
  remote: { readonly proof: MessageProof; readonly upgradeSequence: bigint },
): void {
  const { connection, channel, end } = own;
  verifyCounterparty(
    context,
    connection,
    { ...remote.proof, ...channelStore.counterpartyOf(channel) },
    {
      state: State.STATE_CLOSED,
      ordering: channel.ordering,
      counterparty: end,
      version: channel.version,
      upgradeSequence: remote.upgradeSequence,
    },
  );
}

/** Verifies that the counterparty stores this end of a channel. Throws `ModuleError`. */
export function verifyCounterparty(
  context: Context,
  connection: ConnectionEnd,
  remote: MessageProof & ChannelEndpoint,
  expected: Pick<Channel, "state" | "ordering" | "version"> & {
    readonly counterparty: ChannelEndpoint;
    readonly upgradeSequence?: bigint;
  },
): void {
  const { portId, channelId } = expected.counterparty;
  const channel = Channel.encode({
    ...expected,
    counterparty: { portId, channelId },
    connectionHops: [connection.counterparty?.connectionId ?? ""],
    upgradeSequence: expected.upgradeSequence ?? 0n,
  });
  const path = channelPath(remote);
  const proven = { ...remote, path, name: "channel state", isPacket: false };
  verifyRemoteValue(context, connection, proven, channel.finish());
}

/**
 * Verifies the acknowledgement of a sent packet and deletes its commitment. Returns false without changes if the packet has no
 * commitment because it was acknowledged or timed out before. Throws `ModuleError`.
 */
export function acknowledgePacket(
  context: Context,
  packet: Packet,
  { acknowledgement, proof }: { readonly acknowledgement: Uint8Array; readonly proof: MessageProof },
): boolean {
  const channel = channelStore.requireChannel(context, packet.source);
  if (channel.state !== State.STATE_OPEN) {
    throw ibcErrors.ErrInvalidChannelState(
      `packets cannot be acknowledged on channel with state (${enumName(State, channel.state)})`,
    );
  }
  chargeAuthentication(context, STORE_NAME, channelCapability(packet.source));
  requireCounterparty("destination", packet.destination, channel);
  const connection = requireOpenConnection(context, channelStore.hopOf(channel));
  const { destination, sequence } = packet;
  const commitment = channelStore.packets.commitments.get(context, sentKey(packet));
  if (commitment === undefined) return false;
  const expected = packetCommitment(packet);
  if (!equalBytes(commitment, expected)) {
    throw ibcErrors.ErrInvalidPacket(
      `commitment bytes are not equal: got (${goBytes(expected)}), expected (${goBytes(commitment)})`,
    );
  }
  requireCanonicalReply(acknowledgement);
  const path = packetPath("acks", destination, sequence);
  const proven = { ...proof, path, name: "packet acknowledgement", isPacket: true };
  verifyRemoteValue(context, connection, proven, sha256(acknowledgement));
  if (channel.ordering === Order.ORDER_ORDERED) advanceAcknowledged(context, packet);
  channelStore.packets.commitments.delete(context, sentKey(packet));
  events.emitPacketAcknowledged(context, packet, channel);
  return true;
}

function advanceAcknowledged(context: Context, { source, sequence }: Packet): void {
  const next = channelStore.requireSequence(context, "nextSequenceAck", source);
  if (sequence !== next)
    throw ibcErrors.ErrPacketSequenceOutOfOrder(
      `packet sequence ≠ next ack sequence (${sequence} ≠ ${next})`,
    );
  channelStore.sequences.nextSequenceAck.set(context, source, next + 1n);
}
