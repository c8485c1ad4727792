import { toBase64 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import type { Packet } from "../ibc/channel/packet.ts";
import { printGoHeight } from "../ibc/host/height.ts";

/** What became of a packet that a contract sent. */
export type PacketOutcome =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string }
  | { readonly kind: "timeout" };

/** Builds the sudo message `response`, `error` or `timeout`: compact JSON as Go prints it, 64-bit numbers in full. */
export function packetCallback(packet: Packet, outcome: PacketOutcome): string {
  const request = ["request", packetJson(packet)] as const;
  switch (outcome.kind) {
    case "result":
      return callback("response", [request, ["data", bytesJson(outcome.result)]]);
    case "error":
      return callback("error", [request, ["details", printGoString(outcome.error)]]);
    case "timeout":
      return callback("timeout", [request]);
  }
}

function callback(name: string, members: readonly (readonly [name: string, json: string])[]): string {
  return printGoObject([[name, printGoObject(members)]]);
}

/** Prints a packet. Its empty members are left out, except the height. */
function packetJson({ sequence, source, destination, data, timeout }: Packet): string {
  const members = [
    ["sequence", numberJson(sequence)],
    ["source_port", textJson(source.portId)],
    ["source_channel", textJson(source.channelId)],
    ["destination_port", textJson(destination.portId)],
    ["destination_channel", textJson(destination.channelId)],
    ["data", data.length === 0 ? "" : bytesJson(data)],
    ["timeout_height", printGoHeight(timeout.height)],
    ["timeout_timestamp", numberJson(timeout.timestamp)],
  ] as const;
  return printGoObject(members.filter(([, json]) => json !== ""));
}

function numberJson(value: bigint): string {
  return value === 0n ? "" : value.toString();
}

function textJson(text: string): string {
  return text === "" ? "" : printGoString(text);
}

function bytesJson(bytes: Uint8Array): string {
  return `"${toBase64(bytes)}"`;
}
