import { unreachable } from "../../../../platform/base/errors.ts";

/** Wire types in the low bits of a tag. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Writes protobuf into a buffer that is used again for every record. The records of the book are written several times in each
 * swap, and the general writer takes several times as long. Texts are ASCII: {@link isAscii}.
 */
export interface ProtoWriter {
  readonly start: () => void;
  readonly text: (field: number, text: string) => void;
  /** Omits 0. */
  readonly int64: (field: number, value: bigint) => void;
  readonly message: (field: number, write: () => void) => void;
  readonly raw: (bytes: Uint8Array) => void;
  /** Returns a copy of what was written since `start`. */
  readonly finish: () => Uint8Array;
}

/** Largest record: denominations and addresses of 128 bytes, six numbers of at most 105 digits. */
const CAPACITY = 4096;

/** Creates a writer. */
export function createProtoWriter(): ProtoWriter {
  const buffer = new Uint8Array(CAPACITY);
  let at = 0;
  const varint = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) buffer[at++] = (rest % 128) | 0x80;
    buffer[at++] = rest;
  };
  const bigVarint = (value: bigint): void => {
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) buffer[at++] = Number(rest & 0x7fn) | 0x80;
    buffer[at++] = Number(rest);
  };
  return {
    start: () => {
      at = 0;
    },
    text: (field, text) => {
      buffer[at++] = field * 8 + LENGTH_DELIMITED;
      varint(text.length);
      const start = at;
      if (start + text.length > CAPACITY) unreachable("a record is larger than the buffer");
      for (let index = 0; index < text.length; index++) buffer[start + index] = text.charCodeAt(index);
      at = start + text.length;
    },
    int64: (field, value) => {
      if (value === 0n) return;
      buffer[at++] = field * 8 + VARINT;
      const small = Number(value);
      if (small > 0 && small < 2 ** 53) varint(small);
      else bigVarint(value);
    },
    message: (field, write) => {
      buffer[at++] = field * 8 + LENGTH_DELIMITED;
      const start = ++at;
      write();
      const length = at - start;
      // One byte was left for the length; a longer length moves the message.
      if (length > 0x7f) {
        buffer.copyWithin(start + 1, start, at);
        buffer[start] = length >> 7;
        at += 1;
      }
      buffer[start - 1] = length > 0x7f ? (length & 0x7f) | 0x80 : length;
    },
    raw: (bytes) => {
      buffer.set(bytes, at);
      at += bytes.length;
    },
    finish: () => buffer.slice(0, at),
  };
}

/** Whether a text is written as one byte for each character, and fits into a record. */
export function isAscii(text: string): boolean {
  if (text.length > 256) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
