import { CodedError } from "../platform/base/errors.ts";

/** An error code, with the structured data of errors that have this code. */
type Of<Code extends string, Facts = unknown> = Readonly<{ code: Code } & Facts>;
/** An error of one endpoint. The error contains the endpoint's name instead of its URL, because the URL may contain a secret. */
type At<Code extends string, Facts = unknown> = Of<Code, { endpoint: string } & Facts>;

export type ClientErrorFacts =
  /** The connection failed or broke before the response was complete. `reason` is a code such as ECONNREFUSED. */
  | At<"unreachable", { reason: string; method?: string }>
  | At<"timeout", { method: string; afterMs: number }>
  /** The response has an HTTP status other than 200, and its body is not JSON-RPC. */
  | At<"http-status", { status: number; retryAfterMs?: number | undefined; method?: string }>
  /** The response exceeds the transport's size limit. */
  | At<"too-large", { limitBytes: number }>
  /** The response violates the protocol. `where` is the path of the invalid field. */
  | At<"bad-answer", { where: string; method?: string }>
  /** The response is provably wrong, because it does not match a header. */
  | At<"wrong-answer", { where: string }>
  /** The node does not have this height, because the node is behind or has pruned it. Another node may have data for it. */
  | At<"height-unavailable", { height: bigint }>
  /** The client has too many pending calls. */
  | At<"overloaded", { limit: number }>
  /**
   * The node or a gateway returned a JSON-RPC error. `data` is the error's detail text. `status` is not set if the HTTP status was
   * 200 or the error came over WebSocket.
   */
  | At<"rpc", RpcFacts>
  /** The application refused an `abci_query` for the reason in `log`. */
  | Of<"abci", { path: string; abciCode: number; codespace: string; log: string }>
  | At<"wrong-chain", { expected: string; found: string }>
  | Of<"no-account", { address: string }>
  | Of<"gas-price-above-cap", { denom: string; price: string; cap: string }>
  | Of<"bad-key", { kind: string }>
  /** The external signer program failed. `program` is the program's name without folder and arguments. */
  | Of<"signer", { program: string }>
  /** The configured URL is not an http(s) URL. */
  | At<"bad-endpoint">
  | Of<"closed">;

interface RpcFacts {
  method: string;
  rpcCode: number;
  data: string;
  message?: string;
  status?: number;
  retryAfterMs?: number | undefined;
}

/** Thrown by `src/cosmos/client` and `src/cosmos/keyring`. */
export class ClientError extends CodedError<ClientErrorFacts> {}

/** Creates the error for an endpoint that does not have a block or its state. */
export function heightUnavailable(endpoint: string, height: bigint, text: string): ClientError {
  return new ClientError({ code: "height-unavailable", endpoint, height }, `${endpoint} ${text}`);
}

/** Throws `wrong-chain` if an endpoint serves a chain other than `expected`. If `expected` is undefined, any chain is accepted. */
export function requireChain(endpoint: string, expected: string | undefined, found: string): void {
  if (expected === undefined || found === expected) return;
  throw new ClientError(
    { code: "wrong-chain", endpoint, expected, found },
    `${endpoint} serves chain ${found}, expected ${expected}; check the endpoint or the chain id in the configuration`,
  );
}

/** Creates the error for a call that cannot be sent, because the client is closed or has no endpoints. */
export function closedError(text = "the client is closed"): ClientError {
  return new ClientError({ code: "closed" }, text);
}

/** Creates the error for an invalid keyring or key. The reason contains no part of a key. */
export function badKeyring(reason: string): ClientError {
  return new ClientError({ code: "bad-key", kind: "keyring" }, `keyring: ${reason}`);
}

/** Returns the application's log if the application refused a query, and undefined for any other error. */
export function refusalLog(error: unknown): string | undefined {
  return error instanceof ClientError && error.facts.code === "abci" ? error.facts.log : undefined;
}
