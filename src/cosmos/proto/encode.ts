import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The part of a generated message type that encodes messages. */
export interface EncodedType<T> {
  encode(message: T, writer?: BinaryWriter): { finish(): Uint8Array };
}

/** Maximum size of a message after which the writer is reused. The buffer of a larger message would stay allocated. */
const MAX_REUSED_BYTES = 65_536;

let idle: BinaryWriter | undefined;

/**
 * Encodes a message with a writer shared by all messages. With a separate writer, a buffer outside the heap would be allocated for
 * every message, which takes longer than encoding a small message.
 */
export function encodeMessage<T>(type: EncodedType<T>, message: T): Uint8Array {
  const writer = idle ?? new BinaryWriter();
  // A nested call or a call after a failure must not append to this message's bytes.
  idle = undefined;
  const bytes = type.encode(message, writer).finish();
  if (bytes.length <= MAX_REUSED_BYTES) idle = writer;
  return bytes;
}
