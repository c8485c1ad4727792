import { Buffer } from "node:buffer";

const CONTINUATION_RANGES: readonly (readonly [lead: number, low: number, high: number])[] = [
  [0xe0, 0xa0, 0xbf],
  [0xed, 0x80, 0x9f],
  [0xf0, 0x90, 0xbf],
  [0xf4, 0x80, 0x8f],
];

/** Formats bytes as upper-case hex, as Go's `%X`. */
export function upperHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex").toUpperCase();
}

/**
 * Converts bytes to text as Go does when it prints a string into JSON. Each single byte that is not part of valid UTF-8
 * becomes one U+FFFD. `TextDecoder` differs: it replaces several bytes by one U+FFFD.
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

/** Returns the length of the valid UTF-8 sequence at `at`, or 0. */
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
/** Returns the name of a value of an enum, or the number of an unknown one, as Go prints it. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(values).find(([, known]) => known === value)?.[0] ?? value.toString();
}
