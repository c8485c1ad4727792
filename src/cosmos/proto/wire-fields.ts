import { WIRE } from "./wire-types.ts";

/** Why bytes are not a sequence of protobuf fields. The texts are those of Go's `protowire.ParseError`. */
export type WireFailure =
  | "unexpected EOF"
  | "proto: invalid field number"
  | "proto: variable length integer overflow"
  | "proto: mismatching end group marker"
  | "proto: cannot parse reserved wire type"
  | "proto: exceeded max recursion depth";

/** A varint, tag or value that was read. `end` is the position after it. */
interface Read {
  readonly end: number;
}

interface Varint extends Read {
  /** Exact below 2^53. Larger values are only compared with smaller bounds. */
  readonly value: number;
}

interface Tag extends Read {
  readonly fieldNumber: number;
  /** 0 to 7. 6 and 7 are reserved. */
  readonly wireType: number;
}

const MAX_VARINT_BYTES = 10;
const MAX_FIELD_NUMBER = 0x7fff_ffff;
const MAX_GROUP_DEPTH = 10_000;

/**
 * Reads a varint of at most 64 bits, as Go's `protowire.ConsumeVarint`: up to ten bytes, of which the tenth holds one bit.
 * It need not be the shortest form.
 */
export function readVarint(bytes: Uint8Array, start: number): Varint | WireFailure {
  let value = 0;
  let factor = 1;
  for (let index = 0; index < MAX_VARINT_BYTES; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) return "unexpected EOF";
    if (index === MAX_VARINT_BYTES - 1 && byte > 1) break;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: start + index + 1 };
    factor *= 0x80;
  }
  return "proto: variable length integer overflow";
}

/** Reads the tag of a field, as Go's `protowire.ConsumeTag`. */
export function readTag(bytes: Uint8Array, start: number): Tag | WireFailure {
  const tag = readVarint(bytes, start);
  if (typeof tag === "string") return tag;
  const wireType = (bytes[start] ?? 0) & 7;
  const fieldNumber = (tag.value - wireType) / 8;
  if (fieldNumber < 1 || fieldNumber > MAX_FIELD_NUMBER) return "proto: invalid field number";
  return { fieldNumber, wireType, end: tag.end };
}

/** Skips the value after a tag, as Go's `protowire.ConsumeFieldValue`. */
export function skipValue(bytes: Uint8Array, { fieldNumber, wireType, end }: Tag): Read | WireFailure {
  if (wireType !== WIRE.startGroup) return skipScalar(bytes, wireType, end);
  const groups = [fieldNumber];
  let at = end;
  while (groups.length > 0) {
    const tag = readTag(bytes, at);
    if (typeof tag === "string") return tag;
    at = tag.end;
    if (tag.wireType === WIRE.endGroup) {
      if (groups.pop() !== tag.fieldNumber) return "proto: mismatching end group marker";
    } else if (tag.wireType === WIRE.startGroup) {
      groups.push(tag.fieldNumber);
      if (groups.length > MAX_GROUP_DEPTH) return "proto: exceeded max recursion depth";
    } else {
      const value = skipScalar(bytes, tag.wireType, at);
      if (typeof value === "string") return value;
      at = value.end;
    }
  }
  return { end: at };
}

function skipScalar(bytes: Uint8Array, wireType: number, start: number): Read | WireFailure {
  switch (wireType) {
    case WIRE.varint:
      return readVarint(bytes, start);
    case WIRE.fixed64:
      return within(bytes, start + 8);
    case WIRE.fixed32:
      return within(bytes, start + 4);
    case WIRE.bytes: {
      const length = readVarint(bytes, start);
      return typeof length === "string" ? length : within(bytes, length.end + length.value);
    }
    case WIRE.endGroup:
      return "proto: mismatching end group marker";
    default:
      return "proto: cannot parse reserved wire type";
  }
}

function within(bytes: Uint8Array, end: number): Read | WireFailure {
  return end > bytes.length ? "unexpected EOF" : { end };
}
