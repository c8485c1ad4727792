import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { readTag, readVarint, skipValue } from "./wire-fields.ts";
import { WIRE } from "./wire-types.ts";

/**
 * Decodes a message by its descriptor. Accepts tags of up to ten bytes, as Go does: `fromBinary` takes five. Throws a plain
 * error for bytes that are not the message.
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

/** Encodes every tag in its shortest form. Returns undefined for bytes that are not a sequence of fields. */
function withShortTags(desc: DescMessage, bytes: Uint8Array): Uint8Array | undefined {
  const writer = new BinaryWriter();
  for (let at = 0; at < bytes.length; ) {
    const tag = readTag(bytes, at);
    const value = typeof tag === "string" ? tag : skipValue(bytes, tag);
    if (typeof tag === "string" || typeof value === "string") return undefined;
    writer.uint32(((tag.fieldNumber << 3) | tag.wireType) >>> 0);
    const field = desc.fields.find(({ number }) => number === tag.fieldNumber);
    if (field?.message === undefined || tag.wireType !== WIRE.bytes) {
      writer.raw(bytes.subarray(tag.end, value.end));
    } else {
      const length = readVarint(bytes, tag.end);
      if (typeof length === "string") return undefined;
      const content = withShortTags(field.message, bytes.subarray(length.end, value.end));
      if (content === undefined) return undefined;
      writer.bytes(content);
    }
    at = value.end;
  }
  return writer.finish();
}
