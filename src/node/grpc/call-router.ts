import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { ModuleError } from "../../chain/runtime/module-error.ts";
import { QueryError } from "../../chain/runtime/module.ts";
import { toQueryFailure } from "../../chain/runtime/query-errors.ts";
import { findService, requireMessage } from "../../proto/registry.ts";
import { toCanonicalTypeUrl } from "../../proto/type-urls.ts";
import type { NodeView } from "../node-view.ts";
import { blockHeightOf, requireQueryHeight } from "./block-height.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, type ServiceContext, unreadableRequest } from "./node-method.ts";
import { TENDERMINT_METHODS } from "./tendermint-service.ts";
import { TX_METHODS } from "./tx-service.ts";

/** A unary gRPC call. `path` is that of the chain's own name; `heights` are the values of `x-cosmos-block-height`. */
interface UnaryCall {
  readonly path: string;
  readonly data: Uint8Array;
  readonly heights: readonly string[];
}

/** What a call gave. `height` is that of the state it looked at; undefined when it looked at none. */
export interface UnaryReply {
  /** gRPC status; 0: `value` is the encoded response. */
  readonly code: number;
  readonly message: string;
  readonly value: Uint8Array;
  readonly height: bigint | undefined;
}

/** All unary methods of a node: those of the application and those of the node itself. */
export interface CallRouter {
  /** gRPC paths in the chain's own name. */
  readonly paths: readonly string[];
  /** Never throws; an error of ours is status Internal and a line in the log. */
  readonly call: (call: UnaryCall) => UnaryReply;
}

const NOTHING = new Uint8Array(0);

/** Creates the router of a node. */
export function createCallRouter(context: ServiceContext, logger: Logger): CallRouter {
  const own = new Map([...TX_METHODS, ...TENDERMINT_METHODS].map((method) => [method.path, method]));
  const ofApp = context.view.queryPaths().filter((path) => !own.has(path));
  const isKnown = new Set([...ofApp, ...own.keys()]);
  const requests = requestTypes(ofApp, context.chainName);
  return {
    paths: [...isKnown],
    call: (call) => {
      if (!isKnown.has(call.path)) return failed(GRPC.unimplemented, `unknown method ${call.path}`);
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
  };
}

/** Descriptors of the requests of gRPC paths; a path that the definitions do not have is left out. */
function requestTypes(paths: readonly string[], chainName: string): ReadonlyMap<string, DescMessage> {
  const types = new Map<string, DescMessage>();
  for (const path of paths) {
    const [service = "", rpc] = (toCanonicalTypeUrl(path.slice(1), chainName) ?? "").split("/");
    const method = findService(service)?.methods.find(({ name }) => name === rpc);
    if (method !== undefined) types.set(path, requireMessage(method.requestType));
  }
  return types;
}

/** The application takes well-formed requests only, so the bytes are looked at first. */
function callApp(
  { path, data }: UnaryCall,
  height: bigint,
  { view, request }: { readonly view: NodeView; readonly request: DescMessage | undefined },
): UnaryReply {
  if (request !== undefined) requireReadable(request, data);
  const answer = view.query({ path, data, height, prove: false });
  const seen = answer.height === 0n ? undefined : answer.height;
  if (answer.code === 0) return { code: GRPC.ok, message: "", value: answer.value, height: seen };
  return failed(answer.grpcCode, answer.grpcMessage, seen);
}

function requireReadable(request: DescMessage, data: Uint8Array): void {
  try {
    fromBinary(request, data);
  } catch (thrown) {
    throw unreadableRequest(thrown);
  }
}

function callNode(method: NodeMethod, data: Uint8Array, wanted: bigint, context: ServiceContext): UnaryReply {
  if (method.stateless === true) {
    return { code: GRPC.ok, message: "", value: method.answer(data, context), height: undefined };
  }
  const { latestHeight } = context.view.status();
  requireQueryHeight(wanted, latestHeight);
  const height = wanted === 0n ? latestHeight : wanted;
  try {
    return { code: GRPC.ok, message: "", value: method.answer(data, context), height };
  } catch (thrown) {
    if (isQueryFailure(thrown)) return toFailure(thrown, height);
    throw thrown;
  }
}

function isQueryFailure(thrown: unknown): thrown is ModuleError | QueryError {
  return thrown instanceof ModuleError || thrown instanceof QueryError;
}

function toFailure(thrown: ModuleError | QueryError, height: bigint | undefined): UnaryReply {
  const { grpcCode, grpcMessage } = toQueryFailure(thrown);
  return failed(grpcCode, grpcMessage, height);
}

function failed(code: number, message: string, height?: bigint): UnaryReply {
  return { code, message, value: NOTHING, height };
}
