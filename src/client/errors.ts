import { isAbort } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";

/** What may go wrong between us and a chain. `endpoint` is the endpoint's name, never its URL. */
export type ClientErrorFacts =
  /** no connection, or it broke before the answer was whole */
  | { readonly code: "unreachable"; readonly endpoint: string; readonly reason: string }
  | { readonly code: "timeout"; readonly endpoint: string; readonly method: string; readonly afterMs: number }
  /** a status other than 200 with a body that is no JSON-RPC */
  | { readonly code: "http-status"; readonly endpoint: string; readonly status: number }
  | { readonly code: "too-large"; readonly endpoint: string; readonly limitBytes: number }
  /** the answer is not what the protocol allows; `where` is a path into it */
  | { readonly code: "bad-answer"; readonly endpoint: string; readonly where: string }
  /** more calls are waiting than the client holds */
  | { readonly code: "overloaded"; readonly endpoint: string; readonly limit: number }
  /** JSON-RPC error, `data` is its text */
  | {
      readonly code: "rpc";
      readonly endpoint: string;
      readonly method: string;
      readonly rpcCode: number;
      readonly data: string;
    }
  /** `abci_query` refused by the application */
  | {
      readonly code: "abci";
      readonly path: string;
      readonly abciCode: number;
      readonly codespace: string;
      readonly log: string;
    }
  | {
      readonly code: "wrong-chain";
      readonly endpoint: string;
      readonly expected: string;
      readonly found: string;
    }
  | { readonly code: "no-account"; readonly address: string }
  | {
      readonly code: "gas-price-above-cap";
      readonly denom: string;
      readonly price: string;
      readonly cap: string;
    }
  | { readonly code: "bad-key"; readonly kind: string }
  /** the setting is no http(s) URL */
  | { readonly code: "bad-endpoint"; readonly endpoint: string }
  | { readonly code: "closed" };

/** Every error of the client area. */
export class ClientError extends CodedError<ClientErrorFacts> {}

/** What a caller should do about an error. */
export type ErrorClass = "retry" | "skip" | "fatal" | "aborted";

/**
 * Maps anything thrown by the client to what to do: `retry` may go away by itself, `skip` is the error of this one
 * request, `fatal` needs a person, `aborted` is our own stop.
 */
export function classifyClientError(error: unknown, signal?: AbortSignal): ErrorClass {
  if (signal !== undefined && isAbort(error, signal)) return "aborted";
  if (!(error instanceof ClientError)) return "fatal";
  switch (error.facts.code) {
    case "unreachable":
    case "timeout":
    case "bad-answer":
    case "overloaded":
    case "no-account":
    case "gas-price-above-cap":
      return "retry";
    case "http-status":
      return isTransientStatus(error.facts.status) ? "retry" : "fatal";
    case "rpc":
      return classifyRpc(error.facts.rpcCode, error.facts.data);
    case "abci":
    case "too-large":
      return "skip";
    case "wrong-chain":
    case "bad-key":
    case "bad-endpoint":
      return "fatal";
    case "closed":
      return "aborted";
  }
}

/** JSON-RPC: the arguments do not decode. */
const INVALID_PARAMS = -32602;
/** JSON-RPC: the node does not know the method. */
const METHOD_NOT_FOUND = -32601;

/** Whether this error says something about the endpoint rather than about the question, so that another may answer. */
export function isEndpointError(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return ENDPOINT_ERRORS.has(error.facts.code);
}

const ENDPOINT_ERRORS: ReadonlySet<ClientErrorFacts["code"]> = new Set([
  "unreachable",
  "timeout",
  "http-status",
  "bad-answer",
  "wrong-chain",
] as const);

/** A node that keeps no transaction index cannot confirm anything: a setting, not a moment. */
function classifyRpc(rpcCode: number, data: string): ErrorClass {
  if (data.includes("indexing is disabled")) return "fatal";
  return rpcCode === INVALID_PARAMS || rpcCode === METHOD_NOT_FOUND ? "skip" : "retry";
}

/** 408, 429 and every 5xx heal; others (401, 403, 404) are settings. */
function isTransientStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}
