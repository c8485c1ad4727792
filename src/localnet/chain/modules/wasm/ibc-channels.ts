import { BinaryWriter } from "@bufbuild/protobuf/wire";
import * as wireChannel from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { utf8, toBase64 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString, printGoJson } from "../../../../platform/base/go-json.ts";
import { parseAddress, formatAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import type { OutgoingPacket, RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { channelCapability, chargeCapability, chargePort } from "../ibc/host/capability.ts";
import { ErrChannelCapabilityNotFound } from "../ibc/host/errors.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";
import type { CodeReport } from "./code-store.ts";
import type { ContractMessage } from "./contract.ts";
import type { GoField } from "./go-field.ts";
import { contracts } from "./keeper.ts";
import { ErrEmpty, ErrUnsupportedForContract, MODULE_NAME, PORT_PREFIX, portOf } from "./keys.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { enumName } from "../../../../platform/base/text.ts";
import { isZeroHeight } from "../ibc/host/height.ts";

/** Methods of the `ibc` module that contracts use. */
export interface ContractChannels {
  /** Returns a channel, or undefined for an unknown channel. */
  readonly channel: (context: Context, end: ChannelEndpoint) => wireChannel.Channel | undefined;
  /** Returns the channels of all ports that start with `prefix`, in path order. */
  readonly channelsOfPorts: (context: Context, prefix: string) => readonly wireChannel.IdentifiedChannel[];
  /** Sends a packet and returns its sequence. Throws `ModuleError`. */
  readonly sendPacket: (context: Context, packet: OutgoingPacket) => bigint;
}

/** Returns the contract that is bound to a port, or undefined if no contract is bound. Consumes no gas. */
export function contractOfPort(context: Context, bech32Prefix: string, portId: string): string | undefined {
  if (!portId.startsWith(PORT_PREFIX)) return undefined;
  const address = portId.slice(PORT_PREFIX.length);
  try {
    const info = contracts.get(context.withGas(createGasMeter()), parseAddress(bech32Prefix, address));
    return info?.ibcPortId === portId ? address : undefined;
  } catch {
    return undefined;
  }
}

/** Binds a contract's port and returns the port's name, or returns "" if the contract's code has no IBC entry points. */
export function bindPort(context: Context, address: string, { hasIbcEntryPoints }: CodeReport): string {
  if (!hasIbcEntryPoints) return "";
  const portId = portOf(address);
  chargePort(context, MODULE_NAME, portId);
  return portId;
}

/**
 * Runs a contract's query for its port or for open channels. Returns undefined for unknown queries. If a query does not name a
 * port, the contract's own port is used.
 */
export function queryChannels(
  context: Context,
  contract: Uint8Array,
  body: GoField,
  channels: ContractChannels,
): Uint8Array | undefined {
  const ownPort = (): string => contracts.get(context, contract)?.ibcPortId ?? "";
  const portOfRequest = (request: GoField): string => {
    const wanted = request.member("port_id").text();
    return wanted === "" ? ownPort() : wanted;
  };
  const response = body.variant({
    port_id: () => printGoObject([["port_id", printGoString(ownPort())]]),
    list_channels: (request) => listChannels(context, portOfRequest(request), channels),
    channel: (request) => {
      const end = { portId: portOfRequest(request), channelId: request.member("channel_id").text() };
      return oneChannel(context, end, channels);
    },
  });
  return response === undefined ? undefined : utf8(response);
}

function listChannels(context: Context, portId: string, channels: ContractChannels): string {
  const all = portId === "" ? [] : channels.channelsOfPorts(context, portId);
  const open = all.filter(({ state }) => state === wireChannel.State.STATE_OPEN);
  const printed = open.map((channel) => printChannel(toContractChannel(channel, channel)));
  return printGoObject([["channels", `[${printed.join(",")}]`]]);
}

function oneChannel(context: Context, end: ChannelEndpoint, channels: ContractChannels): string {
  const channel = channels.channel(context, end);
  if (channel?.state !== wireChannel.State.STATE_OPEN) return "{}";
  return printGoObject([["channel", printChannel(toContractChannel(end, channel))]]);
}

/** Protobuf tag for the field `sequence` in `MsgIBCSendResponse`: field number 1, a varint. */
const SEQUENCE_TAG = 8;

/** Sends a packet from a contract's port (`ibc.send_packet`). Returns the encoded `MsgIBCSendResponse`. Throws `ModuleError`. */
export function sendContractPacket(
  context: Context,
  contract: Uint8Array,
  { channelId, data, timeout }: Extract<ContractMessage, { kind: "send_packet" }>,
  channels: ContractChannels,
): Uint8Array {
  const portId = contracts.get(context.withGas(createGasMeter()), contract)?.ibcPortId ?? "";
  if (portId === "") throw ErrUnsupportedForContract("ibc not supported");
  if (channelId === "") throw ErrEmpty("ibc channel");
  const source = { portId, channelId };
  const exists = channels.channel(context.withGas(createGasMeter()), source) !== undefined;
  chargeCapability(context, MODULE_NAME, channelCapability(source), exists);
  if (!exists) throw ErrChannelCapabilityNotFound("module does not own channel capability");
  const sequence = wrapErrors("channel", () => channels.sendPacket(context, { source, timeout, data }));
  return new BinaryWriter().uint32(SEQUENCE_TAG).uint64(sequence).finish();
}

// The following functions print channels and packets as JSON in wasmvm 2.1's format.

/** The fields of a channel that its contract receives in IBC calls and query results. */
export interface ContractChannel extends ChannelEndpoint {
  readonly counterparty: ChannelEndpoint;
  readonly ordering: wireChannel.Order;
  readonly version: string;
  readonly connectionId: string;
}

/** Converts a stored channel to the format that contracts receive. */
export function toContractChannel(
  { portId, channelId }: ChannelEndpoint,
  { counterparty, ordering, version, connectionHops }: wireChannel.Channel,
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

/** Prints a channel as the JSON that wasmvm passes to contracts. */
function printChannel(channel: ContractChannel): string {
  return printGoJson({
    endpoint: endOf(channel),
    counterparty_endpoint: endOf(channel.counterparty),
    order: enumName(wireChannel.Order, channel.ordering),
    version: channel.version,
    connection_id: channel.connectionId,
  });
}

function endOf({ portId, channelId }: ChannelEndpoint): JsonObject {
  return { port_id: portId, channel_id: channelId };
}

/** Additional JSON members of a contract's message. */
type Members = readonly (readonly [name: string, json: string])[];

/** Prints a contract's message for a channel handshake step. */
export function printStep(step: string, channel: ContractChannel, more: Members = []): Uint8Array {
  return utf8(printGoObject([[step, printGoObject([["channel", printChannel(channel)], ...more])]]));
}

/** Prints the message for a packet that was received or timed out. */
export function printRelayed(packet: RelayedPacket, bech32Prefix: string): Uint8Array {
  return utf8(printGoObject([["packet", printPacket(packet)], relayerOf(packet, bech32Prefix)]));
}

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

/** Prints a packet in wasmvm's format. A timeout that is not set is omitted. */
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
