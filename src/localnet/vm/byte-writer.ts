/** A growing buffer for the binary format. */
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
    // For the few bytes between two accounting operators, a loop is faster than a view.
    if (end - start > 32) this.buffer.set(source.subarray(start, end), this.length);
    else for (let at = start; at < end; at++) this.buffer[this.length + at - start] = source[at] ?? 0;
    this.length += end - start;
  }

  varU32(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.u8((rest & 0x7f) | 0x80);
    this.u8(rest);
  }

  /** Appends a signed integer of at most 53 bits. */
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

  /** Appends the length of another writer's content, followed by the content. */
  nested(content: ByteWriter): void {
    this.varU32(content.length);
    this.copy(content.bytes());
  }

  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}
