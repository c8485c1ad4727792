import { isRecord, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import { goKind } from "../base/go-decoding.ts";
import { SEARCH_PATHS } from "../grpc/tx-service.ts";
import { BLOCK_METHODS, CHAIN_METHODS } from "./chain-methods.ts";
import { type Parameters, parametersFromJson, type RpcContext, type RpcMethod } from "./method.ts";
import { RpcError, rpcErrorToJson, toRpcError } from "./rpc-error.ts";
import { TX_METHODS } from "./tx-methods.ts";

/** The methods of every transport: POST, URI and WebSocket. */
export const RPC_METHODS: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...BLOCK_METHODS, ...CHAIN_METHODS, ...TX_METHODS }),
);

/** Methods that exist only on a WebSocket, with the names of their parameters. */
export const WEBSOCKET_METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ["subscribe", ["query"]],
  ["unsubscribe", ["query"]],
  ["unsubscribe_all", []],
]);

const SEARCHES: ReadonlySet<string> = new Set(["tx_search", "block_search"]);

/** Returns whether a request searches the index, itself or by an `abci_query`. Such requests wait in the node's queue. */
export function isSearch({ method, params }: Pick<RpcRequest, "method" | "params">): boolean {
  if (method !== "abci_query") return SEARCHES.has(method);
  const path: unknown = Array.isArray(params) ? params[0] : isRecord(params) ? params.path : undefined;
  return typeof path === "string" && SEARCH_PATHS.has(path);
}

/** Id of a request. Its response repeats it. */
export type RpcId = string | number;

/** Id of responses to URI calls, as in CometBFT. */
export const URI_CALL_ID = -1;

/** A JSON-RPC request. One without an id is a notification and gets no response. */
export interface RpcRequest {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
}

/**
 * Reads a request as CometBFT does: it checks neither the `jsonrpc` version nor unknown members.
 * Throws a plain error with the text of Go's decoder.
 */
export function parseRequest(value: unknown): RpcRequest {
  if (!isRecord(value)) {
    throw new Error(`json: cannot unmarshal ${goKind(value)} into Go value of type types.RPCRequest`);
  }
  const { method = "", params } = value;
  if (typeof method !== "string") {
    throw new Error(`json: cannot unmarshal ${goKind(method)} into Go struct field .method of type string`);
  }
  return { id: parseId(value.id), method, params };
}

function parseId(id: unknown): RpcId | undefined {
  if (id === undefined || id === null) return undefined;
  // CometBFT decodes a number as float64 and stores it as int, so the response repeats 1.9 as 1.
  if (typeof id === "number") return Math.trunc(id);
  if (typeof id === "string") return id;
  throw new Error(`JSON-RPC ID (${JSON.stringify(id)}) is of unknown type (${goKind(id)})`);
}

/** A response with a result. */
export function resultResponse(id: RpcId, result: JsonValue): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

/** A response with an error. As in CometBFT, the one to a request without a readable id has no `id`. */
export function errorResponse(id: RpcId | undefined, error: RpcError): JsonObject {
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: rpcErrorToJson(error) };
}

/** Decodes parameters with `read`. Throws `RpcError` of this kind with CometBFT's text when `read` throws. */
export function readParameters(
  read: () => Parameters,
  kind: "invalid-params" | "internal",
  source: "json" | "http",
): Parameters {
  try {
    return read();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new RpcError(kind, `error converting ${source} params to arguments: ${text}`);
  }
}

/**
 * Calls the method of a JSON-RPC request and returns the response. Rejects only for a bug of the node.
 * `invalidParams` is the kind of error for unreadable parameters: CometBFT reports them as -32602 over POST and as
 * -32603 over WebSocket.
 */
export async function handleRequest(
  request: RpcRequest & { readonly id: RpcId },
  context: RpcContext,
  signal: AbortSignal,
  invalidParams: "invalid-params" | "internal" = "invalid-params",
): Promise<JsonObject> {
  try {
    const method = RPC_METHODS.get(request.method);
    if (method === undefined) throw new RpcError("method-not-found");
    const read = (): Parameters => parametersFromJson(method.parameters, request.params);
    const parameters = readParameters(read, invalidParams, "json");
    return resultResponse(request.id, await method.call(parameters, context, signal));
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return errorResponse(request.id, error);
  }
}
