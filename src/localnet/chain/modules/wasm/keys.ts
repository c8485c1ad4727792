import { errorsOf } from "../../runtime/errors.ts";

export const MODULE_NAME = "wasm";

/** Prefix of a contract's port, followed by the contract's address as text. */
export const PORT_PREFIX = "wasm.";

export function portOf(address: string): string {
  return `${PORT_PREFIX}${address}`;
}

// Errors in the codespace "wasm", under their Go names (wasmd v0.53 x/wasm/types/errors.go).
const register = errorsOf(MODULE_NAME);
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
