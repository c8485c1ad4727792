import { concat, utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and of its store. */
export const MODULE_NAME = "wasm";

/** Codes: prefix, id (8 bytes big-endian), as wasmd. */
export const CODE_PREFIX: Uint8Array = new Uint8Array([0x01]);
/** Contract infos: prefix, address, as wasmd. */
export const CONTRACT_PREFIX: Uint8Array = new Uint8Array([0x02]);
/** State of contracts: prefix, address, the contract's own key, as wasmd. */
export const STATE_PREFIX: Uint8Array = new Uint8Array([0x03]);
/** History of contracts: prefix, address, number of the entry (8 bytes big-endian), as wasmd. */
export const HISTORY_PREFIX: Uint8Array = new Uint8Array([0x05]);
/** Contracts by code: prefix, code id, position of the creation, address, as wasmd. */
export const CODE_INDEX_PREFIX: Uint8Array = new Uint8Array([0x06]);
/** The ante handler's count of transactions: height (8 bytes) and number (4 bytes), big-endian, as wasmd. */
export const TX_COUNTER_KEY: Uint8Array = new Uint8Array([0x08]);
/** Contracts by creator: prefix, length of the creator's address, that address, position of the creation, address, as wasmd. */
export const CREATOR_INDEX_PREFIX: Uint8Array = new Uint8Array([0x09]);
/** Next code id, 8 bytes big-endian; absent before the first code, which gets 1. */
export const CODE_SEQUENCE_KEY: Uint8Array = concat(new Uint8Array([0x04]), utf8("lastCodeId"));
/** Next instance number, 8 bytes big-endian; absent before the first contract, which gets 1. */
export const INSTANCE_SEQUENCE_KEY: Uint8Array = concat(new Uint8Array([0x04]), utf8("lastContractId"));
