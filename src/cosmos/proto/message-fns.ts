import { BinaryReader, type BinaryWriter } from "@bufbuild/protobuf/wire";

/** Encodes and decodes the messages of one type. Generated for each message in `definitions/` that the program uses. */
export interface MessageFns<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  /**
   * Decodes the next `length` bytes of a reader, or all remaining bytes by default. If `previous` is given, merges the fields into
   * it. Throws for bytes that a Go node rejects, such as an invalid tag or a nested message that extends past the end of its
   * parent.
   */
  decode(input: MessageReader | Uint8Array, length?: number, previous?: T): T;
}

/** Maximum nesting of messages, because untrusted bytes could otherwise exhaust the stack with messages of a recursive type. */
const MAX_DEPTH = 100;

/** Reads a message and its nested messages. */
export class MessageReader extends BinaryReader {
  /** Number of messages that enclose the reader's position. */
  depth = 0;
}

/** Decodes a field into the message. Returns false without reading anything if the message has no field with this tag. */
type DecodeField<T> = (message: T, tag: number, reader: MessageReader) => boolean;

/** Implements `decode` of `MessageFns`: reads fields into `message` and skips unknown fields. */
export function decodeFields<T>(
  input: MessageReader | Uint8Array,
  length: number | undefined,
  message: T,
  decodeField: DecodeField<T>,
): T {
  const reader = input instanceof MessageReader ? input : new MessageReader(input);
  if (reader.depth >= MAX_DEPTH) throw new Error("protobuf decode recursion limit exceeded");
  reader.depth += 1;
  const end = length === undefined ? reader.len : reader.pos + length;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (decodeField(message, tag, reader)) continue;
    if ((tag & 7) === 4 || tag === 0) throw new Error("illegal tag");
    reader.skip(tag & 7);
  }
  if (reader.pos !== end) throw new Error("premature EOF");
  reader.depth -= 1;
  return message;
}
