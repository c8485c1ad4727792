/** Thrown for malformed protobuf, with the same message as Go's generated decoders. */
export class WireError extends Error {}

const WIRE_VARINT = 0;
const WIRE_BYTES = 2;

/**
 * Reads protobuf fields from `bytes`, between the offsets `at` and `end`. Accepts the same bytes as Go's generated decoders
 * (gogoproto) and throws `WireError` for others. A varint may have up to ten bytes and need not be the shortest encoding. Numbers
 * are truncated to the size of their field, and unknown fields are skipped.
 */
export class WireReader {
  readonly bytes: Uint8Array;
  at: number;
  end: number;
  /** Number of the current field, whose wire type is `wireType`. */
  field = 0;
  wireType = 0;
  /** Upper 32 bits of the last varint, as an int32. Processing two 32-bit halves is much faster than using a bigint. */
  private high = 0;
  private fieldStart = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.at = 0;
    this.end = bytes.length;
  }

  /** Reads the next field's tag, or returns false at the end of the message. `message` is the message's name for errors. */
  nextField(message: string): boolean {
    if (this.at >= this.end) return false;
    this.fieldStart = this.at;
    const low = this.varint();
    this.wireType = low & 7;
    // Go converts the tag to an int32 field number, which drops the upper bits.
    this.field = (low >>> 3) | (this.high << 29);
    if (this.wireType === 4) throw new WireError(`proto: ${message}: wiretype end group for non-group`);
    if (this.field <= 0) {
      const tag = (BigInt(this.high >>> 0) << 32n) | BigInt(low >>> 0);
      throw new WireError(`proto: ${message}: illegal tag ${this.field} (wire type ${tag})`);
    }
    return true;
  }

  /** Returns the position of the current field's tag. */
  startOfField(): number {
    return this.fieldStart;
  }

  int32(name: string): number {
    if (this.wireType !== WIRE_VARINT) throw wrongWireType(this.wireType, name);
    return this.varint();
  }

  /** Skips a length-delimited field's bytes, which end at `at`, and returns their start position. */
  startOfBytes(name: string): number {
    if (this.wireType !== WIRE_BYTES) throw wrongWireType(this.wireType, name);
    const length = this.length();
    if (length > this.end - this.at) throw endOfInput();
    this.at += length;
    return this.at - length;
  }

  /** Limits the reader to the nested message in the current field. Returns the previous `end`, which the caller restores. */
  enter(name: string): number {
    const start = this.startOfBytes(name);
    const outerEnd = this.end;
    this.end = this.at;
    this.at = start;
    return outerEnd;
  }

  skipInt32s(name: string): void {
    if (this.wireType === WIRE_VARINT) {
      this.varint();
      return;
    }
    const start = this.startOfBytes(name);
    const packedEnd = this.at;
    this.at = start;
    while (this.at < packedEnd) this.varint();
  }

  /** Skips an unknown field of any wire type. */
  skipUnknown(): void {
    this.at = this.fieldStart;
    let depth = 0;
    do {
      depth += this.skipOne();
      if (depth < 0) throw new WireError("proto: unexpected end of group");
      if (this.at > this.end) throw endOfInput();
    } while (depth > 0);
  }

  /** Skips a tag and its value. Returns the change in group depth, which is 1 for a start tag, -1 for an end tag, and 0 otherwise. */
  private skipOne(): number {
    const type = this.varint() & 7;
    if (type === WIRE_VARINT) this.varint();
    else if (type === 1) this.at += 8;
    else if (type === WIRE_BYTES) {
      const length = this.length();
      this.at += length;
    } else if (type === 3) return 1;
    else if (type === 4) return -1;
    else if (type === 5) this.at += 4;
    else throw new WireError(`proto: illegal wireType ${type}`);
    return 0;
  }

  private length(): number {
    const low = this.varint();
    // In Go, the length is an int64, so a length of 2^63 or more is negative.
    if (this.high < 0) throw new WireError("proto: negative length found during unmarshaling");
    if (this.high !== 0) throw endOfInput();
    return low >>> 0;
  }

  /** Reads a varint, returns its lower 32 bits as an int32, and sets `high` to the upper 32 bits. */
  private varint(): number {
    this.high = 0;
    const first = this.byte();
    if (first < 0x80) return first;
    let low = first & 0x7f;
    for (let shift = 7; shift < 64; shift += 7) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) this.high = bits >> 4;
      if (shift > 28) this.high |= bits << (shift - 32);
      if (byte < 0x80) return low;
    }
    throw new WireError("proto: integer overflow");
  }

  private byte(): number {
    if (this.at >= this.end) throw endOfInput();
    return this.bytes[this.at++] ?? 0;
  }
}

function wrongWireType(type: number, name: string): WireError {
  return new WireError(`proto: wrong wireType = ${type} for field ${name}`);
}

function endOfInput(): WireError {
  return new WireError("unexpected EOF");
}

/**
 * `cosmos.ics23.v1` messages that a batch proof can contain: each field's name and type, in the order of the field numbers. A type
 * is "bytes", "varint", "varints" (repeated) or a message name.
 */
const MESSAGES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  BatchProof: fields("Entries BatchEntry"),
  BatchEntry: fields("Exist ExistenceProof, Nonexist NonExistenceProof"),
  ExistenceProof: fields("Key bytes, Value bytes, Leaf LeafOp, Path InnerOp"),
  NonExistenceProof: fields("Key bytes, Left ExistenceProof, Right ExistenceProof"),
  LeafOp: fields("Hash varint, PrehashKey varint, PrehashValue varint, Length varint, Prefix bytes"),
  InnerOp: fields("Hash varint, Prefix bytes, Suffix bytes"),
  CompressedBatchProof: fields("Entries CompressedBatchEntry, LookupInners InnerOp"),
  CompressedBatchEntry: fields("Exist CompressedExistenceProof, Nonexist CompressedNonExistenceProof"),
  CompressedExistenceProof: fields("Key bytes, Value bytes, Leaf LeafOp, Path varints"),
  CompressedNonExistenceProof: fields(
    "Key bytes, Left CompressedExistenceProof, Right CompressedExistenceProof",
  ),
};

function fields(text: string): readonly (readonly string[])[] {
  return text.split(", ").map((field) => field.split(" "));
}

/**
 * Skips the current field, which contains `message`. Throws `WireError` if Go's decoder would reject it. The fields are not stored, because
 * verification rejects every batch proof. The structure is still checked, so that a malformed batch fails with Go's decoding error.
 */
export function checkMessage(reader: WireReader, field: string, message: string): void {
  const outerEnd = reader.enter(field);
  const known = MESSAGES[message] ?? [];
  while (reader.nextField(message)) {
    const [name, type] = known[reader.field - 1] ?? [];
    if (name === undefined || type === undefined) reader.skipUnknown();
    else if (type === "bytes") reader.startOfBytes(name);
    else if (type === "varint") reader.int32(name);
    else if (type === "varints") reader.skipInt32s(name);
    else checkMessage(reader, name, type);
  }
  reader.end = outerEnd;
}
