import { registerError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./keys.ts";

// Errors of codespace "wasm" by their Go names (wasmd v0.54 x/wasm/types/errors.go).
export const ErrInstantiateFailed = registerError(MODULE_NAME, 4, "instantiate wasm contract failed");
export const ErrExecuteFailed = registerError(MODULE_NAME, 5, "execute wasm contract failed");
export const ErrQueryFailed = registerError(MODULE_NAME, 9, "query wasm contract failed");
export const ErrEmpty = registerError(MODULE_NAME, 12, "empty");
export const ErrLimit = registerError(MODULE_NAME, 13, "exceeds limit");
export const ErrInvalid = registerError(MODULE_NAME, 14, "invalid");
export const ErrUnknownMsg = registerError(MODULE_NAME, 20, "unknown message from the contract");
export const ErrInvalidEvent = registerError(MODULE_NAME, 21, "invalid event");
export const ErrNoSuchContract = registerError(MODULE_NAME, 22, "no such contract");
export const ErrExceedMaxQueryStackSize = registerError(MODULE_NAME, 27, "max query stack size exceeded");
export const ErrNoSuchCode = registerError(MODULE_NAME, 28, "no such code");
export const ErrExceedMaxCallDepth = registerError(MODULE_NAME, 30, "max call depth exceeded");
