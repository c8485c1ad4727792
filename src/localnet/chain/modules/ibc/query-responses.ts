import type { Height } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError, QueryError } from "../../runtime/errors.ts";
import { selfHeight } from "./height.ts";

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** Runs a check of a request. A `ModuleError` becomes gRPC status InvalidArgument with its text. */
export function checkArgument(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ModuleError) throw new QueryError(INVALID_ARGUMENT, error.message);
    throw error;
  }
}

/** Returns the value. Throws gRPC status NotFound with the text of `error` when the value is undefined. */
export function requireFound<T>(value: T | undefined, error: () => ModuleError): T {
  if (value === undefined) throw new QueryError(NOT_FOUND, error().message);
  return value;
}

/** Returns the proof fields of a response. As in ibc-go, the proof is empty and the height is the chain's own height. */
export function emptyProof(context: Context): { readonly proof: Uint8Array; readonly proofHeight: Height } {
  return { proof: new Uint8Array(0), proofHeight: selfHeight(context) };
}
