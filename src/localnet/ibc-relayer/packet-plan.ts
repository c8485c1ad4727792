import { Order, type Packet, State } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { sameEnd } from "./channel-work.ts";
import type { Snapshot } from "./ibc-chain.ts";
import type { ChannelEnd, ChannelView } from "./ibc-reads.ts";
import type { PacketRecord } from "./packet-finder.ts";
import { channelMessage, channelPath, type Moment, nextReceivePath, packetPath, type Work } from "./work.ts";

/** The messages that relay packets in one direction, from a source chain to a destination chain. */
export interface PacketPlan {
  /** Messages for the chain that receives the packets. */
  readonly toDestination: readonly Work[];
  /** Messages for the chain that sent the packets. */
  readonly toSource: readonly Work[];
  /** Number of sent packets that are neither acknowledged nor timed out. */
  readonly pending: number;
  /** Names of the pending packets considered in this cycle, such as `transfer/channel-0/7`, with the lowest sequences per channel. */
  readonly oldest: readonly string[];
  /** Number of pending packets that cannot be relayed, because the node no longer has the block with the packet or acknowledgement. */
  readonly unreadable: number;
}

/** Maximum number of packets per channel in a cycle. Later cycles relay all other packets. */
const PACKETS_PER_CYCLE = 1_000;

/** Plans messages that relay packets from `source` to `destination` on all channels. Rejects with `ClientError` or `IbcRelayerError`. */
export async function planPackets(
  source: Snapshot,
  destination: Snapshot,
  signal: AbortSignal,
): Promise<PacketPlan> {
  const plans = await Promise.all(
    source.proven.flatMap((channel) => {
      const end = destination.proven.find((each) => sameEnd(each, channel.counterparty));
      const isPair = end !== undefined && sameEnd(end.counterparty, channel);
      return isPair ? [planChannelPackets({ source, destination, channel, end }, signal)] : [];
    }),
  );
  return {
    toDestination: plans.flatMap(({ toDestination }) => toDestination),
    toSource: plans.flatMap(({ toSource }) => toSource),
    pending: plans.reduce((sum, { pending }) => sum + pending, 0),
    oldest: plans.flatMap(({ oldest }) => oldest),
    unreadable: plans.reduce((sum, { unreadable }) => sum + unreadable, 0),
  };
}

const NOTHING: PacketPlan = { toDestination: [], toSource: [], pending: 0, oldest: [], unreadable: 0 };

interface ChannelPair {
  readonly source: Snapshot;
  readonly destination: Snapshot;
  readonly channel: ChannelView;
  readonly end: ChannelView;
}

async function planChannelPackets(pair: ChannelPair, signal: AbortSignal): Promise<PacketPlan> {
  const { source, channel } = pair;
  const committed = await source.chain.reads.commitments(channel, source.moment.height - 1n, signal);
  if (committed.length === 0) return NOTHING;
  const part = committed.slice(0, PACKETS_PER_CYCLE);
  const state = await readPacketState(pair, part, signal);
  const [received, missing] = await Promise.all([
    planAcknowledgements(pair, state, signal),
    planMissing(pair, state, signal),
  ]);
  return {
    toDestination: missing.toDestination,
    toSource: [...missing.toSource, ...received.toSource],
    pending: committed.length,
    oldest: part.map((sequence) => `${channel.portId}/${channel.channelId}/${sequence}`),
    unreadable: missing.unreadable + received.unreadable,
  };
}

/** The state of a channel's pending packets on the destination chain. Packets are identified by sequence. */
interface PacketState {
  /** Packets that the destination has not received in its latest state. */
  readonly missing: readonly bigint[];
  /** Packets that the destination had not received at the proof height. */
  readonly provenMissing: ReadonlySet<bigint>;
  /** Packets that the destination had received at the proof height. */
  readonly received: readonly bigint[];
  readonly nextReceive: bigint;
}

async function readPacketState(
  { source, destination, channel, end }: ChannelPair,
  sequences: readonly bigint[],
  signal: AbortSignal,
): Promise<PacketState> {
  const { reads } = destination.chain;
  const at = destination.moment.height - 1n;
  const atEnd = { ...end, sequences };
  // Check the latest state too, because nodes reject redundant messages, and packets may have been relayed since the proof height.
  const [now, provenMissing, open, nextReceive] = await Promise.all([
    reads.unreceived(atEnd, 0n, signal),
    reads.unreceived(atEnd, at, signal),
    source.chain.reads.unacknowledged({ ...channel, sequences }, 0n, signal),
    end.ordering === Order.ORDER_ORDERED ? reads.nextReceive(end, at, signal) : 0n,
  ]);
  return {
    missing: sequences.filter((each) => open.has(each) && now.has(each)),
    provenMissing,
    received: sequences.filter((each) => open.has(each) && !provenMissing.has(each)),
    nextReceive,
  };
}

/** Plans acknowledgements of received packets. Packets that the application has not acknowledged yet are pending, not unreadable. */
async function planAcknowledgements(
  { destination, end }: ChannelPair,
  { received }: PacketState,
  signal: AbortSignal,
): Promise<Pick<PacketPlan, "toSource" | "unreadable">> {
  const { finder, reads } = destination.chain;
  const search = { type: "write_acknowledgement", end, sequences: received } as const;
  const found = await finder.find(search, signal);
  const absent = received.filter((sequence) => !found.has(sequence));
  const at = destination.moment.height - 1n;
  const unreadable = await reads.acknowledged({ ...end, sequences: absent }, at, signal);
  return { toSource: inOrder(received, found, end).map(acknowledge), unreadable: unreadable.size };
}

/** Returns the found packets, in the order of `sequences`. On an ordered channel, stops before the first packet that was not found. */
function inOrder(
  sequences: readonly bigint[],
  found: ReadonlyMap<bigint, PacketRecord>,
  { ordering }: ChannelView,
): readonly PacketRecord[] {
  const gap = ordering === Order.ORDER_ORDERED ? sequences.findIndex((each) => !found.has(each)) : -1;
  const part = gap < 0 ? sequences : sequences.slice(0, gap);
  return part.flatMap((sequence) => found.get(sequence) ?? []);
}

async function planMissing(
  { source, destination, channel, end }: ChannelPair,
  { missing, provenMissing, nextReceive }: PacketState,
  signal: AbortSignal,
): Promise<Omit<PacketPlan, "pending" | "oldest">> {
  const search = { type: "send_packet", end: channel, sequences: missing } as const;
  const found = await source.chain.finder.find(search, signal);
  const at: Destination = { end, moment: destination.moment, nextReceive };
  const toDestination: Work[] = [];
  const toSource: Work[] = [];
  for (const record of inOrder(missing, found, channel)) {
    const isReceived = planOne(record, at, provenMissing, { toDestination, toSource });
    // Stop at a packet that can't be received yet, because an ordered channel receives packets only in order.
    if (!isReceived && channel.ordering === Order.ORDER_ORDERED) break;
  }
  return { toDestination, toSource, unreadable: missing.length - found.size };
}

/** Adds the message that one packet needs to the plan. Returns true if the message delivers the packet. */
function planOne(
  { packet }: PacketRecord,
  destination: Destination,
  provenMissing: ReadonlySet<bigint>,
  { toDestination, toSource }: { readonly toDestination: Work[]; readonly toSource: Work[] },
): boolean {
  switch (packetAction(packet, destination, provenMissing.has(packet.sequence))) {
    case "receive":
      toDestination.push(receive(packet));
      return true;
    case "time-out":
      toSource.push(timeOut(packet, destination));
      return false;
    case "time-out-on-close":
      toSource.push(timeOutOnClose(packet, destination));
      return false;
    case "wait":
      return false;
  }
}

/** The channel end that receives the packets, with its chain's state at the proof height. */
export interface Destination {
  readonly end: ChannelView;
  readonly moment: Moment;
  /** Sequence of the next packet to receive on an ordered channel. */
  readonly nextReceive: bigint;
}

/** Action for a packet that its destination has not received: relay the packet, prove a timeout, or wait for the next cycle. */
export type PacketAction = "receive" | "time-out" | "time-out-on-close" | "wait";

/**
 * Returns the action for a packet that its destination has not received. `isProvenMissing` is true if the packet was also missing
 * at the proof height. Once the timeout has passed, the destination rejects the packet. To time out the packet, the header must be
 * at or after the timeout.
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
  // Compare the timeout with the next block's height, because the next block is the first that can include the packet.
  return hasElapsed(packet, { ...moment, height: moment.height + 1n }) ? "wait" : "receive";
}

/** Returns true if a block has reached the packet's timeout height or timeout time. A value of 0 means no timeout. */
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

/** Returns the work that delivers a packet, with the source's proof that it sent the packet. */
export function receive(packet: Packet): Work {
  return {
    kind: "receive",
    name: `receive ${nameOf(packet)}`,
    paths: [packetPath("commitments", sourceOf(packet), packet.sequence)],
    message: channelMessage("MsgRecvPacket", wire.MsgRecvPacket, ({ first, at }) => ({
      packet,
      proofCommitment: first,
      ...at,
    })),
  };
}

/** Returns the work that delivers an acknowledgement, with the destination's proof that it wrote the acknowledgement. */
export function acknowledge({ packet, acknowledgement }: PacketRecord): Work {
  return {
    kind: "acknowledge",
    name: `acknowledge ${nameOf(packet)}`,
    paths: [packetPath("acks", destinationOf(packet), packet.sequence)],
    message: channelMessage("MsgAcknowledgement", wire.MsgAcknowledgement, ({ first, at }) => ({
      packet,
      acknowledgement,
      proofAcked: first,
      ...at,
    })),
  };
}

/**
 * Returns the work that times out a packet. The work's message proves that the destination did not receive the packet before the
 * timeout.
 */
export function timeOut(packet: Packet, destination: Destination): Work {
  return {
    kind: "time_out",
    name: `time-out ${nameOf(packet)}`,
    paths: [missingPath(packet, destination)],
    message: channelMessage("MsgTimeout", wire.MsgTimeout, ({ first, at }) => ({
      packet,
      proofUnreceived: first,
      nextSequenceRecv: nextReceiveOf(destination),
      ...at,
    })),
  };
}

/** Like {@link timeOut}, but with an additional proof that the destination's channel end is closed. */
export function timeOutOnClose(packet: Packet, destination: Destination): Work {
  return {
    kind: "time_out",
    name: `time-out-on-close ${nameOf(packet)}`,
    paths: [missingPath(packet, destination), channelPath(destination.end)],
    message: channelMessage("MsgTimeoutOnClose", wire.MsgTimeoutOnClose, ({ first, second, at }) => ({
      packet,
      proofUnreceived: first,
      proofClose: second,
      nextSequenceRecv: nextReceiveOf(destination),
      ...at,
      counterpartyUpgradeSequence: 0n,
    })),
  };
}

function missingPath(packet: Packet, { end }: Destination): string {
  return end.ordering === Order.ORDER_ORDERED
    ? nextReceivePath(end)
    : packetPath("receipts", end, packet.sequence);
}

/**
 * Returns the sequence of the next packet to receive on an ordered channel. For an unordered channel, returns 1, because messages
 * require a sequence above 0.
 */
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
