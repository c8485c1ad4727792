import type { QueryResponse } from "../abci.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import type { Context } from "./context.ts";
import type { ModuleError } from "./module-error.ts";
import type { QueryHandler } from "./module.ts";
import { toQueryFailure } from "./query-errors.ts";

/** Indexes query handlers by gRPC path. Throws a plain error when two handlers have the same path. */
export function collectQueries(handlers: readonly QueryHandler[]): ReadonlyMap<string, QueryHandler> {
  const byPath = new Map<string, QueryHandler>();
  for (const handler of handlers) {
    if (byPath.has(handler.path)) unreachable(`two modules answer ${handler.path}`);
    byPath.set(handler.path, handler);
  }
  return byPath;
}

const NO_BYTES = new Uint8Array(0);

/** Builds the response of a successful query. */
export function okResponse(response: Partial<QueryResponse>): QueryResponse {
  return {
    code: 0,
    codespace: "",
    log: "",
    key: NO_BYTES,
    value: NO_BYTES,
    height: 0n,
    proof: undefined,
    grpcCode: 0,
    grpcMessage: "",
    ...response,
  };
}

/** Builds the response of a failed query. The gRPC status is derived from the error unless `response` has one. */
export function errorResponse(error: ModuleError, response: Partial<QueryResponse> = {}): QueryResponse {
  const { grpcCode, grpcMessage } = toQueryFailure(error);
  const { code, codespace, message } = error;
  return okResponse({ grpcCode, grpcMessage, ...response, code, codespace, log: message });
}

/** Runs one gRPC query on a context. A failure becomes a response. */
export function runGrpcQuery(handler: QueryHandler, context: Context, request: Uint8Array): QueryResponse {
  const { height } = context;
  try {
    return okResponse({ value: handler.query(context, request), height });
  } catch (thrown) {
    const { grpcCode, grpcMessage, abci } = toQueryFailure(thrown);
    return errorResponse(abci, { grpcCode, grpcMessage, height });
  }
}
