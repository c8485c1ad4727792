import { ErrTxDecode } from "./sdk-errors.ts";

const LENGTH_DELIMITED = 2;
// Larger than the numbers of protobuf: Go's `protowire.ConsumeTag` allows 31 bits.
const MAX_FIELD_NUMBER = 0x7fff_ffffn;

/**
 * Throws sdk/2 unless the bytes are the one encoding of a TxRaw that ADR-027 allows: ascending fields, all of wire type
 * 2, shortest varints as lengths. Otherwise anybody could re-encode a signed transaction and change its hash. Checks and
 * texts are those of x/auth/tx `rejectNonADR027TxRaw`.
 */
export function rejectNonCanonicalTx(bytes: Uint8Array): void {
  let at = 0;
  let previous = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    const field = fieldOf(tag.value);
    const wireType = Number(tag.value & 7n);
    if (wireType !== LENGTH_DELIMITED) throw ErrTxDecode(`expected 2 wire type, got ${wireType}`);
    if (field < previous)
      throw ErrTxDecode(`txRaw must follow ADR-027, got tagNum ${field} after tagNum ${previous}`);
    previous = field;
    at = skipBytes(bytes, tag.end, field);
  }
}

function fieldOf(tag: bigint): number {
  const field = tag >> 3n;
  if (field < 1n || field > MAX_FIELD_NUMBER)
    throw ErrTxDecode("invalid length; proto: invalid field number");
  return Number(field);
}

function skipBytes(bytes: Uint8Array, start: number, field: number): number {
  const length = readVarint(bytes, start);
  const read = length.end - start;
  const needed = shortestVarint(length.value);
  if (read !== needed) {
    throw ErrTxDecode(
      `length prefix varint for tagNum ${field} is not as short as possible, read ${read}, only need ${needed}`,
    );
  }
  const end = BigInt(length.end) + length.value;
  if (end > BigInt(bytes.length)) throw ErrTxDecode("invalid length; unexpected EOF");
  return Number(end);
}

/** Reads a varint of at most 64 bits: the tenth byte may hold only one bit. */
function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) throw ErrTxDecode("invalid length; unexpected EOF");
    if (index === 9 && byte > 1) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw ErrTxDecode("invalid length; proto: variable length integer overflow");
}

function shortestVarint(value: bigint): number {
  return Math.max(1, Math.ceil(value.toString(2).length / 7));
}
