import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isRecord } from "../../base/json.ts";
import { goKind } from "./go-decoding.ts";
import type { RpcContext, RpcMethod } from "./method.ts";
import { type Parameters, parametersFromJson } from "./parameters.ts";
import { rpcErrorToJson, RpcError, toRpcError } from "./rpc-error.ts";
import { BLOCK_METHODS } from "./methods/blocks.ts";
import { CHAIN_METHODS } from "./methods/chain.ts";
import { TX_METHODS } from "./methods/txs.ts";

/** Methods that every transport answers. */
export const RPC_METHODS: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...BLOCK_METHODS, ...CHAIN_METHODS, ...TX_METHODS }),
);

/** Id of a request, echoed in its answer. */
export type RpcId = string | number;

/** A JSON-RPC request; without an id it is a notification and gets no answer. */
export interface RpcRequest {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** Reads a request as CometBFT does: the version and unknown members do not matter. Throws a plain error with its text. */
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
  if (typeof id === "number") return Math.trunc(id);
  if (typeof id === "string") return id;
  throw new Error(`JSON-RPC ID (${JSON.stringify(id)}) is of unknown type (${goKind(id)})`);
}

/** A good answer. */
export function goodAnswer(id: RpcId, result: JsonValue): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

/** A failed answer. */
export function badAnswer(id: RpcId, error: RpcError): JsonObject {
  return { jsonrpc: "2.0", id, error: rpcErrorToJson(error) };
}

/** Decodes parameters with `read`, or throws the error that CometBFT gives for them. */
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
 * Answers one request over HTTP POST. Rejects only for an error of ours. `invalidParams` is how wrong parameters are
 * reported: CometBFT uses another code on WebSocket.
 */
export async function answerRequest(
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
    return goodAnswer(request.id, await method.call(parameters, context, signal));
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return badAnswer(request.id, error);
  }
}
