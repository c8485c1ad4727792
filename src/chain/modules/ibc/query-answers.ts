import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../runtime/context.ts";
import { QueryError } from "../../runtime/module.ts";
import { ModuleError } from "../../runtime/module-error.ts";
import { selfHeight } from "./height.ts";

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** Runs a check of a request; what it finds wrong is the caller's error (gRPC 3). */
export function checkArgument(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ModuleError) throw new QueryError(INVALID_ARGUMENT, error.message);
    throw error;
  }
}

/** The value, or gRPC 5 with this error's text when there is none. */
export function found<T>(value: T | undefined, error: () => ModuleError): T {
  if (value === undefined) throw new QueryError(NOT_FOUND, error().message);
  return value;
}

/** Fields that ibc-go fills in every answer that could be proven: no proof, and the chain's own height. */
export function unproven(context: Context): { readonly proof: Uint8Array; readonly proofHeight: Height } {
  return { proof: new Uint8Array(0), proofHeight: selfHeight(context) };
}
