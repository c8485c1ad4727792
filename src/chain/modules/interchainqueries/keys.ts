import { concat, prefixEnd, readUint64BigEndian, uint64BigEndian } from "../../../base/bytes.ts";

/** Name of the module, of its store and of its escrow account. */
export const MODULE_NAME = "interchainqueries";

/** Parameters. */
export const PARAMS_KEY: Uint8Array = new Uint8Array([0x05]);
/** The last assigned query id, big-endian. */
export const LAST_ID_KEY: Uint8Array = new Uint8Array([0x64]);

const QUERY = 0x01;
const RESULT = 0x02;
const SUBMITTED_TX = 0x03;
const REMOVED_TX_QUERY = 0x04;

/** First bytes of the four collections. */
export const QUERY_PREFIX: Uint8Array = new Uint8Array([QUERY]);
export const RESULT_PREFIX: Uint8Array = new Uint8Array([RESULT]);
export const SUBMITTED_TX_PREFIX: Uint8Array = new Uint8Array([SUBMITTED_TX]);
export const REMOVED_TX_QUERY_PREFIX: Uint8Array = new Uint8Array([REMOVED_TX_QUERY]);

/** A registered query. */
export function queryKey(id: bigint): Uint8Array {
  return numbered(QUERY, id);
}

/** The latest result of a KV query. */
export function resultKey(id: bigint): Uint8Array {
  return numbered(RESULT, id);
}

/** The mark of one transaction (SHA-256 hash) that was delivered to the owner of a TX query. */
export function submittedTxKey(id: bigint, hash: Uint8Array): Uint8Array {
  return concat(submittedTxsPrefix(id), hash);
}

/** Start of all marks of one TX query. */
export function submittedTxsPrefix(id: bigint): Uint8Array {
  return numbered(SUBMITTED_TX, id);
}

/** The mark of a removed TX query whose transaction marks wait for deletion. */
export function removedTxQueryKey(id: bigint): Uint8Array {
  return numbered(REMOVED_TX_QUERY, id);
}

/** The id in a key of any of the collections. */
export function idOfKey(key: Uint8Array): bigint {
  return readUint64BigEndian(key, 1);
}

/** The bounds of all keys with a prefix, for iteration. */
export function rangeOf(prefix: Uint8Array): readonly [start: Uint8Array, end: Uint8Array | undefined] {
  return [prefix, prefixEnd(prefix)];
}

function numbered(prefix: number, id: bigint): Uint8Array {
  return concat(new Uint8Array([prefix]), uint64BigEndian(id));
}
