import { sha256 } from "../../base/sha256.ts";
import { TxBody, TxRaw } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";

const LENGTH_DELIMITED = 2;
const TX_RAW_FIELDS = 3;

/** A transaction of a block. */
export interface BlockTransaction {
  /** Place among everything in the block's `txs`, steps included. */
  readonly index: number;
  /** SHA-256 of the bytes. */
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

/**
 * Whether bytes out of a block's `txs` are a transaction. With vote extensions on, the first entry is the proposer's
 * extended commit (perhaps compressed), which is none; whoever reads blocks steps over it.
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

/** The transactions of a block, with what is none left out. */
export function transactionsOf(txs: readonly Uint8Array[]): readonly BlockTransaction[] {
  return txs.flatMap((bytes, index) => (isTransaction(bytes) ? [{ index, bytes, hash: sha256(bytes) }] : []));
}

/**
 * Whether the bytes are fields 1 to 3, each length-delimited, and nothing else. The generated decoder steps over
 * unknown fields, which would let foreign messages pass.
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

/** A varint of at most five bytes. */
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
