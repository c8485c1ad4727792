import { toBase64 } from "../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import type { Packet } from "../../../src/localnet/chain/modules/ibc/host/packet.ts";
import {
  createLinkedChain,
  type LinkedChain,
  type LinkedChainOptions,
  type LinkedMessage,
} from "./linked-chain.ts";

/** Two chains with clients of each other. */
export interface LinkedPair {
  readonly a: LinkedChain;
  readonly b: LinkedChain;
}

const VERSIONS = [{ identifier: "1", features: ["ORDER_ORDERED", "ORDER_UNORDERED"] }];
const PREFIX = { key_prefix: "aWJj" };
const CLIENT = "07-tendermint-0";

/** Runs a transaction that must succeed. */
export function succeed(chain: LinkedChain, ...messages: readonly LinkedMessage[]): void {
  const { code, log } = chain.deliver(...messages);
  if (code !== 0) throw new Error(`${chain.chainId}: ${log}`);
}

/** Starts two chains, each with a client of the other. */
export function createPair(a: LinkedChainOptions, b: LinkedChainOptions): LinkedPair {
  const pair = { a: createLinkedChain(a), b: createLinkedChain(b) };
  succeed(pair.a, pair.b.createClientFor(pair.a));
  succeed(pair.b, pair.a.createClientFor(pair.b));
  nextBlocks(pair);
  return pair;
}

/** Commits a block on both chains. */
function nextBlocks({ a, b }: LinkedPair, seconds?: bigint): void {
  a.block(seconds);
  b.block(seconds);
}

/** Commits a block on the chain and updates its client on the other chain, so that the other can verify its state. */
export function carryHeader(from: LinkedChain, to: LinkedChain): void {
  from.block();
  succeed(to, from.updateFor(to, CLIENT));
}

/** Opens a connection, started by `a`. The id is the same at both ends. */
export function openConnection({ a, b }: LinkedPair, id = "connection-0"): void {
  const counterparty = { client_id: CLIENT, connection_id: "", prefix: PREFIX };
  succeed(a, of("connection", "MsgConnectionOpenInit", a, { client_id: CLIENT, counterparty }));
  carryHeader(a, b);
  succeed(b, connectionTry({ a, b }, id));
  carryHeader(b, a);
  succeed(a, connectionAck({ a, b }, id));
  carryHeader(a, b);
  succeed(b, connectionConfirm({ a, b }, id));
  carryHeader(b, a);
}

/** The second step of {@link openConnection}, with a proof of the last commit of `a`. */
export function connectionTry({ a, b }: LinkedPair, id: string, changes: JsonObject = {}): LinkedMessage {
  const { proof, height } = a.prove(`connections/${id}`);
  return of("connection", "MsgConnectionOpenTry", b, {
    client_id: CLIENT,
    counterparty: { client_id: CLIENT, connection_id: id, prefix: PREFIX },
    counterparty_versions: VERSIONS,
    proof_init: proof,
    proof_height: height,
    ...changes,
  });
}

/** The third step of {@link openConnection}. */
export function connectionAck({ a, b }: LinkedPair, id: string, changes: JsonObject = {}): LinkedMessage {
  const { proof, height } = b.prove(`connections/${id}`);
  return of("connection", "MsgConnectionOpenAck", a, {
    connection_id: id,
    counterparty_connection_id: id,
    version: VERSIONS[0] ?? null,
    proof_try: proof,
    proof_height: height,
    ...changes,
  });
}

/** The fourth step of {@link openConnection}. */
export function connectionConfirm({ a, b }: LinkedPair, id: string, changes: JsonObject = {}): LinkedMessage {
  const { proof, height } = a.prove(`connections/${id}`);
  return of("connection", "MsgConnectionOpenConfirm", b, {
    connection_id: id,
    proof_ack: proof,
    proof_height: height,
    ...changes,
  });
}

/** A channel to open. */
export interface ChannelRequest {
  /** Of the first chain. */
  readonly port: string;
  /** Of the second chain, if it is another one. */
  readonly otherPort?: string;
  readonly id: string;
  readonly ordering: string;
  readonly version: string;
}

/** Opens a channel, started by `a`. The id is the same at both ends. */
export function openChannel(
  { a, b }: LinkedPair,
  { port, otherPort = port, id, ordering, version }: ChannelRequest,
): void {
  const path = `channelEnds/ports/${port}/channels/${id}`;
  const otherPath = `channelEnds/ports/${otherPort}/channels/${id}`;
  const end = { port_id: port, channel_id: id };
  const otherEnd = { port_id: otherPort, channel_id: id };
  const channel = { ordering, connection_hops: ["connection-0"], version };
  const opening = { ...channel, state: "STATE_INIT", counterparty: { port_id: otherPort, channel_id: "" } };
  succeed(a, of("channel", "MsgChannelOpenInit", a, { port_id: port, channel: opening }));
  carryHeader(a, b);
  const init = a.prove(path);
  const accepting = { ...channel, state: "STATE_TRYOPEN", counterparty: end };
  succeed(
    b,
    of("channel", "MsgChannelOpenTry", b, {
      port_id: otherPort,
      channel: accepting,
      counterparty_version: version,
      proof_init: init.proof,
      proof_height: init.height,
    }),
  );
  carryHeader(b, a);
  const tried = b.prove(otherPath);
  succeed(
    a,
    of("channel", "MsgChannelOpenAck", a, {
      ...end,
      counterparty_channel_id: id,
      counterparty_version: version,
      proof_try: tried.proof,
      proof_height: tried.height,
    }),
  );
  carryHeader(a, b);
  const opened = a.prove(path);
  succeed(
    b,
    of("channel", "MsgChannelOpenConfirm", b, {
      ...otherEnd,
      proof_ack: opened.proof,
      proof_height: opened.height,
    }),
  );
  carryHeader(b, a);
}

/** Creates a message of `ibc.core.connection.v1` or `ibc.core.channel.v1`, signed on `chain`. */
export function of(
  part: "connection" | "channel",
  name: string,
  chain: LinkedChain,
  fields: JsonObject,
): LinkedMessage {
  return { "@type": `/ibc.core.${part}.v1.${name}`, ...fields, signer: chain.signer };
}

/** Prints a packet as the gateway does. */
export function packetJson({ sequence, source, destination, data, timeout }: Packet): JsonObject {
  const { revisionNumber, revisionHeight } = timeout.height;
  return {
    sequence: sequence.toString(),
    source_port: source.portId,
    source_channel: source.channelId,
    destination_port: destination.portId,
    destination_channel: destination.channelId,
    data: toBase64(data),
    timeout_height: { revision_number: `${revisionNumber}`, revision_height: `${revisionHeight}` },
    timeout_timestamp: timeout.timestamp.toString(),
  };
}

/** Creates MsgRecvPacket with a proof of the last commit of the sender. */
export function receiveMessage(from: LinkedChain, to: LinkedChain, packet: Packet): LinkedMessage {
  const { proof, height } = from.prove(entryPath("commitments", packet.source, packet.sequence));
  const fields = { packet: packetJson(packet), proof_commitment: proof, proof_height: height };
  return of("channel", "MsgRecvPacket", to, fields);
}

/** Creates MsgAcknowledgement with a proof of the last commit of the receiver. */
export function acknowledgeMessage(
  from: LinkedChain,
  to: LinkedChain,
  packet: Packet,
  acknowledgement: Uint8Array,
): LinkedMessage {
  const { proof, height } = from.prove(entryPath("acks", packet.destination, packet.sequence));
  return of("channel", "MsgAcknowledgement", to, {
    packet: packetJson(packet),
    acknowledgement: toBase64(acknowledgement),
    proof_acked: proof,
    proof_height: height,
  });
}

/** Creates MsgTimeout for an unordered channel, or for an ordered one with the number of the next packet. */
export function timeoutMessage(
  from: LinkedChain,
  to: LinkedChain,
  packet: Packet,
  nextOrdered?: bigint,
): LinkedMessage {
  const { portId, channelId } = packet.destination;
  const path =
    nextOrdered === undefined
      ? entryPath("receipts", packet.destination, packet.sequence)
      : `nextSequenceRecv/ports/${portId}/channels/${channelId}`;
  const { proof, height } = from.prove(path);
  return of("channel", "MsgTimeout", to, {
    packet: packetJson(packet),
    proof_unreceived: proof,
    proof_height: height,
    next_sequence_recv: (nextOrdered ?? packet.sequence).toString(),
  });
}

/** Returns the path of the entry of a packet. */
export function entryPath(name: string, end: Packet["source"], sequence: bigint): string {
  return `${name}/ports/${end.portId}/channels/${end.channelId}/sequences/${sequence}`;
}
