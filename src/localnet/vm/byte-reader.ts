import { moduleError, type VmError } from "./errors.ts";

/** Maximum length in bytes of a name in a module. */
const MAX_STRING_LENGTH = 100_000;

const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads WebAssembly's binary format between two offsets, and throws errors with the deployed parser's messages and offsets. */
export class ByteReader {
  readonly bytes: Uint8Array;
  position: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  eof(): boolean {
    return this.position >= this.end;
  }

  /** Returns an error at the offset of the byte that was just read. */
  errorAtLast(message: string): VmError {
    return moduleError(message, this.position - 1);
  }

  peek(): number {
    const byte = this.position < this.end ? this.bytes[this.position] : undefined;
    if (byte === undefined) throw moduleError("unexpected end-of-file", this.position);
    return byte;
  }

  u8(): number {
    const byte = this.peek();
    this.position++;
    return byte;
  }

  /** Skips `length` bytes and returns the offset of the first skipped byte. */
  skip(length: number): number {
    if (length > this.end - this.position) throw moduleError("unexpected end-of-file", this.position);
    const start = this.position;
    this.position += length;
    return start;
  }

  varU32(): number {
    let byte = this.u8();
    if (byte < 0x80) return byte;
    let result = byte & 0x7f;
    for (let shift = 7; ; shift += 7) {
      byte = this.u8();
      if (shift >= 28 && byte >> 4 !== 0)
        throw this.errorAtLast(
          `invalid var_u32: integer ${byte & 0x80 ? "representation too long" : "too large"}`,
        );
      result |= (byte & 0x7f) << shift;
      if (byte < 0x80) return result >>> 0;
    }
  }

  /** Checks the encoding of a signed integer of 32, 33 or 64 bits, and skips the integer. No check needs its value. */
  skipSigned(bits: 32 | 33 | 64): void {
    const last = bits === 64 ? 63 : 28;
    for (let shift = 0; ; shift += 7) {
      const byte = this.u8();
      if (shift >= last) {
        const unused = ((byte << 25) >> 24) >> (bits - shift);
        if (byte >= 0x80 || (unused !== 0 && unused !== -1))
          throw this.errorAtLast(
            `invalid var_${bits === 33 ? "s" : "i"}${bits}: integer ${byte >= 0x80 || bits === 33 ? "representation too long" : "too large"}`,
          );
        return;
      }
      if (byte < 0x80) return;
    }
  }

  /** Reads a signed 32-bit integer in LEB128 encoding. */
  varI32(): number {
    const start = this.position;
    this.skipSigned(32);
    let result = 0;
    let shift = 0;
    for (let at = start; at < this.position; at++, shift += 7)
      result |= ((this.bytes[at] ?? 0) & 0x7f) << shift;
    return shift < 32 ? (result << (32 - shift)) >> (32 - shift) : result;
  }

  /** Reads a count or size, and throws if it exceeds `limit`. */
  size(limit: number, description: string): number {
    const position = this.position;
    const size = this.varU32();
    if (size > limit) throw moduleError(`${description} size is out of bounds`, position);
    return size;
  }

  string(): string {
    const length = this.varU32();
    if (length > MAX_STRING_LENGTH) throw this.errorAtLast("string size out of bounds");
    const start = this.skip(length);
    try {
      return utf8Decoder.decode(this.bytes.subarray(start, this.position));
    } catch {
      throw this.errorAtLast("invalid UTF-8 encoding");
    }
  }
}

/** A growable buffer for writing WebAssembly's binary format. */
export class ByteWriter {
  private buffer: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.buffer = new Uint8Array(Math.max(capacity, 64));
  }

  private reserve(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length + more));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }

  u8(byte: number): void {
    this.reserve(1);
    this.buffer[this.length++] = byte;
  }

  /** Appends the bytes of `source` from `start` to `end`. */
  copy(source: Uint8Array, start = 0, end = source.length): void {
    this.reserve(end - start);
    // Copy short ranges in a loop, which is faster than a view for the few bytes between two accounting operators.
    if (end - start > 32) this.buffer.set(source.subarray(start, end), this.length);
    else for (let at = start; at < end; at++) this.buffer[this.length + at - start] = source[at] ?? 0;
    this.length += end - start;
  }

  varU32(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.u8((rest & 0x7f) | 0x80);
    this.u8(rest);
  }

  /** Appends a signed integer with up to 53 bits. */
  varSigned(value: number): void {
    let rest = value;
    for (;;) {
      const low = ((rest % 128) + 128) % 128;
      rest = Math.floor(rest / 128);
      const isLast = (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40);
      this.u8(isLast ? low : low | 0x80);
      if (isLast) return;
    }
  }

  /** Appends the content's length and then the content of another writer. */
  nested(content: ByteWriter): void {
    this.varU32(content.length);
    this.copy(content.bytes());
  }

  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}
