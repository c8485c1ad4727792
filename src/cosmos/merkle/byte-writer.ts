import { sha256 } from "../../platform/base/bytes.ts";

/**
 * A byte buffer that is reused for many small encodings. A commit of a tree makes thousands of them, and an allocation
 * for each part would cost more than the hashing.
 */
export interface ByteWriter {
  /** Removes the content. */
  readonly clear: () => ByteWriter;
  /** Appends a zigzag varint; `value` is from 0 to 2^52. */
  readonly varint: (value: number) => ByteWriter;
  readonly bytes: (bytes: Uint8Array) => ByteWriter;
  /** Appends the length of the bytes as an unsigned varint, then the bytes. */
  readonly prefixed: (bytes: Uint8Array) => ByteWriter;
  /** Returns the content in a new array. */
  readonly copy: () => Uint8Array;
  /** Returns the SHA-256 of the content. */
  readonly sha256: () => Uint8Array;
}

/** Creates an empty writer. */
export function createByteWriter(): ByteWriter {
  let memory = new Uint8Array(1024);
  let length = 0;
  const reserve = (more: number): void => {
    if (length + more <= memory.length) return;
    const larger = new Uint8Array(2 * memory.length + more);
    larger.set(memory);
    memory = larger;
  };
  const uvarint = (value: number): void => {
    let rest = value;
    while (rest >= 0x80) {
      memory[length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    memory[length++] = rest;
  };
  const writer: ByteWriter = {
    clear: () => {
      length = 0;
      return writer;
    },
    varint: (value) => {
      reserve(10);
      // Zigzag maps a number n >= 0 to 2n.
      uvarint(value * 2);
      return writer;
    },
    bytes: (bytes) => {
      reserve(bytes.length);
      memory.set(bytes, length);
      length += bytes.length;
      return writer;
    },
    prefixed: (bytes) => {
      reserve(10);
      uvarint(bytes.length);
      return writer.bytes(bytes);
    },
    copy: () => memory.slice(0, length),
    sha256: () => sha256(memory.subarray(0, length)),
  };
  return writer;
}
