import { type Channel, Order } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { toBase64, utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { enumName } from "../../../../platform/base/text.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { isZeroHeight } from "../ibc/host/height.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";

// The JSON of channels and packets that a contract gets, as wasmvm 2.1 writes it.

/** A channel as contracts see it. */
export interface ContractChannel extends ChannelEndpoint {
  readonly counterparty: ChannelEndpoint;
  readonly ordering: Order;
  readonly version: string;
  readonly connectionId: string;
}

/** Converts a stored channel to the format that contracts see. */
export function toContractChannel(
  { portId, channelId }: ChannelEndpoint,
  { counterparty, ordering, version, connectionHops }: Channel,
): ContractChannel {
  return {
    portId,
    channelId,
    counterparty: { portId: counterparty?.portId ?? "", channelId: counterparty?.channelId ?? "" },
    ordering,
    version,
    connectionId: connectionHops[0] ?? "",
  };
}

/** Prints a channel as wasmvm does. */
export function printChannel(channel: ContractChannel): string {
  return printGoObject([
    ["endpoint", printEnd(channel)],
    ["counterparty_endpoint", printEnd(channel.counterparty)],
    ["order", printGoString(enumName(Order, channel.ordering))],
    ["version", printGoString(channel.version)],
    ["connection_id", printGoString(channel.connectionId)],
  ]);
}

/** Prints one end of a channel. */
function printEnd({ portId, channelId }: ChannelEndpoint): string {
  return printGoObject([
    ["port_id", printGoString(portId)],
    ["channel_id", printGoString(channelId)],
  ]);
}

/** Additional members of a message. */
type Members = readonly (readonly [name: string, json: string])[];

/** Prints the message for a channel step. */
export function printStep(step: string, channel: ContractChannel, more: Members = []): Uint8Array {
  return utf8(printGoObject([[step, printGoObject([["channel", printChannel(channel)], ...more])]]));
}

/** Prints the message for a packet that was received or timed out. */
export function printRelayed(packet: RelayedPacket, bech32Prefix: string): Uint8Array {
  return utf8(printGoObject([["packet", printPacket(packet)], relayerOf(packet, bech32Prefix)]));
}

/** Prints the message for an acknowledged packet. */
export function printAcknowledged(
  packet: RelayedPacket,
  acknowledgement: Uint8Array,
  bech32Prefix: string,
): Uint8Array {
  return utf8(
    printGoObject([
      ["acknowledgement", printGoObject([["data", `"${toBase64(acknowledgement)}"`]])],
      ["original_packet", printPacket(packet)],
      relayerOf(packet, bech32Prefix),
    ]),
  );
}

function relayerOf({ relayer }: RelayedPacket, bech32Prefix: string): readonly [name: string, json: string] {
  return ["relayer", printGoString(formatAddress(bech32Prefix, relayer))];
}

/** Prints a packet as wasmvm does, omitting an unset timeout. */
function printPacket({ data, source, destination, sequence, timeout }: RelayedPacket): string {
  const { height, timestamp } = timeout;
  const block = printGoObject([
    ["revision", height.revisionNumber.toString()],
    ["height", height.revisionHeight.toString()],
  ]);
  return printGoObject([
    ["data", `"${toBase64(data)}"`],
    ["src", printEnd(source)],
    ["dest", printEnd(destination)],
    ["sequence", sequence.toString()],
    [
      "timeout",
      printGoObject([
        ["block", isZeroHeight(height) ? "null" : block],
        ...(timestamp === 0n ? [] : [["timestamp", `"${timestamp}"`] as const]),
      ]),
    ],
  ]);
}
