import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { QueryRequest, QueryResponse } from "../../chain/runtime/abci.ts";
import { ErrInvalidRequest, ErrPanic, ModuleError, QueryError } from "../../chain/runtime/errors.ts";
import { toQueryFailure, errorResponse, okResponse } from "../../chain/runtime/query-router.ts";
import { requireQueryHeight } from "./block-height.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, type ServiceContext, UnreadableRequest } from "./node-method.ts";
import { BROADCAST_PATH } from "./tx-service.ts";

/** What routes an `abci_query`. */
export interface AbciRoutes {
  /** The methods of the node itself by gRPC path. */
  readonly own: ReadonlyMap<string, NodeMethod>;
  /** Throws `UnreadableRequest` when `data` is no request of this method of the application. */
  readonly requireReadable: (path: string, data: Uint8Array) => void;
}

/** Routes an `abci_query` as baseapp does (`baseapp/abci.go`, `Query`). Never throws. */
export function routeAbciQuery(
  request: QueryRequest,
  { own, requireReadable }: AbciRoutes,
  context: ServiceContext,
  logger: Logger,
): QueryResponse {
  if (request.path === BROADCAST_PATH) {
    return errorResponse(ErrInvalidRequest("can't route a broadcast tx message"));
  }
  const method = own.get(request.path);
  if (method !== undefined) {
    return respond(request, context, logger, (height) => method.handle(request.data, context, height));
  }
  const response = context.view.query(request);
  if (response.code === 0) return response;
  try {
    // The application does not tell unreadable bytes from a bug. Only a failed query pays for a second decoding.
    requireReadable(request.path, request.data);
    return response;
  } catch (thrown) {
    return respond(request, context, logger, () => {
      throw thrown;
    });
  }
}

function respond(
  { path, height: requested, prove }: QueryRequest,
  { view }: ServiceContext,
  logger: Logger,
  handle: (height: bigint) => Uint8Array,
): QueryResponse {
  const { latestHeight } = view.status();
  const height = requested === 0n ? latestHeight : requested;
  try {
    requireQueryHeight(requested, latestHeight, prove);
  } catch (thrown) {
    if (thrown instanceof ModuleError) return errorResponse(thrown);
    throw thrown;
  }
  try {
    return okResponse({ value: handle(height), height });
  } catch (thrown) {
    if (thrown instanceof QueryError || thrown instanceof ModuleError) return failure(thrown, height);
    // baseapp reports a request that does not decode as a plain error.
    if (thrown instanceof UnreadableRequest)
      return failure(new QueryError(GRPC.unknown, thrown.message), height);
    logger.error("abci query failed", { path, error: errorText(thrown) });
    const grpcMessage = "internal error";
    return errorResponse(ErrPanic(grpcMessage), { grpcCode: GRPC.internal, grpcMessage });
  }
}

function failure(thrown: QueryError | ModuleError, height: bigint): QueryResponse {
  const { grpcCode, grpcMessage, abci } = toQueryFailure(thrown);
  return errorResponse(abci, { grpcCode, grpcMessage, height });
}
