/** What an IAVL operation's prefix begins with, and where that ends. */
export interface IavlNumbers {
  readonly height: number;
  readonly end: number;
}

const LONGEST_VARINT = 10;

/**
 * Reads height, size and version, zigzag varints of which none may be negative; or says why not (ics23 `validateIavlOps`).
 * A height above 2^53 is rounded.
 */
export function readIavlNumbers(bytes: Uint8Array, start: number, end: number): IavlNumbers | string {
  let at = start;
  let height = 0;
  for (let index = 0; index < 3; index++) {
    const length = varintLength(bytes, at, end);
    if (length === 0) return at >= end ? "EOF" : "unexpected EOF";
    if (length > LONGEST_VARINT) return "binary: varint overflows a 64-bit integer";
    // Zigzag: the lowest bit is the sign.
    if (((bytes[at] ?? 0) & 1) === 1) return "wrong value in IAVL leaf op";
    if (index === 0) height = unsigned(bytes, at, length) / 2;
    at += length;
  }
  return { height, end: at };
}

/** Length of the varint at `at`: 0 when it does not end before `end`, 11 when it does not fit in 64 bits. */
function varintLength(bytes: Uint8Array, at: number, end: number): number {
  for (let length = 1; length <= LONGEST_VARINT; length++) {
    if (at + length > end) return 0;
    const byte = bytes[at + length - 1] ?? 0;
    if (byte < 0x80) return length === LONGEST_VARINT && byte > 1 ? LONGEST_VARINT + 1 : length;
  }
  return LONGEST_VARINT + 1;
}

function unsigned(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index--) value = value * 0x80 + ((bytes[at + index] ?? 0) & 0x7f);
  return value;
}
