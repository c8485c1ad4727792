import { type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The reason why bytes are not a sequence of protobuf fields. The messages are the same as from Go's `protowire.ParseError`. */
export type WireFailure =
  | "unexpected EOF"
  | "proto: invalid field number"
  | "proto: variable length integer overflow"
  | "proto: mismatching end group marker"
  | "proto: cannot parse reserved wire type"
  | "proto: exceeded max recursion depth";

/** A varint, tag or value that was read, and the position after it (`end`). */
interface Read {
  readonly end: number;
}

interface Varint extends Read {
  /** The varint's value, exact below 2^53. A larger value is rounded, and is only used to check that it exceeds a bound. */
  readonly value: number;
}

interface Tag extends Read {
  readonly fieldNumber: number;
  /** Wire type, 0 to 7. Types 6 and 7 are reserved. */
  readonly wireType: number;
}

const MAX_VARINT_BYTES = 10;
const MAX_FIELD_NUMBER = 0x7fff_ffff;
const MAX_GROUP_DEPTH = 10_000;

/**
 * Reads a varint of at most 64 bits, like Go's `protowire.ConsumeVarint`: up to ten bytes, the tenth of which contains one bit.
 * The varint need not be the shortest encoding.
 */
function readVarint(bytes: Uint8Array, start: number): Varint | WireFailure {
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

/** Reads a field's tag, like Go's `protowire.ConsumeTag`. */
export function readTag(bytes: Uint8Array, start: number): Tag | WireFailure {
  const tag = readVarint(bytes, start);
  if (typeof tag === "string") return tag;
  const wireType = (bytes[start] ?? 0) & 7;
  const fieldNumber = (tag.value - wireType) / 8;
  if (fieldNumber < 1 || fieldNumber > MAX_FIELD_NUMBER) return "proto: invalid field number";
  return { fieldNumber, wireType, end: tag.end };
}

/** Skips the value after a tag, like Go's `protowire.ConsumeFieldValue`. */
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

interface WireField extends Pick<Tag, "fieldNumber" | "wireType"> {
  /** The encoded value, with its length. */
  readonly value: Uint8Array;
  /** The content of a length-delimited value, or undefined for any other value. */
  readonly content: Uint8Array | undefined;
}

/** Iterates over the fields of an encoded message. Ends with undefined at bytes that are not a field. */
export function* fieldsIn(bytes: Uint8Array): Generator<WireField | undefined> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readTag(bytes, at);
    const value = typeof tag === "string" ? tag : skipValue(bytes, tag);
    if (typeof tag === "string" || typeof value === "string") return yield undefined;
    const { fieldNumber, wireType, end } = tag;
    const content = wireType === WIRE.bytes ? contentOf(bytes, end, value.end) : undefined;
    yield { fieldNumber, wireType, value: bytes.subarray(end, value.end), content };
    at = value.end;
  }
}

/** Returns the contents of a length-delimited value without its length. */
export function contentOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const length = readVarint(bytes, start);
  return bytes.subarray(typeof length === "string" ? end : length.end, end);
}

function within(bytes: Uint8Array, end: number): Read | WireFailure {
  return end > bytes.length ? "unexpected EOF" : { end };
}

/** Protobuf wire types. Types 6 and 7 are reserved. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** A field's declared type: a scalar type, an enum or a message. */
export type FieldType = ScalarType | "enum" | "message";

// In wire-number order, with the names from the SDK's `codec/unknownproto`.
const NAMES = ["varint", "fixed64", "bytes", "start_group", "end_group", "fixed32"];

/** Returns a wire type's name as the SDK prints it. */
export function wireTypeName(wireType: number): string {
  return NAMES[wireType] ?? `unknown type: ${wireType}`;
}

/** Returns the wire type of a single, unpacked value. */
export function wireTypeOf(type: FieldType): number {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case "message":
      return WIRE.bytes;
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return WIRE.fixed64;
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return WIRE.fixed32;
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.SINT32:
    case ScalarType.SINT64:
    case ScalarType.BOOL:
    case "enum":
      return WIRE.varint;
  }
}

/**
 * Returns true if the SDK accepts this wire type for a field of this type. The SDK accepts length-delimited bytes for every type,
 * because a packed list is encoded as length-delimited bytes.
 */
export function canCarry(wireType: number, type: FieldType): boolean {
  return wireType === WIRE.bytes || wireType === wireTypeOf(type);
}

/**
 * Decodes a message using its descriptor. Like Go, accepts tags of up to ten bytes, although `fromBinary` accepts only five bytes.
 * Throws a plain `Error` for bytes that are not a valid encoding of the message.
 */
export function decodeByDescriptor<Desc extends DescMessage>(
  desc: Desc,
  bytes: Uint8Array,
): MessageShape<Desc> {
  try {
    return fromBinary(desc, bytes);
  } catch (error) {
    const shortened = withShortTags(desc, bytes);
    if (shortened === undefined) throw error;
    return fromBinary(desc, shortened);
  }
}

/** Encodes every tag as its shortest varint. Returns undefined for bytes that are not a sequence of fields. */
function withShortTags(desc: DescMessage, bytes: Uint8Array): Uint8Array | undefined {
  const writer = new BinaryWriter();
  for (const field of fieldsIn(bytes)) {
    if (field === undefined) return undefined;
    const { fieldNumber, wireType, value, content } = field;
    writer.uint32(((fieldNumber << 3) | wireType) >>> 0);
    const { message } = desc.fields.find(({ number }) => number === fieldNumber) ?? {};
    if (message === undefined || content === undefined) writer.raw(value);
    else {
      const inner = withShortTags(message, content);
      if (inner === undefined) return undefined;
      writer.bytes(inner);
    }
  }
  return writer.finish();
}
