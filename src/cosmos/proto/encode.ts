import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** A generated message type, as far as it encodes. */
interface EncodedType<T> {
  encode(message: T, writer?: BinaryWriter): { finish(): Uint8Array };
}

/** A larger message drops the buffer after it, so that one large message does not keep its memory. */
const MAX_KEPT_BYTES = 65_536;

let idle: BinaryWriter | undefined;

/**
 * Encodes a message with a writer that all messages share. A writer of its own allocates a buffer for every message, outside of
 * the heap, which takes longer than to encode a small message.
 */
export function encodeMessage<T>(type: EncodedType<T>, message: T): Uint8Array {
  const writer = idle ?? new BinaryWriter();
  // Whoever encodes meanwhile, or after a failure, must not write behind the rest of this message.
  idle = undefined;
  const bytes = type.encode(message, writer).finish();
  if (bytes.length <= MAX_KEPT_BYTES) idle = writer;
  return bytes;
}
