import type { ErrorKind } from "../../runtime/module-error.ts";
import { registerError } from "../../runtime/module-error.ts";
import { MODULE_NAME } from "./keys.ts";

function kind(code: number, description: string): ErrorKind {
  return registerError(MODULE_NAME, code, description);
}

// Codes and texts of wasmd v0.54 x/wasm/types/errors.go.
export const instantiateFailed: ErrorKind = kind(4, "instantiate wasm contract failed");
export const executeFailed: ErrorKind = kind(5, "execute wasm contract failed");
export const queryFailed: ErrorKind = kind(9, "query wasm contract failed");
export const empty: ErrorKind = kind(12, "empty");
export const exceedsLimit: ErrorKind = kind(13, "exceeds limit");
export const invalid: ErrorKind = kind(14, "invalid");
export const unknownMessage: ErrorKind = kind(20, "unknown message from the contract");
export const invalidEvent: ErrorKind = kind(21, "invalid event");
export const noSuchContract: ErrorKind = kind(22, "no such contract");
export const maxQueryDepth: ErrorKind = kind(27, "max query stack size exceeded");
export const noSuchCode: ErrorKind = kind(28, "no such code");
export const maxCallDepth: ErrorKind = kind(30, "max call depth exceeded");
/** sdk/37. */
export const notSupported: ErrorKind = registerError("sdk", 37, "feature not supported");
