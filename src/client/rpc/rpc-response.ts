import { isRecord } from "../../base/json.ts";
import { ClientError } from "../errors.ts";

/** One JSON-RPC answer, checked. `id` is null for an answer that belongs to no request. */
export type RpcAnswer =
  | { readonly id: number | string | null; readonly result: unknown }
  | {
      readonly id: number | string | null;
      readonly rpcCode: number;
      readonly message: string;
      readonly data: string;
    };

/**
 * Parses a JSON-RPC answer body: one answer, or a list for a batch. Throws `bad-answer` for anything else, empty text
 * and HTML included.
 */
export function parseRpcAnswers(body: string, endpoint: string): readonly RpcAnswer[] {
  const value = parseJson(body, endpoint);
  if (!Array.isArray(value)) return [parseRpcAnswer(value, endpoint)];
  return value.map((entry: unknown) => parseRpcAnswer(entry, endpoint));
}

/** Checks one JSON-RPC answer: an object with an id and either `result` or `error`. */
export function parseRpcAnswer(value: unknown, endpoint: string): RpcAnswer {
  if (!isRecord(value)) throw badAnswer(endpoint, "answer", "is no object");
  const id = value["id"] ?? null;
  if (typeof id !== "number" && typeof id !== "string" && id !== null)
    throw badAnswer(endpoint, "answer.id", "is no number, text or null");
  const error = value["error"];
  if (error !== undefined && error !== null) return { id, ...parseRpcError(error, endpoint) };
  if (!("result" in value)) throw badAnswer(endpoint, "answer", "has neither result nor error");
  return { id, result: value["result"] };
}

function parseRpcError(
  error: unknown,
  endpoint: string,
): { readonly rpcCode: number; readonly message: string; readonly data: string } {
  if (!isRecord(error) || typeof error["code"] !== "number")
    throw badAnswer(endpoint, "answer.error", "has no numeric code");
  const { code, message, data } = error;
  return {
    rpcCode: code,
    message: typeof message === "string" ? message : "",
    data: typeof data === "string" ? data : "",
  };
}

/** Names the place, never the content: a wrong answer may be a page with somebody's secrets. */
export function badAnswer(endpoint: string, where: string, what: string): ClientError {
  return new ClientError({ code: "bad-answer", endpoint, where }, `${endpoint}: ${where} ${what}`);
}

function parseJson(body: string, endpoint: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badAnswer(endpoint, "body", "is not JSON");
  }
}
