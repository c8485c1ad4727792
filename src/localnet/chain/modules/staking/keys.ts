import {
  concat,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import { splitNs } from "../../../../platform/base/time.ts";

/** Name of the module and its store. Other chains prove keys in this store, so it uses the SDK's layout. */
export const MODULE_NAME = "staking";

/** Module accounts that hold tokens: one for bonded validators and one for all others. */
export const BONDED_POOL = "bonded_tokens_pool";
export const NOT_BONDED_POOL = "not_bonded_tokens_pool";

// The SDK's prefixes (x/staking/types/keys.go). `|` joins, `lp` puts an address' length before it (one byte).
/** `| lp(operator)`: the power in the last block. */
export const LAST_POWER = Uint8Array.of(0x11);
export const LAST_TOTAL_POWER = Uint8Array.of(0x12);
/** `| lp(operator)`. */
export const VALIDATORS = Uint8Array.of(0x21);
/** `| lp(consensus address)`: the operator. */
export const VALIDATORS_BY_CONSENSUS = Uint8Array.of(0x22);
/** See {@link powerKey}. */
export const VALIDATORS_BY_POWER = Uint8Array.of(0x23);
/** `| lp(delegator) | lp(validator)`. */
export const DELEGATIONS = Uint8Array.of(0x31);
/** `| lp(delegator) | lp(validator)`. */
export const UNBONDINGS = Uint8Array.of(0x32);
/** `| lp(validator) | lp(delegator)`: empty. */
export const UNBONDINGS_BY_VALIDATOR = Uint8Array.of(0x33);
/** `| lp(delegator) | lp(source) | lp(destination)`. */
export const REDELEGATIONS = Uint8Array.of(0x34);
/** `| lp(source) | lp(delegator) | lp(destination)`: empty. */
export const REDELEGATIONS_BY_SOURCE = Uint8Array.of(0x35);
/** `| lp(destination) | lp(delegator) | lp(source)`: empty. */
export const REDELEGATIONS_BY_DESTINATION = Uint8Array.of(0x36);
/** The last unbonding id. */
export const UNBONDING_ID = Uint8Array.of(0x37);
/** `| id`: the key of the operation with this id. */
export const UNBONDING_INDEX = Uint8Array.of(0x38);
/** `| id`: the operation's kind, 8 bytes. */
export const UNBONDING_TYPE = Uint8Array.of(0x39);
/** `| time`: the unbonding delegations that end at that time. */
export const UNBONDING_QUEUE = Uint8Array.of(0x41);
/** `| time`: the redelegations that end at that time. */
export const REDELEGATION_QUEUE = Uint8Array.of(0x42);
/** See {@link validatorQueueKey}. */
export const VALIDATOR_QUEUE = Uint8Array.of(0x43);
/** `| height (8 bytes)`: a block's header and active set. */
export const HISTORICAL_INFO = Uint8Array.of(0x50);
export const PARAMS = Uint8Array.of(0x51);
/** Validator updates from the last block. */
export const VALIDATOR_UPDATES = Uint8Array.of(0x61);
/** `| lp(validator) | delegator`: empty. The delegator has no length prefix here. */
export const DELEGATIONS_BY_VALIDATOR = Uint8Array.of(0x71);

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

/** Returns the exclusive upper bound for queue keys up to and including a time. */
export function queueEnd(prefix: Uint8Array, timeNs: bigint): Uint8Array | undefined {
  return prefixEnd(concat(prefix, timeKey(timeNs)));
}

/** Returns a validator's queue key: `0x43 | length of time (8 bytes) | time | height (8 bytes)`. */
export function validatorQueueKey(timeNs: bigint, height: bigint): Uint8Array {
  const time = timeKey(timeNs);
  return concat(VALIDATOR_QUEUE, uint64BigEndian(BigInt(time.length)), time, uint64BigEndian(height));
}

/** Reads the height from a {@link validatorQueueKey}. */
export function heightOfQueueKey(key: Uint8Array): bigint {
  return readUint64BigEndian(key, key.length - 8);
}
