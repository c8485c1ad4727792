import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { QueryRequest, QueryResponse } from "../../chain/runtime/abci.ts";
import {
  ErrInvalidRequest,
  ErrPanic,
  GrpcCode,
  ModuleError,
  QueryError,
} from "../../chain/runtime/errors.ts";
import { errorResponse, okResponse, toQueryFailure } from "../../chain/runtime/query-router.ts";
import type { NodeServer } from "../base/node-server.ts";
import type { NodeView } from "../base/node-view.ts";
import { BusyError, createWorkQueue, type Waiter, type WorkQueue } from "../base/work-queue.ts";
import {
  blockHeightOf,
  BROADCAST_PATH,
  type NodeMethod,
  requireQueryHeight,
  type ServiceContext,
} from "./node-method.ts";
import { INTERFACE_METHODS, NODE_METHODS, TENDERMINT_METHODS } from "./node-services.ts";
import { TX_METHODS } from "./tx-service.ts";

interface UnaryCall {
  /** gRPC path with the chain's own name, such as "/acme.interchainqueries.Query/Params". */
  readonly path: string;
  readonly data: Uint8Array;
  /** All values of the `x-cosmos-block-height` metadata key. */
  readonly heights: readonly string[];
}

export interface UnaryReply {
  /** gRPC status code, which is 0 on success. */
  readonly code: number;
  /** Error message, which is empty on success. */
  readonly message: string;
  /** Encoded response message, which is empty on error. */
  readonly value: Uint8Array;
  /** Height of the state that the call read, or undefined if the call read no state. */
  readonly height: bigint | undefined;
}

/**
 * Routes calls to the application's and the node's unary methods. `call` and `query` never throw: they log an unexpected exception and
 * return the error "internal error".
 */
export interface CallRouter {
  /** gRPC paths of all methods, with the chain's own name. */
  readonly paths: readonly string[];
  /** Field numbers and names in requests and responses. Default: as in the `.proto` files. */
  readonly proto?: ProtoVariant | undefined;
  /** Calls a method for gRPC and REST. See {@link callInQueue}. */
  readonly call: (call: UnaryCall) => UnaryReply;
  readonly queue: WorkQueue;
  /** Runs an `abci_query`. The path is either a method's gRPC path or any other path that the application supports. */
  readonly query: (request: QueryRequest) => QueryResponse;
}

/** Creates a server, such as REST or gRPC, that offers the router's methods. */
export type ServerFactory = (router: CallRouter) => NodeServer;

const NOTHING = new Uint8Array(0);
const OWN_METHODS = [...TX_METHODS, ...TENDERMINT_METHODS, ...NODE_METHODS, ...INTERFACE_METHODS];

/** Creates a node's router. The node's methods take precedence over the application's methods. */
export function createCallRouter(
  context: ServiceContext,
  logger: Logger,
  queue: WorkQueue = createWorkQueue(),
): CallRouter {
  const own = new Map(OWN_METHODS.map((method) => [method.path, method]));
  const appPaths = context.view.queryPaths().filter((path) => !own.has(path));
  const paths = new Set([...appPaths, ...own.keys()]);
  const callNow = (call: UnaryCall): UnaryReply => {
    try {
      const height = blockHeightOf(call.heights);
      const method = own.get(call.path);
      return method === undefined
        ? callApp(call, height, context.view)
        : callNode(method, call.data, height, context);
    } catch (thrown) {
      if (isQueryFailure(thrown)) return toFailure(thrown, undefined);
      logger.error("grpc call failed", { path: call.path, error: errorText(thrown) });
      return failed(GrpcCode.Internal, "internal error");
    }
  };
  return {
    paths: [...paths],
    proto: context.proto,
    queue,
    call: (call) =>
      paths.has(call.path) ? callNow(call) : failed(GrpcCode.Unimplemented, `unknown method ${call.path}`),
    query: (request) => routeAbciQuery(request, own, context, logger),
  };
}

/** Calls a method and then `convert`, in one turn of the node's queue. If the node is too busy, the reply is `Unavailable`. */
export function callInQueue<T>(
  { call, queue }: Pick<CallRouter, "call" | "queue">,
  request: UnaryCall,
  waiter: Waiter,
  convert: (reply: UnaryReply) => T,
): Promise<T> {
  return queue.run([() => convert(call(request))], waiter).then(
    ([result]) => result ?? convert(failed(GrpcCode.Internal, "internal error")),
    (thrown: unknown) =>
      convert(
        failed(thrown instanceof BusyError ? GrpcCode.Unavailable : GrpcCode.Canceled, errorText(thrown)),
      ),
  );
}

function callApp({ path, data }: UnaryCall, height: bigint, view: NodeView): UnaryReply {
  const response = view.query({ path, data, height, prove: false });
  // The application reports height 0 if the query read no state.
  const readHeight = response.height === 0n ? undefined : response.height;
  if (response.code === 0)
    return { code: GrpcCode.OK, message: "", value: response.value, height: readHeight };
  return failed(response.grpcCode, response.grpcMessage, readHeight);
}

function callNode(
  method: NodeMethod,
  data: Uint8Array,
  requested: bigint,
  context: ServiceContext,
): UnaryReply {
  if (method.path === BROADCAST_PATH) {
    return { code: GrpcCode.OK, message: "", value: method.handle(data, context, 0n), height: undefined };
  }
  const { latestHeight } = context.view.status();
  // Check the height for every method, because baseapp's interceptor opens the state even if a method does not read it.
  requireQueryHeight(requested, latestHeight);
  const height = requested === 0n ? latestHeight : requested;
  try {
    return { code: GrpcCode.OK, message: "", value: method.handle(data, context, height), height };
  } catch (thrown) {
    if (isQueryFailure(thrown)) return toFailure(thrown, height);
    throw thrown;
  }
}

type GrpcFailure = ModuleError | QueryError;

function isQueryFailure(thrown: unknown): thrown is GrpcFailure {
  return thrown instanceof ModuleError || thrown instanceof QueryError;
}

function toFailure(thrown: GrpcFailure, height: bigint | undefined): UnaryReply {
  const { grpcCode, grpcMessage } = toQueryFailure(thrown);
  return failed(grpcCode, grpcMessage, height);
}

function failed(code: number, message: string, height?: bigint): UnaryReply {
  return { code, message, value: NOTHING, height };
}

/** Routes an `abci_query` like baseapp (`Query` in `baseapp/abci.go`). Never throws. */
function routeAbciQuery(
  request: QueryRequest,
  own: ReadonlyMap<string, NodeMethod>,
  context: ServiceContext,
  logger: Logger,
): QueryResponse {
  if (request.path === BROADCAST_PATH) {
    return errorResponse(ErrInvalidRequest("can't route a broadcast tx message"));
  }
  const method = own.get(request.path);
  if (method === undefined) return context.view.query(request);
  return respond(request, context, logger, (height) => method.handle(request.data, context, height));
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
    if (isQueryFailure(thrown)) {
      const { grpcCode, grpcMessage, abci } = toQueryFailure(thrown);
      return errorResponse(abci, { grpcCode, grpcMessage, height });
    }
    logger.error("abci query failed", { path, error: errorText(thrown) });
    const grpcMessage = "internal error";
    return errorResponse(ErrPanic(grpcMessage), { grpcCode: GrpcCode.Internal, grpcMessage });
  }
}
