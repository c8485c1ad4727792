import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { bech32 } from "@scure/base";

const HEX = /^[0-9a-fA-F]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Encodes bytes as lower-case hex without a prefix. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Decodes hex in either case, and throws on an odd length or another character. */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !HEX.test(text))
    throw new Error("not hex: expected an even number of hex digits");
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** Encodes bytes as upper-case hex, like Go's `%X`. */
export function upperHex(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}

/** Encodes bytes as standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Decodes standard base64 with padding, and throws on any other text. */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw new Error("not base64: expected the standard alphabet with padding");
  return new Uint8Array(Buffer.from(text, "base64"));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text length up to which a loop is faster than `TextEncoder`. */
const SHORT_TEXT = 96;

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

/** Decodes UTF-8. Throws if the bytes are invalid UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Decodes UTF-8 and replaces invalid bytes with U+FFFD. */
export function fromLossyUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

type LatinReader = (this: Uint8Array, start: number, end: number) => string;

function isLatinReader(value: unknown): value is LatinReader {
  return typeof value === "function";
}

// `latin1Slice`, the method behind `toString("latin1")`, works on any byte array, but is missing from Node's type definitions.
const native: unknown = Reflect.get(Buffer.prototype, "latin1Slice");
const readLatin1: LatinReader = isLatinReader(native)
  ? native
  : function readSlowly(start, end) {
      return Buffer.from(this.buffer, this.byteOffset + start, end - start).toString("latin1");
    };

/** Maps each byte to the character with that code. Unlike `Buffer.from(…).toString`, creates no wrapper around the bytes. */
export function latin1(bytes: Uint8Array): string {
  return readLatin1.call(bytes, 0, bytes.length);
}

/** Array length up to which a loop is faster than `set`. */
const SHORT_PART = 24;

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

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

/** Buffer that all calls to {@link uint64BigEndian} share, because creating a view takes longer than copying the bytes. */
const word = new Uint8Array(8);
const wordView = new DataView(word.buffer);

/** Encodes an unsigned 64-bit integer as 8 big-endian bytes. Throws if the value is outside the range 0 to 2^64 - 1. */
export function uint64BigEndian(value: bigint): Uint8Array {
  if (value < 0n || value > 0xffff_ffff_ffff_ffffn) throw new Error(`not a uint64: ${value}`);
  wordView.setBigUint64(0, value);
  return word.slice();
}

/** Decodes 8 big-endian bytes at `offset` to an unsigned integer. Throws if fewer than 8 bytes remain. */
export function readUint64BigEndian(bytes: Uint8Array, offset = 0): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(offset);
}

/** Returns the smallest key above every key with this prefix, or undefined if the prefix is empty or all 0xff. */
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

const SHA256_BYTES = 32;

/**
 * Computes a 32-byte SHA-256 hash.
 *
 * Node returns a "binary" string four times as fast as a Buffer. The array copied from that string is small enough for V8 to store
 * on its own heap.
 */
export function sha256(bytes: Uint8Array): Uint8Array {
  const text = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(SHA256_BYTES);
  for (let index = 0; index < SHA256_BYTES; index++) digest[index] = text.charCodeAt(index);
  return digest;
}

/** Maximum length of bech32 text, enough for 255 address bytes, an 83-character prefix, the separator and the checksum. */
const BECH32_MAX_LENGTH = 1023;

export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(bytes), BECH32_MAX_LENGTH);
}

/** Decodes bech32 in lower or upper case, but not in mixed case. Throws an `Error` with the reason for invalid text. */
export function decodeBech32(text: string): { readonly prefix: string; readonly bytes: Uint8Array } {
  if (!hasSeparator(text)) throw new Error("no bech32 separator");
  const { prefix, words } = bech32.decode(text, BECH32_MAX_LENGTH);
  return { prefix, bytes: bech32.fromWords(words) };
}

function hasSeparator(text: string): text is `${string}1${string}` {
  return text.includes("1");
}

/**
 * Converts bytes to text as Go does when it prints a string into JSON. Each invalid byte becomes one U+FFFD, whereas `TextDecoder`
 * may replace several bytes with a single U+FFFD.
 */
export function goString(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 0; at < buffer.length; ) {
    const length = sequenceLength(buffer, at);
    text += length === 0 ? "\ufffd" : buffer.toString("utf8", at, at + length);
    at += Math.max(length, 1);
  }
  return text;
}

/** UTF-8 lead bytes whose second byte is limited to a range smaller than 0x80 to 0xbf. */
const CONTINUATION_RANGES: readonly (readonly [lead: number, low: number, high: number])[] = [
  [0xe0, 0xa0, 0xbf],
  [0xed, 0x80, 0x9f],
  [0xf0, 0x90, 0xbf],
  [0xf4, 0x80, 0x8f],
];

/** Returns the length of the valid UTF-8 sequence at `at`, or 0 if there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const [, low, high] = CONTINUATION_RANGES.find((range) => range[0] === lead) ?? [lead, 0x80, 0xbf];
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index] ?? 0;
    if (byte < (index === 1 ? low : 0x80) || byte > (index === 1 ? high : 0xbf)) return 0;
  }
  return length;
}

/** Formats bytes as decimal numbers in brackets, like Go's `%v`, as in "[1 2 255]". */
export function goBytes(bytes: Uint8Array): string {
  return `[${bytes.join(" ")}]`;
}

/** Encodes a safe integer of at least 0 as an unsigned varint. */
export function encodeUvarint(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** Prefixes the bytes with their length as an unsigned varint. */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const prefix = encodeUvarint(bytes.length);
  const joined = new Uint8Array(prefix.length + bytes.length);
  joined.set(prefix);
  joined.set(bytes, prefix.length);
  return joined;
}

/** Encodes a length-delimited protobuf field, even if the field is empty. */
export function messageField(field: number, message: Uint8Array): Uint8Array {
  return concat(encodeUvarint((field << 3) | 2), lengthPrefixed(message));
}

/** Encodes a protobuf bytes field. Omits an empty field, like proto3. */
export function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? bytes : messageField(field, bytes);
}
