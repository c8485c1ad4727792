import { concat, utf8 } from "../../../../platform/base/bytes.ts";
import { errorsIn } from "../../runtime/errors.ts";

/** Name of the module and its store. */
export const MODULE_NAME = "wasm";

/** Codes: prefix, id (8 bytes big-endian), as in wasmd. */
export const CODE_PREFIX: Uint8Array = new Uint8Array([0x01]);
/** Contract infos: prefix, address, as in wasmd. */
export const CONTRACT_PREFIX: Uint8Array = new Uint8Array([0x02]);
/** Contract state: prefix, address, the contract's own key, as in wasmd. */
export const STATE_PREFIX: Uint8Array = new Uint8Array([0x03]);
/** Contract history: prefix, address, entry number (8 bytes big-endian), as in wasmd. */
export const HISTORY_PREFIX: Uint8Array = new Uint8Array([0x05]);
/** Contracts by code: prefix, code id, creation position, address, as in wasmd. */
export const CODE_INDEX_PREFIX: Uint8Array = new Uint8Array([0x06]);
/** The ante handler's transaction counter: height (8 bytes) and number (4 bytes), big-endian, as in wasmd. */
export const TX_COUNTER_KEY: Uint8Array = new Uint8Array([0x08]);
/** Contracts by creator: prefix, creator address length, creator address, creation position, contract address, as in wasmd. */
export const CREATOR_INDEX_PREFIX: Uint8Array = new Uint8Array([0x09]);
/** Parameters, as wasmd. */
export const PARAMS_KEY: Uint8Array = new Uint8Array([0x10]);
/** Pinned codes: prefix, code id. The value is one byte, 1. */
export const PINNED_PREFIX: Uint8Array = new Uint8Array([0x07]);
/** Code bytes: prefix, checksum. wasmd stores them in files next to its store. */
export const CODE_BYTES_PREFIX: Uint8Array = new Uint8Array([0xff]);
/** Next code id, 8 bytes big-endian. Absent before the first code, whose id is 1. */
export const CODE_SEQUENCE_KEY: Uint8Array = concat(new Uint8Array([0x04]), utf8("lastCodeId"));
/** Next instance number, 8 bytes big-endian. Absent before the first contract, whose number is 1. */
export const INSTANCE_SEQUENCE_KEY: Uint8Array = concat(new Uint8Array([0x04]), utf8("lastContractId"));

/** Contract ports: prefix, contract address as text. */
export const PORT_PREFIX = "wasm.";

/** Returns a contract's port. */
export function portOf(address: string): string {
  return `${PORT_PREFIX}${address}`;
}

// Errors of codespace "wasm" by their Go names (wasmd v0.53 x/wasm/types/errors.go).
const register = errorsIn(MODULE_NAME);
export const ErrCreateFailed = register(2, "create wasm contract failed");
export const ErrInstantiateFailed = register(4, "instantiate wasm contract failed");
export const ErrExecuteFailed = register(5, "execute wasm contract failed");
export const ErrQueryFailed = register(9, "query wasm contract failed");
export const ErrInvalidMsg = register(10, "invalid CosmosMsg from the contract");
export const ErrMigrationFailed = register(11, "migrate wasm contract failed");
export const ErrEmpty = register(12, "empty");
export const ErrLimit = register(13, "exceeds limit");
export const ErrInvalid = register(14, "invalid");
export const ErrDuplicate = register(15, "duplicate");
export const ErrUnsupportedForContract = register(17, "unsupported for this contract");
export const ErrUnknownMsg = register(20, "unknown message from the contract");
export const ErrInvalidEvent = register(21, "invalid event");
export const ErrNoSuchContract = register(22, "no such contract");
export const ErrExceedMaxQueryStackSize = register(27, "max query stack size exceeded");
export const ErrNoSuchCode = register(28, "no such code");
export const ErrVMError = register(29, "wasmvm error");
export const ErrExceedMaxCallDepth = register(30, "max call depth exceeded");
