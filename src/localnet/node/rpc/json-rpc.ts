import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import { goKind } from "../base/go-decoding.ts";
import { BLOCK_METHODS, CHAIN_METHODS, TX_METHODS } from "./node-methods.ts";
import * as rpc from "./method.ts";

/** Methods available over all transports (POST, URI and WebSocket), keyed by name. */
export const RPC_METHODS: ReadonlyMap<string, rpc.RpcMethod> = new Map(
  Object.entries({ ...BLOCK_METHODS, ...CHAIN_METHODS, ...TX_METHODS }),
);

/** Methods available only over WebSocket, with their parameter names. */
export const WEBSOCKET_METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ["subscribe", ["query"]],
  ["unsubscribe", ["query"]],
  ["unsubscribe_all", []],
]);

/** Inexpensive methods that bypass the node's queue, so that a busy node can still be monitored. */
const CHEAP_METHODS: ReadonlySet<string> = new Set([
  "health",
  "status",
  "net_info",
  "abci_info",
  "consensus_state",
  "num_unconfirmed_txs",
]);

/**
 * The only RPC method that waits for a block. Calls of this method bypass the queue, so that they do not block other requests while
 * they wait.
 */
const WAITING_METHOD = "broadcast_tx_commit";

export function waitsForBlock(method: string): boolean {
  return method === WAITING_METHOD;
}

export function isQueued(method: string): boolean {
  return !CHEAP_METHODS.has(method) && !waitsForBlock(method);
}

/** Returns a `CallTurn` for a call that bypasses the queue. The turn's `pause` resolves without waiting. */
export function turnOf(signal: AbortSignal): rpc.CallTurn {
  return { signal, pause: () => Promise.resolve() };
}

/** A JSON-RPC request's id, which the response repeats. */
export type RpcId = string | number;

/** Request id in responses to URI calls, as in CometBFT. */
export const URI_CALL_ID = -1;

/** A JSON-RPC request. A request without an id is a notification, which gets no response. */
export interface RpcRequest {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** Reads a request like CometBFT, ignoring the `jsonrpc` version and unknown fields. Throws Go's error if a field has the wrong type. */
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
  // Truncate the id like CometBFT, which decodes a number as float64 and stores it as int, so 1.9 becomes 1.
  if (typeof id === "number") return Math.trunc(id);
  if (typeof id === "string") return id;
  throw new Error(`JSON-RPC ID (${JSON.stringify(id)}) is of unknown type (${goKind(id)})`);
}

export function resultResponse(id: RpcId, result: JsonValue | rpc.JsonText): string {
  if (!(result instanceof rpc.JsonText)) return JSON.stringify({ jsonrpc: "2.0", id, result });
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.text}}`;
}

/** Formats a JSON-RPC error response. As in CometBFT, the response has no `id` if the request's id cannot be read. */
export function errorResponse(id: RpcId | undefined, error: rpc.RpcError): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    error: rpc.rpcErrorToJson(error),
  });
}

/** Runs `read`, and converts any error to an `RpcError` of the given kind, with CometBFT's message. */
export function readParameters<T>(
  read: () => T,
  kind: "invalid-params" | "internal",
  source: "json" | "http",
): T {
  try {
    return read();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new rpc.RpcError(kind, `error converting ${source} params to arguments: ${text}`);
  }
}

/**
 * Calls the method in a JSON-RPC request and returns the formatted response. Rejects only if the node has a bug.
 * `invalidParams` is the error kind for parameters that cannot be read, because CometBFT reports -32602 over POST and -32603 over
 * WebSocket.
 */
export async function handleRequest(
  request: RpcRequest & { readonly id: RpcId },
  context: rpc.RpcContext,
  turn: rpc.CallTurn,
  invalidParams: "invalid-params" | "internal" = "invalid-params",
): Promise<string> {
  try {
    const method = RPC_METHODS.get(request.method);
    if (method === undefined) throw new rpc.RpcError("method-not-found");
    const read = () => rpc.parametersFromJson(method.parameters, request.params);
    const parameters = readParameters(read, invalidParams, "json");
    return resultResponse(request.id, await method.call(parameters, context, turn));
  } catch (thrown) {
    return errorResponse(request.id, rpc.toRpcError(thrown));
  }
}
