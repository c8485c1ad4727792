import { sha256 } from "../base/sha256.ts";

/**
 * Puts bytes together in one block of memory that it uses again and again: a tree makes thousands of small encodings in a
 * commit, and memory for each of their parts would take longer than hashing them.
 */
export interface ByteWriter {
  /** Starts anew. */
  readonly clear: () => ByteWriter;
  /** A zigzag varint of a number from 0 to 2^52. */
  readonly varint: (value: number) => ByteWriter;
  readonly bytes: (bytes: Uint8Array) => ByteWriter;
  /** The bytes, after their length as an unsigned varint. */
  readonly prefixed: (bytes: Uint8Array) => ByteWriter;
  /** What was put in, in memory of its own. */
  readonly copy: () => Uint8Array;
  /** SHA-256 of what was put in. */
  readonly sha256: () => Uint8Array;
}

/** A writer; what it holds is gone when it is cleared. */
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
