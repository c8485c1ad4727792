import { fromHex } from "../../platform/base/bytes.ts";
import type { Packet } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";

/** An event as CometBFT's RPC returns it. */
export interface RpcEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** A packet that a chain sent, or that it received and acknowledged. */
export interface PacketRecord {
  readonly packet: Packet;
  /** Empty for a packet that was sent. */
  readonly acknowledgement: Uint8Array;
}

/** Types of the events that contain a whole packet. */
export type PacketEventType = "send_packet" | "write_acknowledgement";

/** Reads the packets of the events of one type. Events that are not complete are left out: contracts can emit any event. */
export function readPackets(events: readonly RpcEvent[], type: PacketEventType): readonly PacketRecord[] {
  return events.filter((event) => event.type === type).flatMap((event) => recordOf(event, type) ?? []);
}

function recordOf({ attributes }: RpcEvent, type: PacketEventType): PacketRecord | undefined {
  const values = new Map(attributes.map(({ key, value }) => [key, value]));
  const text = (key: string): string => values.get(`packet_${key}`) ?? "";
  const [, revision, height] = /^(\d{1,20})-(\d{1,20})$/.exec(text("timeout_height")) ?? [];
  const sequence = numberOf(text("sequence"));
  const timeoutTimestamp = numberOf(text("timeout_timestamp"));
  const data = bytesOf(text("data_hex"));
  const acknowledgement = type === "send_packet" ? new Uint8Array() : bytesOf(text("ack_hex"));
  if (revision === undefined || height === undefined || sequence === undefined) return undefined;
  if (timeoutTimestamp === undefined || data === undefined || acknowledgement === undefined) return undefined;
  const packet = {
    sequence,
    sourcePort: text("src_port"),
    sourceChannel: text("src_channel"),
    destinationPort: text("dst_port"),
    destinationChannel: text("dst_channel"),
    data,
    timeoutHeight: { revisionNumber: BigInt(revision), revisionHeight: BigInt(height) },
    timeoutTimestamp,
  };
  return { packet, acknowledgement };
}

function numberOf(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

function bytesOf(hex: string): Uint8Array | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(hex) ? fromHex(hex) : undefined;
}
