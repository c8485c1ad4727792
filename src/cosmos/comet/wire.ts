import { concat, utf8 } from "../../platform/base/bytes.ts";
import { splitNs } from "../../platform/base/time.ts";

/*
 * Protobuf encoding of what CometBFT hashes and signs, written by hand. These bytes must be exact and must not depend
 * on how a code generator treats default values. A field function returns an empty array for the default value.
 */

const EMPTY = new Uint8Array(0);

/** Encodes an unsigned varint. A negative number is encoded as 64-bit two's complement. */
function varint(value: bigint): Uint8Array {
  const small = value >= 0n && value <= MAX_SMALL;
  return small ? smallVarint(Number(value)) : largeVarint(BigInt.asUintN(64, value));
}

/** Up to this value, numbers are used. They are many times faster than bigints. */
const MAX_SMALL = 0x7fff_ffffn;

function smallVarint(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function largeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** Encodes a field of type int32, int64, uint32, uint64 or enum. */
export function varintField(field: number, value: bigint): Uint8Array {
  return value === 0n ? EMPTY : concat(tag(field, 0), varint(value));
}

/** Encodes a field of type sfixed64. */
export function fixed64Field(field: number, value: bigint): Uint8Array {
  if (value === 0n) return EMPTY;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return concat(tag(field, 1), bytes);
}

/** Encodes a field of type bytes. */
export function bytesField(field: number, value: Uint8Array): Uint8Array {
  return value.length === 0 ? EMPTY : messageField(field, value);
}

/** Encodes a field of type string. */
export function stringField(field: number, value: string): Uint8Array {
  return bytesField(field, utf8(value));
}

/** Encodes a message field, even if the message is empty. */
export function messageField(field: number, message: Uint8Array): Uint8Array {
  return concat(tag(field, 2), lengthPrefixed(message));
}

/** Returns the length of a message as a varint, followed by the message. */
export function lengthPrefixed(message: Uint8Array): Uint8Array {
  return concat(smallVarint(message.length), message);
}

/** Encodes nanoseconds since the Unix epoch as a `google.protobuf.Timestamp`. */
export function timestampMessage(timeNs: bigint): Uint8Array {
  const { seconds, nanos } = splitNs(timeNs);
  return concat(varintField(1, seconds), varintField(2, BigInt(nanos)));
}

function tag(field: number, wireType: number): Uint8Array {
  return smallVarint((field << 3) | wireType);
}
