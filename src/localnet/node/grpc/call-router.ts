import { INTERFACE_METHODS } from "./interface-service.ts";
import { NODE_METHODS } from "./node-service.ts";
import { TENDERMINT_METHODS } from "./tendermint-service.ts";
import { TX_METHODS } from "./tx-service.ts";
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { QueryRequest, QueryResponse } from "../../chain/runtime/abci.ts";
import { ModuleError, QueryError } from "../../chain/runtime/errors.ts";
import { toQueryFailure } from "../../chain/runtime/query-router.ts";
import { findService, requireMessage } from "../../../cosmos/proto/registry.ts";
import { toCanonicalTypeUrl } from "../../../cosmos/proto/type-urls.ts";
import type { NodeView } from "../node-view.ts";
import { type AbciRoutes, routeAbciQuery } from "./abci-query.ts";
import { blockHeightOf, requireQueryHeight } from "./block-height.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, type ServiceContext, UnreadableRequest } from "./node-method.ts";

interface UnaryCall {
  /** Under the chain's own name: "/acme.interchainqueries.Query/Params". */
  readonly path: string;
  /** The encoded request. */
  readonly data: Uint8Array;
  /** All values of `x-cosmos-block-height`. */
  readonly heights: readonly string[];
}

/** The outcome of a call. */
export interface UnaryReply {
  /** gRPC status; 0 means success. */
  readonly code: number;
  /** Text of an error; empty on success. */
  readonly message: string;
  /** The encoded response; empty on an error. */
  readonly value: Uint8Array;
  /** Height of the state that the call read; undefined when it read none. */
  readonly height: bigint | undefined;
}

/**
 * All unary methods of a node: those of the application and those of the node itself. Neither function throws. Both log a
 * bug of the node and hide it from the caller.
 */
export interface CallRouter {
  /** gRPC paths under the chain's own name. */
  readonly paths: readonly string[];
  /** Calls a method for gRPC and REST. */
  readonly call: (call: UnaryCall) => UnaryReply;
  /** Runs an `abci_query`: a method by its gRPC path, or one of the application's other paths. */
  readonly query: (request: QueryRequest) => QueryResponse;
}

const NOTHING = new Uint8Array(0);
const OWN_METHODS = [...TX_METHODS, ...TENDERMINT_METHODS, ...NODE_METHODS, ...INTERFACE_METHODS];

/** Creates the router of a node. The methods of the node take precedence over those of the application. */
export function createCallRouter(context: ServiceContext, logger: Logger): CallRouter {
  const own = new Map(OWN_METHODS.map((method) => [method.path, method]));
  const appPaths = context.view.queryPaths().filter((path) => !own.has(path));
  const paths = new Set([...appPaths, ...own.keys()]);
  const requests = requestTypes(appPaths, context.chainName);
  const routes: AbciRoutes = {
    own,
    requireReadable: (path, data) => requireReadable(requests.get(path), data),
  };
  return {
    paths: [...paths],
    call: (call) => {
      if (!paths.has(call.path)) return failed(GRPC.unimplemented, `unknown method ${call.path}`);
      try {
        const height = blockHeightOf(call.heights);
        const method = own.get(call.path);
        return method === undefined
          ? callApp(call, height, { view: context.view, request: requests.get(call.path) })
          : callNode(method, call.data, height, context);
      } catch (thrown) {
        if (isQueryFailure(thrown)) return toFailure(thrown, undefined);
        logger.error("grpc call failed", { path: call.path, error: errorText(thrown) });
        return failed(GRPC.internal, "internal error");
      }
    },
    query: (request) => routeAbciQuery(request, routes, context, logger),
  };
}

/** Descriptors of the requests by gRPC path, without paths that no `.proto` definition has. */
function requestTypes(paths: readonly string[], chainName: string): ReadonlyMap<string, DescMessage> {
  const types = new Map<string, DescMessage>();
  for (const path of paths) {
    const [service = "", rpc] = (toCanonicalTypeUrl(path.slice(1), chainName) ?? "").split("/");
    const method = findService(service)?.methods.find(({ name }) => name === rpc);
    if (method !== undefined) types.set(path, requireMessage(method.requestType));
  }
  return types;
}

/**
 * Calls a method of the application. grpc-go decodes a request before the handler runs, with an error of its own, so
 * unreadable bytes fail here and do not reach the application.
 */
function callApp(
  { path, data }: UnaryCall,
  height: bigint,
  { view, request }: { readonly view: NodeView; readonly request: DescMessage | undefined },
): UnaryReply {
  requireReadable(request, data);
  const response = view.query({ path, data, height, prove: false });
  // The application reports height 0 when it read no state.
  const readHeight = response.height === 0n ? undefined : response.height;
  if (response.code === 0) return { code: GRPC.ok, message: "", value: response.value, height: readHeight };
  return failed(response.grpcCode, response.grpcMessage, readHeight);
}

/** Throws `UnreadableRequest`. Accepts all bytes when no `.proto` definition has the request. */
function requireReadable(request: DescMessage | undefined, data: Uint8Array): void {
  if (request === undefined) return;
  try {
    fromBinary(request, data);
  } catch (thrown) {
    throw new UnreadableRequest(thrown);
  }
}

function callNode(
  method: NodeMethod,
  data: Uint8Array,
  requested: bigint,
  context: ServiceContext,
): UnaryReply {
  if (method.stateless === true) {
    return { code: GRPC.ok, message: "", value: method.handle(data, context, 0n), height: undefined };
  }
  const { latestHeight } = context.view.status();
  // baseapp's interceptor opens the state of the requested height for every method, also for those that do not read it.
  requireQueryHeight(requested, latestHeight);
  const height = requested === 0n ? latestHeight : requested;
  try {
    return { code: GRPC.ok, message: "", value: method.handle(data, context, height), height };
  } catch (thrown) {
    if (isQueryFailure(thrown)) return toFailure(thrown, height);
    throw thrown;
  }
}

type GrpcFailure = ModuleError | QueryError | UnreadableRequest;

function isQueryFailure(thrown: unknown): thrown is GrpcFailure {
  return thrown instanceof ModuleError || thrown instanceof QueryError || thrown instanceof UnreadableRequest;
}

function toFailure(thrown: GrpcFailure, height: bigint | undefined): UnaryReply {
  if (thrown instanceof UnreadableRequest) {
    // grpc-go reports Internal, not InvalidArgument.
    return failed(GRPC.internal, `grpc: failed to unmarshal the received message: ${thrown.message}`, height);
  }
  const { grpcCode, grpcMessage } = toQueryFailure(thrown);
  return failed(grpcCode, grpcMessage, height);
}

function failed(code: number, message: string, height?: bigint): UnaryReply {
  return { code, message, value: NOTHING, height };
}
