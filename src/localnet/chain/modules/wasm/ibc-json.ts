import { type Channel, Order } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { toBase64, utf8 } from "../../../../platform/base/bytes.ts";
import { printGoJson, printGoObject } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { enumName } from "../../../../platform/base/text.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { isZeroHeight } from "../ibc/host/height.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";

// The channel and packet JSON that contracts receive, as written by wasmvm 2.1.

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
  return printGoJson({
    endpoint: endOf(channel),
    counterparty_endpoint: endOf(channel.counterparty),
    order: enumName(Order, channel.ordering),
    version: channel.version,
    connection_id: channel.connectionId,
  });
}

function endOf({ portId, channelId }: ChannelEndpoint): JsonObject {
  return { port_id: portId, channel_id: channelId };
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
      ["acknowledgement", printGoJson({ data: toBase64(acknowledgement) })],
      ["original_packet", printPacket(packet)],
      relayerOf(packet, bech32Prefix),
    ]),
  );
}

function relayerOf({ relayer }: RelayedPacket, bech32Prefix: string): readonly [name: string, json: string] {
  return ["relayer", printGoJson(formatAddress(bech32Prefix, relayer))];
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
    ["src", printGoJson(endOf(source))],
    ["dest", printGoJson(endOf(destination))],
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
