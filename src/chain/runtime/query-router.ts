import type { QueryResponse } from "../abci.ts";
import type { Context } from "./context.ts";
import type { ModuleError } from "./module-error.ts";
import type { QueryHandler } from "./module.ts";
import { toQueryFailure } from "./query-errors.ts";

/** Query handlers by gRPC path. Throws when two claim one. */
export function collectQueries(handlers: readonly QueryHandler[]): ReadonlyMap<string, QueryHandler> {
  const byPath = new Map<string, QueryHandler>();
  for (const handler of handlers) {
    if (byPath.has(handler.path)) throw new Error(`this is a bug: two modules answer ${handler.path}`);
    byPath.set(handler.path, handler);
  }
  return byPath;
}

const NOTHING = new Uint8Array(0);

/** An answer without an error. */
export function goodAnswer(answer: Partial<QueryResponse>): QueryResponse {
  return {
    code: 0,
    codespace: "",
    log: "",
    key: NOTHING,
    value: NOTHING,
    height: 0n,
    proof: undefined,
    grpcCode: 0,
    grpcMessage: "",
    ...answer,
  };
}

/** The answer that stands for an error; the gRPC form is that of the error unless it is given. */
export function errorAnswer(error: ModuleError, answer: Partial<QueryResponse> = {}): QueryResponse {
  const { grpcCode, grpcMessage } = toQueryFailure(error);
  const { code, codespace, message } = error;
  return goodAnswer({ grpcCode, grpcMessage, ...answer, code, codespace, log: message });
}

/** Runs one gRPC query on a context; its failure is an answer. */
export function answerGrpc(handler: QueryHandler, context: Context, request: Uint8Array): QueryResponse {
  const { height } = context;
  try {
    return goodAnswer({ value: handler.query(context, request), height });
  } catch (thrown) {
    const { grpcCode, grpcMessage, abci } = toQueryFailure(thrown);
    return errorAnswer(abci, { grpcCode, grpcMessage, height });
  }
}
