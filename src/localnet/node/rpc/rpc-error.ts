import { errorText } from "../../../platform/base/errors.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { MempoolError, PageError } from "../base/errors.ts";
import { QueryLanguageError } from "../query-language/parse-query.ts";

/** JSON-RPC codes and the messages that CometBFT sends for them (`rpc/jsonrpc/types`). */
const KINDS = {
  parse: { code: -32700, message: "Parse error. Invalid JSON" },
  "invalid-request": { code: -32600, message: "Invalid Request" },
  "method-not-found": { code: -32601, message: "Method not found" },
  "invalid-params": { code: -32602, message: "Invalid params" },
  internal: { code: -32603, message: "Internal error" },
  server: { code: -32000, message: "Server error" },
} as const;

/** Thrown for a call that fails with a JSON-RPC error. `message` becomes the error's `data`. */
export class RpcError extends Error {
  readonly kind: keyof typeof KINDS;

  constructor(kind: keyof typeof KINDS, data = "") {
    super(data);
    this.name = "RpcError";
    this.kind = kind;
  }
}

/** Creates an `RpcError` with code -32603 "Internal error". CometBFT uses it for every method error, even a wrong parameter. */
export function internal(data: string): RpcError {
  return new RpcError("internal", data);
}

/** Returns the `error` member for a response. */
export function rpcErrorToJson(error: RpcError): JsonObject {
  const { code, message } = KINDS[error.kind];
  return error.message === "" ? { code, message } : { code, message, data: error.message };
}

/** Converts a thrown value to the error that the caller receives. Returns undefined if the value indicates a bug in the node. */
export function toRpcError(thrown: unknown): RpcError | undefined {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof MempoolError || thrown instanceof PageError || thrown instanceof QueryLanguageError) {
    return internal(errorText(thrown));
  }
  return undefined;
}
