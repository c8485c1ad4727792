import { TxBody, TxRaw } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";

const LENGTH_DELIMITED = 2;
const TX_RAW_FIELDS = 3;

/**
 * Whether an entry of a block's `txs` is a transaction. On a chain with vote extensions the first entry is the
 * proposer's extended commit, possibly zstd-compressed, which is not a transaction.
 */
export function isTransaction(bytes: Uint8Array): boolean {
  if (!hasOnlyTxRawFields(bytes)) return false;
  try {
    const raw = TxRaw.decode(bytes);
    const { messages } = TxBody.decode(raw.bodyBytes);
    return (
      raw.authInfoBytes.length > 0 && messages.length > 0 && messages.every(({ typeUrl }) => typeUrl !== "")
    );
  } catch {
    return false;
  }
}

/**
 * Whether the bytes consist of fields 1 to 3, all length-delimited. The generated decoder skips unknown fields, so other
 * protobuf messages would decode too.
 */
function hasOnlyTxRawFields(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const number = tag >> 3;
    if ((tag & 7) !== LENGTH_DELIMITED || number < 1 || number > TX_RAW_FIELDS) return false;
    const length = readLength(bytes, at + 1);
    if (length === undefined) return false;
    at = length.next + length.value;
  }
  return at === bytes.length && bytes.length > 0;
}

/** Reads a varint. Returns undefined when it has more than five bytes, enough for 2^32, or is cut off. */
function readLength(
  bytes: Uint8Array,
  offset: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, next: offset + index + 1 };
  }
  return undefined;
}
