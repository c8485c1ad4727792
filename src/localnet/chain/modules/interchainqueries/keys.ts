/** Name of the module, its store and its escrow account. */
export const MODULE_NAME = "interchainqueries";

/** Registered queries: prefix, id (8 bytes big-endian). */
export const QUERY_PREFIX: Uint8Array = new Uint8Array([0x01]);
/** Latest KV results: prefix, query id. */
export const RESULT_PREFIX: Uint8Array = new Uint8Array([0x02]);
/** Transactions delivered for TX queries: prefix, query id, the transaction's SHA-256 hash. */
export const SUBMITTED_TX_PREFIX: Uint8Array = new Uint8Array([0x03]);
/** Removed TX queries whose submitted transactions still await deletion: prefix, query id. */
export const REMOVED_TX_QUERY_PREFIX: Uint8Array = new Uint8Array([0x04]);
/** Parameters. */
export const PARAMS_KEY: Uint8Array = new Uint8Array([0x05]);
/** The last assigned query id, 8 bytes big-endian. */
export const LAST_ID_KEY: Uint8Array = new Uint8Array([0x64]);
