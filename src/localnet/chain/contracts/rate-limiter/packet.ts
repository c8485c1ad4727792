import { toHex, utf8, sha256 } from "../../../../platform/base/bytes.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import { text } from "../messages.ts";
import { uint256, uint64 } from "./serde.ts";

/** The fields of a transfer packet that the limiter reads. */
export interface Packet {
  readonly sourceChannel: string;
  readonly destinationChannel: string;
  /** Denomination in the packet: native, or a full trace such as `transfer/channel-0/uatom`. */
  readonly denom: string;
  readonly amount: bigint;
}

/** The pair to which quotas apply: a channel and a denomination on this chain. */
export interface Path {
  readonly channel: string;
  readonly denom: string;
}

/** Reads `{"packet": …}` from a sudo message. All packet fields except `memo` and `timeout_timestamp` are required. */
export function readPacket(fields: JsonField): Packet {
  const packet = fields.member("packet").required();
  uint64(packet, "sequence");
  for (const name of ["source_port", "destination_port"]) text(packet, name);
  const data = packet.member("data").required();
  for (const name of ["sender", "receiver"]) text(data, name);
  packet.member("timeout_height").required();
  return {
    sourceChannel: text(packet, "source_channel"),
    destinationChannel: text(packet, "destination_channel"),
    denom: text(data, "denom"),
    amount: uint256(data, "amount"),
  };
}

/** Returns the channel and denomination whose quotas apply to a packet that this chain sends or has sent. */
export function sentPath({ sourceChannel, denom }: Packet): Path {
  return { channel: sourceChannel, denom: denom.startsWith("transfer/") ? voucher(denom) : denom };
}

/**
 * Returns the path of a packet that this chain receives. As in the reference contract, the source channel is compared without a
 * trailing slash. Therefore, the denomination `transfer/channel-10/…` over `channel-1` yields an empty denomination, which has no
 * limit.
 */
export function receivedPath({ sourceChannel, destinationChannel, denom }: Packet): Path {
  return { channel: destinationChannel, denom: localDenom(sourceChannel, destinationChannel, denom) };
}

function localDenom(source: string, destination: string, denom: string): string {
  const hop = `transfer/${source}`;
  if (!denom.startsWith(hop)) return voucher(`transfer/${destination}/${denom}`);
  const rest = denom.startsWith(`${hop}/`) ? denom.slice(hop.length + 1) : "";
  return rest.includes("/") ? voucher(rest) : rest;
}

function voucher(trace: string): string {
  return `ibc/${toHex(sha256(utf8(trace))).toUpperCase()}`;
}
