import { isAbort } from "../../platform/base/abort.ts";
import { CodedError } from "../../platform/base/errors.ts";

/** Codes and facts of {@link ClientError}. `endpoint` is the endpoint's name, never its URL. */
export type ClientErrorFacts =
  /** no connection, or the connection broke before the response was complete; `reason` is a code such as ECONNREFUSED */
  | { readonly code: "unreachable"; readonly endpoint: string; readonly reason: string }
  | { readonly code: "timeout"; readonly endpoint: string; readonly method: string; readonly afterMs: number }
  /** a status other than 200 with a body that is not JSON-RPC */
  | { readonly code: "http-status"; readonly endpoint: string; readonly status: number }
  /** the response exceeds the transport's limit */
  | { readonly code: "too-large"; readonly endpoint: string; readonly limitBytes: number }
  /** the request exceeds the node's limit; CometBFT's `max_body_bytes` is 1,000,000 by default */
  | { readonly code: "request-too-large"; readonly endpoint: string }
  /** the response violates the protocol; `where` is the path of the wrong field */
  | { readonly code: "bad-answer"; readonly endpoint: string; readonly where: string }
  /** the node does not have this height: it is behind, or has pruned it; another node may have it */
  | { readonly code: "height-unavailable"; readonly endpoint: string; readonly height: bigint }
  /** too many pending calls */
  | { readonly code: "overloaded"; readonly endpoint: string; readonly limit: number }
  /** the node responded with a JSON-RPC error; `data` is its detail text */
  | {
      readonly code: "rpc";
      readonly endpoint: string;
      readonly method: string;
      readonly rpcCode: number;
      readonly data: string;
    }
  /** the application refused an `abci_query` */
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
  /** the external program that signs failed; `program` is its name without folder and arguments */
  | { readonly code: "signer"; readonly program: string }
  /** the configured URL is not an http(s) URL */
  | { readonly code: "bad-endpoint"; readonly endpoint: string }
  | { readonly code: "closed" };

/** Thrown by everything in `src/cosmos/client`. */
export class ClientError extends CodedError<ClientErrorFacts> {}

/**
 * How a caller should handle an error: `retry` later, `skip` this one request, `fatal` needs an operator, `aborted`
 * means that we stop ourselves.
 */
export type ErrorClass = "retry" | "skip" | "fatal" | "aborted";

/** Classifies an error that the client threw. An error that is not a `ClientError` is a bug and therefore fatal. */
export function classifyClientError(error: unknown, signal?: AbortSignal): ErrorClass {
  if (signal !== undefined && isAbort(error, signal)) return "aborted";
  if (!(error instanceof ClientError)) return "fatal";
  switch (error.facts.code) {
    case "unreachable":
    case "timeout":
    case "bad-answer":
    case "height-unavailable":
    case "overloaded":
    case "no-account":
    case "gas-price-above-cap":
    case "signer":
      return "retry";
    case "http-status":
      return isTransientStatus(error.facts.status) ? "retry" : "fatal";
    case "rpc":
      return classifyRpc(error.facts.rpcCode, error.facts.data);
    case "abci":
    case "too-large":
    case "request-too-large":
      return "skip";
    case "wrong-chain":
    case "bad-key":
    case "bad-endpoint":
      return "fatal";
    case "closed":
      return "aborted";
  }
}

/** JSON-RPC error code: the node cannot decode the arguments. */
const INVALID_PARAMS = -32602;
/** JSON-RPC error code: the node does not know the method. */
const METHOD_NOT_FOUND = -32601;

/** Returns whether the error concerns the endpoint rather than the request, so that another endpoint may succeed. */
export function isEndpointError(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return ENDPOINT_ERRORS.has(error.facts.code);
}

/** CometBFT's texts for a height that the node has not reached, or has pruned. */
const NO_SUCH_HEIGHT = /must be less than or equal to the current blockchain height|lowest height is/;

/** Returns whether the node does not have the requested height. Another node may have it. */
export function isHeightUnavailable(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  const { facts } = error;
  return facts.code === "height-unavailable" || (facts.code === "rpc" && NO_SUCH_HEIGHT.test(facts.data));
}

const ENDPOINT_ERRORS: ReadonlySet<ClientErrorFacts["code"]> = new Set([
  "unreachable",
  "timeout",
  "http-status",
  "bad-answer",
  "wrong-chain",
] as const);

function classifyRpc(rpcCode: number, data: string): ErrorClass {
  // The node runs without a transaction index, so it can never confirm a transaction. Its operator must change that.
  if (data.includes("indexing is disabled")) return "fatal";
  return rpcCode === INVALID_PARAMS || rpcCode === METHOD_NOT_FOUND ? "skip" : "retry";
}

/** Returns whether a later attempt may succeed: 408, 429 and 5xx. Other statuses (401, 403, 404) point to a wrong setting. */
function isTransientStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** Creates the error of a keyring and its keys. The reason contains no part of a key. */
export function badKeyring(reason: string): ClientError {
  return new ClientError({ code: "bad-key", kind: "keyring" }, `keyring: ${reason}`);
}
