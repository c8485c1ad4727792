import { Order, type Packet, State } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import {
  MsgAcknowledgement,
  MsgRecvPacket,
  MsgTimeout,
  MsgTimeoutOnClose,
} from "../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { ChannelEnd, ChannelView } from "./ibc-reads.ts";
import type { PacketRecord } from "./packet-finder.ts";
import { channelPath, nextReceivePath, packetPath, type Work } from "./work.ts";

const PACKAGE = "/ibc.core.channel.v1.";

/** Height and time from a chain's header. */
export interface Moment {
  readonly revision: bigint;
  readonly height: bigint;
  readonly timeNs: bigint;
}

/** The packets' destination, as far as its state can be proven. */
export interface Destination {
  readonly end: ChannelView;
  readonly moment: Moment;
  /** Sequence of the next packet that an ordered channel receives. */
  readonly nextReceive: bigint;
}

/** The next step for a packet that its destination has not received. */
export type PacketAction = "receive" | "time-out" | "time-out-on-close" | "wait";

/**
 * Decides what to do with a packet that its destination has not received. `isProvenMissing`: the packet was also missing at the
 * proof height. From the timeout onwards, a destination rejects the packet; proving the timeout requires a header at or after it.
 */
export function packetAction(
  packet: Packet,
  destination: Destination,
  isProvenMissing: boolean,
): PacketAction {
  const { end, moment } = destination;
  if (hasElapsed(packet, moment)) return isProvenMissing ? "time-out" : "wait";
  if (end.state === State.STATE_CLOSED) return isProvenMissing ? "time-out-on-close" : "wait";
  if (end.state !== State.STATE_OPEN) return "wait";
  // The next block is the first one that can include the packet.
  return hasElapsed(packet, { ...moment, height: moment.height + 1n }) ? "wait" : "receive";
}

/** A timeout of 0 means that the packet never times out. */
function hasElapsed(
  { timeoutHeight, timeoutTimestamp }: Packet,
  { revision, height, timeNs }: Moment,
): boolean {
  const { revisionNumber = 0n, revisionHeight = 0n } = timeoutHeight ?? {};
  const isSet = revisionNumber !== 0n || revisionHeight !== 0n;
  const isHeightOver =
    isSet && (revision > revisionNumber || (revision === revisionNumber && height >= revisionHeight));
  return isHeightOver || (timeoutTimestamp !== 0n && timeNs >= timeoutTimestamp);
}

/** The destination receives a packet; the source proves that it sent the packet. */
export function receive(packet: Packet): Work {
  const path = packetPath("commitments", sourceOf(packet), packet.sequence);
  return {
    kind: "receive",
    name: `receive ${nameOf(packet)}`,
    paths: [path],
    message: ({ proofs, height, signer }) => ({
      typeUrl: `${PACKAGE}MsgRecvPacket`,
      value: MsgRecvPacket.encode({
        packet,
        proofCommitment: proofs[0] ?? new Uint8Array(),
        proofHeight: height,
        signer,
      }).finish(),
    }),
  };
}

/** The source receives the acknowledgement; the destination proves that it wrote the acknowledgement. */
export function acknowledge({ packet, acknowledgement }: PacketRecord): Work {
  const path = packetPath("acks", destinationOf(packet), packet.sequence);
  return {
    kind: "acknowledge",
    name: `acknowledge ${nameOf(packet)}`,
    paths: [path],
    message: ({ proofs, height, signer }) => ({
      typeUrl: `${PACKAGE}MsgAcknowledgement`,
      value: MsgAcknowledgement.encode({
        packet,
        acknowledgement,
        proofAcked: proofs[0] ?? new Uint8Array(),
        proofHeight: height,
        signer,
      }).finish(),
    }),
  };
}

/** The source takes a packet back; the destination proves that it did not receive the packet before the timeout. */
export function timeOut(packet: Packet, destination: Destination): Work {
  return {
    kind: "time_out",
    name: `time-out ${nameOf(packet)}`,
    paths: [missingPath(packet, destination)],
    message: ({ proofs, height, signer }) => ({
      typeUrl: `${PACKAGE}MsgTimeout`,
      value: MsgTimeout.encode({
        packet,
        proofUnreceived: proofs[0] ?? new Uint8Array(),
        proofHeight: height,
        nextSequenceRecv: nextReceiveOf(destination),
        signer,
      }).finish(),
    }),
  };
}

/** Like {@link timeOut}, but the destination also proves that it has closed its end. */
export function timeOutOnClose(packet: Packet, destination: Destination): Work {
  return {
    kind: "time_out",
    name: `time-out-on-close ${nameOf(packet)}`,
    paths: [missingPath(packet, destination), channelPath(destination.end)],
    message: ({ proofs, height, signer }) => ({
      typeUrl: `${PACKAGE}MsgTimeoutOnClose`,
      value: MsgTimeoutOnClose.encode({
        packet,
        proofUnreceived: proofs[0] ?? new Uint8Array(),
        proofClose: proofs[1] ?? new Uint8Array(),
        proofHeight: height,
        nextSequenceRecv: nextReceiveOf(destination),
        signer,
        counterpartyUpgradeSequence: 0n,
      }).finish(),
    }),
  };
}

function missingPath(packet: Packet, { end }: Destination): string {
  return end.ordering === Order.ORDER_ORDERED
    ? nextReceivePath(end)
    : packetPath("receipts", end, packet.sequence);
}

/** The message requires a sequence above 0 even for an unordered channel, which has no next sequence. */
function nextReceiveOf({ nextReceive }: Destination): bigint {
  return nextReceive === 0n ? 1n : nextReceive;
}

function sourceOf({ sourcePort, sourceChannel }: Packet): ChannelEnd {
  return { portId: sourcePort, channelId: sourceChannel };
}

function destinationOf({ destinationPort, destinationChannel }: Packet): ChannelEnd {
  return { portId: destinationPort, channelId: destinationChannel };
}

function nameOf({ sourcePort, sourceChannel, sequence }: Packet): string {
  return `${sourcePort}/${sourceChannel}/${sequence}`;
}
