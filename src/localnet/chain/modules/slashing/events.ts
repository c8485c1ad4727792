import { type ChainEvent, event } from "../../runtime/events.ts";

/** Creates `liveness`: a validator missed a block. Addresses are bech32. */
export function liveness(address: string, missed: bigint, height: bigint): ChainEvent {
  return event("liveness", [
    ["address", address],
    ["missed_blocks", missed.toString()],
    ["height", height.toString()],
  ]);
}

/** Creates `slash`. For downtime it also names the jailed validator; for a double sign {@link jailed} follows. */
export function slashed(slash: {
  readonly address: string;
  readonly power: bigint;
  readonly reason: "missing_signature" | "double_sign";
  readonly burned: bigint;
  readonly jailed?: string;
}): ChainEvent {
  return event("slash", [
    ["address", slash.address],
    ["power", slash.power.toString()],
    ["reason", slash.reason],
    ...(slash.jailed === undefined ? [] : [["jailed", slash.jailed] as const]),
    ["burned_coins", slash.burned.toString()],
  ]);
}

/** Creates `slash` with the jailed validator only. */
export function jailed(address: string): ChainEvent {
  return event("slash", [["jailed", address]]);
}
