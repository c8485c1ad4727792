import { DEC18_ONE, type Dec18, parseDec18 } from "../../platform/base/decimal.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { SigningInfo, SlashingParams } from "./standing-readings.ts";

/** The path of the slashing module. */
export const SLASHING = "/cosmos/slashing/v1beta1";
/** Longest possible window: one block per second for 30 years. */
const MAX_WINDOW = 1_000_000_000n;

/** Reads `/cosmos/slashing/v1beta1/params`. */
export function toSlashingParams(root: JsonField): SlashingParams {
  const params = root.member("params").required();
  const window = params.member("signed_blocks_window").required();
  const windowBlocks = window.asInt64();
  if (windowBlocks <= 0n || windowBlocks > MAX_WINDOW)
    throw window.error(window.path, `a number of blocks from 1 to ${MAX_WINDOW}`);
  const least = params.member("min_signed_per_window").required();
  const minSigned = asFraction(least);
  if (minSigned > DEC18_ONE) throw least.error(least.path, "a share from 0 to 1");
  return {
    windowBlocks,
    minSigned,
    jailMs: asDurationMs(params.member("downtime_jail_duration").required()),
  };
}

/** Reads a signing info and checks that it is for the given address. */
export function toSigningInfo(field: JsonField, address?: string): SigningInfo {
  const own = field.member("address");
  if (address !== undefined && own.asText() !== address) throw own.error(own.path, "the requested address");
  return {
    startHeight: asCount(field.member("start_height")),
    indexOffset: asCount(field.member("index_offset")),
    missedBlocks: asCount(field.member("missed_blocks_counter")),
    jailedUntilMs: Number(field.member("jailed_until").required().asTimeNs() / NS_PER_MS),
    isTombstoned: field.member("tombstoned").asBoolean(),
  };
}

/** Returns a number of blocks or a height. */
export function asCount(field: JsonField): bigint {
  const count = field.asInt64();
  if (count < 0n) throw field.error(field.path, "zero or more");
  return count;
}

/** Returns a decimal that is not negative. */
export function asFraction(field: JsonField): Dec18 {
  try {
    const value = parseDec18(field.asText());
    if (value >= 0n) return value;
  } catch {
    // The error below states the expected value.
  }
  throw field.error(field.path, "a non-negative decimal");
}

/** Parses "600s" or "0.5s". */
function asDurationMs(field: JsonField): number {
  const match = /^(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(field.asText());
  if (match === null) throw field.error(field.path, 'a duration, e.g. "600s"');
  return Number(match[1]) * 1000 + Number((match[2] ?? "0").padEnd(3, "0").slice(0, 3));
}
