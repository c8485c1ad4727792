import { CodedError } from "../../platform/base/errors.ts";

/** Codes and facts of {@link ClientError}. `endpoint` is the endpoint's name, never its URL. */
export type ClientErrorFacts =
  /** no connection, or the connection broke before the response was complete; `reason` is a code such as ECONNREFUSED */
  | {
      readonly code: "unreachable";
      readonly endpoint: string;
      readonly reason: string;
      readonly method?: string;
    }
  | { readonly code: "timeout"; readonly endpoint: string; readonly method: string; readonly afterMs: number }
  /** a status other than 200 with a body that is not JSON-RPC */
  | {
      readonly code: "http-status";
      readonly endpoint: string;
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
      readonly method?: string;
    }
  /** the response exceeds the transport's limit */
  | { readonly code: "too-large"; readonly endpoint: string; readonly limitBytes: number }
  /** the request exceeds the node's limit; CometBFT's `max_body_bytes` is 1,000,000 by default */
  | { readonly code: "request-too-large"; readonly endpoint: string }
  /** the response violates the protocol; `where` is the path of the wrong field */
  | {
      readonly code: "bad-answer";
      readonly endpoint: string;
      readonly where: string;
      readonly method?: string;
    }
  /** the response is proven to be wrong: it does not match a header */
  | { readonly code: "wrong-answer"; readonly endpoint: string; readonly where: string }
  /** the node does not have this height: it is behind, or has pruned it; another node may have it */
  | { readonly code: "height-unavailable"; readonly endpoint: string; readonly height: bigint }
  /** too many pending calls */
  | { readonly code: "overloaded"; readonly endpoint: string; readonly limit: number }
  /** the node, or a gateway, responded with a JSON-RPC error; `data` is its detail text */
  | {
      readonly code: "rpc";
      readonly endpoint: string;
      readonly method: string;
      readonly rpcCode: number;
      readonly data: string;
      readonly message?: string;
      /** The HTTP status; absent: 200, or a frame of a WebSocket. */
      readonly status?: number;
      readonly retryAfterMs?: number | undefined;
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

/** Creates the error of a keyring and its keys. The reason contains no part of a key. */
export function badKeyring(reason: string): ClientError {
  return new ClientError({ code: "bad-key", kind: "keyring" }, `keyring: ${reason}`);
}
