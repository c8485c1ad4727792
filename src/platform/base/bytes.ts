import { Buffer } from "node:buffer";

const HEX = /^[0-9a-fA-F]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Encodes bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Decodes hex in either case. Throws for an odd length or any other character. */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !HEX.test(text))
    throw new Error("not hex: an even number of characters 0-9 a-f was expected");
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** Encodes bytes as standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Decodes standard base64 with padding. Throws for any other text. */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw new Error("not base64: standard alphabet with padding was expected");
  return new Uint8Array(Buffer.from(text, "base64"));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Up to this length, a loop is faster than `TextEncoder`. */
const SHORT_TEXT = 96;

/** Encodes a text as UTF-8. */
export function utf8(text: string): Uint8Array {
  if (text.length > SHORT_TEXT) return encoder.encode(text);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return encoder.encode(text);
    bytes[at] = code;
  }
  return bytes;
}

/** Decodes UTF-8. Throws for invalid UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

type LatinReader = (this: Uint8Array, start: number, end: number) => string;

function isLatinReader(value: unknown): value is LatinReader {
  return typeof value === "function";
}

// The method behind `toString("latin1")` works on any byte array. The type definitions of Node leave it out.
const native: unknown = Reflect.get(Buffer.prototype, "latin1Slice");
const readLatin1: LatinReader = isLatinReader(native)
  ? native
  : function readSlowly(start, end) {
      return Buffer.from(this.buffer, this.byteOffset + start, end - start).toString("latin1");
    };

/** Reads bytes as characters of the same codes. Unlike `Buffer.from(…).toString`, it creates no object around the bytes. */
export function latin1(bytes: Uint8Array): string {
  return readLatin1.call(bytes, 0, bytes.length);
}

/** Up to this length, a loop is faster than `set`. */
const SHORT_PART = 24;

/** Concatenates byte arrays into a new one. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    if (part.length > SHORT_PART) joined.set(part, at);
    else for (let index = 0; index < part.length; index++) joined[at + index] = part[index] ?? 0;
    at += part.length;
  }
  return joined;
}

/** Compares byte arrays lexicographically, as unsigned bytes. Returns a negative number, 0 or a positive number. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** Whether two byte arrays have the same length and content. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

/** Shared by calls of {@link uint64BigEndian}: a new view takes longer than the copy. */
const word = new Uint8Array(8);
const wordView = new DataView(word.buffer);

/** Encodes an unsigned 64-bit integer as 8 big-endian bytes. Throws outside 0 to 2^64 - 1. */
export function uint64BigEndian(value: bigint): Uint8Array {
  if (value < 0n || value > 0xffff_ffff_ffff_ffffn) throw new Error(`not a uint64: ${value}`);
  wordView.setBigUint64(0, value);
  return word.slice();
}

/** Decodes 8 big-endian bytes at `offset`. Throws when fewer remain. */
export function readUint64BigEndian(bytes: Uint8Array, offset = 0): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(offset);
}

/** Returns the smallest key above every key with this prefix, or undefined when none exists (empty or all 0xff). */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1] ?? 0;
    if (last === 0xff) continue;
    const end = prefix.slice(0, length);
    end[length - 1] = last + 1;
    return end;
  }
  return undefined;
}
