import { isRecord, JsonField, parseJson } from "../../platform/base/json.ts";
import { decodeBlock } from "../comet/rpc-blocks.ts";
import type { NodeStatus } from "./chain-client.ts";
import { ClientError } from "../client-error.ts";

export interface RpcFailure {
  readonly rpcCode: number;
  readonly message: string;
  readonly data: string;
}

/** A validated JSON-RPC 2.0 response. The id is null or -1 if the node could not read the request's id. */
export type RpcResponse = { readonly id: number | string | null } & (
  | { readonly result: unknown }
  | RpcFailure
);

/**
 * Parses the body of a JSON-RPC response: one object, or an array for a batch. Throws `bad-answer` for any other body, e.g. an
 * empty body or an HTML page.
 */
export function parseRpcResponses(body: string, endpoint: string): readonly RpcResponse[] {
  const value = parseJson(body);
  if (value === undefined) throw badResponse(endpoint, "body", "is not JSON");
  if (!Array.isArray(value)) return [parseRpcResponse(value, endpoint)];
  return value.map((entry: unknown) => parseRpcResponse(entry, endpoint));
}

/** Checks one JSON-RPC response. Throws `bad-answer` if the value is not an object with `result` or `error`. */
export function parseRpcResponse(value: unknown, endpoint: string): RpcResponse {
  if (!isRecord(value)) throw badResponse(endpoint, "response", "is not an object");
  const id = value["id"] ?? null;
  if (typeof id !== "number" && typeof id !== "string" && id !== null)
    throw badResponse(endpoint, "response.id", "is not a number, a string or null");
  const error = value["error"];
  if (error !== undefined && error !== null) return { id, ...parseRpcError(error, endpoint) };
  if (!("result" in value)) throw badResponse(endpoint, "response", "has neither result nor error");
  return { id, result: value["result"] };
}

/** Maximum number of characters of error text in errors and logs, because a node can send a stack trace of any length. */
const MAX_ERROR_TEXT = 8_192;

function parseRpcError(error: unknown, endpoint: string): RpcFailure {
  if (!isRecord(error) || typeof error["code"] !== "number")
    throw badResponse(endpoint, "response.error", "has no numeric code");
  const { code, message, data } = error;
  return {
    rpcCode: code,
    message: typeof message === "string" ? message.slice(0, MAX_ERROR_TEXT) : "",
    data: typeof data === "string" ? data.slice(0, MAX_ERROR_TEXT) : "",
  };
}

/** Wraps a call's result in a field with the path `path`. The field's methods throw `bad-answer` if a value has the wrong type. */
export function resultField(value: unknown, path: string, endpoint: string): JsonField {
  return new JsonField(value, path, (where, expected) => badResponse(endpoint, where, `is not ${expected}`));
}

/** Creates a `bad-answer` error. The error message contains the path, but never the value, because a proxy's page may contain secrets. */
export function badResponse(endpoint: string, where: string, problem: string): ClientError {
  return new ClientError({ code: "bad-answer", endpoint, where }, `${endpoint}: ${where} ${problem}`);
}

/** Creates the `wrong-answer` error for a provably wrong response, after which reads prefer other endpoints. */
export function wrongResponse(endpoint: string, where: string, problem: string): ClientError {
  return new ClientError({ code: "wrong-answer", endpoint, where }, `${endpoint}: ${where} ${problem}`);
}

/** Decodes the transactions in a `block` result. Throws `wrong-answer` if they do not match the block's header. */
export function decodeTxsOfBlock(root: JsonField, endpoint: string): readonly Uint8Array[] {
  const { txs, isOfHeader } = decodeBlock(root);
  if (!isOfHeader) throw wrongResponse(endpoint, root.path, "has transactions that do not match its header");
  return txs;
}

export function decodeStatus(result: unknown, endpoint: string): NodeStatus {
  const root = resultField(result, "status", endpoint);
  const network = root.member("node_info").member("network");
  if (network.asText() === "") throw network.error(network.path, "a chain id");
  const sync = root.member("sync_info");
  const version = root.member("node_info").member("version").value;
  return {
    ...(typeof version === "string" && /^[\w.+-]{1,40}$/.test(version) ? { version } : {}),
    chainId: network.asText(),
    latestHeight: sync.member("latest_block_height").asHeight(),
    latestTimeNs: sync.member("latest_block_time").asTimeNs(),
    earliestHeight: sync.member("earliest_block_height").asHeight(),
    catchingUp: sync.member("catching_up").asBoolean(),
  };
}
