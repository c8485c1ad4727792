import { type ChainEvent, event } from "../../runtime/events.ts";
import { MODULE_NAME } from "./keys.ts";

/** Builds the event of a contract that could not be told of a failed packet (chain-extension-modules.md, "Events"). */
export function badRevert(
  failure: "acknowledgment" | "timeout",
  packet: Uint8Array,
  acknowledgement?: Uint8Array,
): ChainEvent {
  return event("bad_revert", [
    ["module", MODULE_NAME],
    ["failure_type", failure],
    ["packet", textOf(packet)],
    ...(acknowledgement === undefined ? [] : [["acknowledgement", textOf(acknowledgement)] as const]),
  ]);
}

/** Builds the event of a packet that the module refuses. */
export function packetRefused(error: string, reason?: string): ChainEvent {
  return event("ibc-acknowledgement-error", [
    ["error", error],
    ...(reason === undefined ? [] : [["error-context", reason] as const]),
  ]);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
