import { concat, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import { splitNs } from "../../../../platform/base/time.ts";

/** Name of the module and its store. Other chains prove keys in this store, so it uses the SDK's layout. */
export const MODULE_NAME = "staking";

/** Module accounts that hold tokens: one for bonded validators, the other for all other validators. */
export const BONDED_POOL = "bonded_tokens_pool";
export const NOT_BONDED_POOL = "not_bonded_tokens_pool";

// The SDK's prefixes (x/staking/types/keys.go) that several functions use. `|` joins, `lp` puts an address' length before it (one byte).
/** `| lp(operator)`. */
export const VALIDATORS = Uint8Array.of(0x21);
/** See {@link powerKey}. */
export const VALIDATORS_BY_POWER = Uint8Array.of(0x23);
/** `| lp(delegator) | lp(validator)`. */
export const UNBONDINGS = Uint8Array.of(0x32);
/** `| lp(delegator) | lp(source) | lp(destination)`. */
export const REDELEGATIONS = Uint8Array.of(0x34);
/** See {@link validatorQueueKey}. */
export const VALIDATOR_QUEUE = Uint8Array.of(0x43);

/** Returns a validator's key in the power order: `0x23 | power (8 bytes) | length | inverted operator`. */
export function powerKey(power: bigint, operator: Uint8Array): Uint8Array {
  const inverted = operator.map((byte) => byte ^ 0xff);
  return concat(VALIDATORS_BY_POWER, uint64BigEndian(power), Uint8Array.of(operator.length), inverted);
}

/** Formats a time as sortable text, like the SDK's `FormatTimeBytes`: "2026-11-21T21:15:34.231472455". */
export function timeKey(timeNs: bigint): Uint8Array {
  const { seconds, nanos } = splitNs(timeNs);
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return utf8(`${whole}.${nanos.toString().padStart(9, "0")}`);
}

/** Returns a validator's queue key: `0x43 | length of time (8 bytes) | time | height (8 bytes)`. */
export function validatorQueueKey(timeNs: bigint, height: bigint): Uint8Array {
  const time = timeKey(timeNs);
  return concat(VALIDATOR_QUEUE, uint64BigEndian(BigInt(time.length)), time, uint64BigEndian(height));
}
