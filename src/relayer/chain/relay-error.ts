import type { BackoffOptions } from "../../platform/base/waits.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { readAnswer } from "../../cosmos/client/answers.ts";

/** Errors that affect a connection or the whole relayer. A single query's error is a `QueryFailure`. */
export type RelayErrorFacts =
  | { readonly code: "state-unusable"; readonly stateDir: string }
  /** Another process uses the state directory. `pid` is undefined if the process id cannot be read. */
  | { readonly code: "state-in-use"; readonly stateDir: string; readonly pid: number | undefined }
  /** The Go relayer's LevelDB cannot be read (`from-leveldb`). */
  | { readonly code: "storage-unreadable"; readonly directory: string }
  | { readonly code: "too-many-pages"; readonly pages: number }
  /** Every endpoint's transaction index lacks transactions from the searched blocks. */
  | { readonly code: "index-incomplete" }
  | {
      readonly code: "wrong-chain";
      readonly connectionId: string;
      readonly expected: string;
      readonly found: string;
    }
  | { readonly code: "client-not-active"; readonly clientId: string; readonly status: string }
  /** The validators that signed block `to` have too little of the voting power trusted at `from`. */
  | {
      readonly code: "validators-changed";
      readonly clientId: string;
      readonly from: bigint;
      readonly to: bigint;
    }
  | { readonly code: "remote-behind"; readonly chainId: string; readonly height: bigint }
  /** An endpoint returns contradictory data about one block. */
  | { readonly code: "bad-block"; readonly height: bigint }
  | { readonly code: "header-refused"; readonly connectionId: string }
  /** The node rejects the transaction in CheckTx, e.g. because the account has no funds. */
  | { readonly code: "transaction-refused"; readonly connectionId: string }
  | { readonly code: "transaction-lost"; readonly connectionId: string };

/** An error that ends a connection's cycle, which is then retried. "state-unusable" and "state-in-use" end the daemon at startup. */
export class RelayError extends CodedError<RelayErrorFacts> {}

const ERROR_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 15_000 };

/**
 * Backoff while none of a chain's endpoints is usable. A short backoff lets the relayer resume within seconds even after a long
 * outage. One call every two seconds puts little load on an endpoint.
 */
const ENDPOINT_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 2_000 };

/** Returns the backoff after a local chain error or a connection error. */
export function errorBackoff(error: unknown): BackoffOptions {
  const { class: answer, retryAfterMs } = readAnswer(error);
  if (retryAfterMs !== undefined) return { minMs: retryAfterMs, baseMs: retryAfterMs, maxMs: retryAfterMs };
  return answer === "not-now" ? ENDPOINT_BACKOFF : ERROR_BACKOFF;
}

/** Returns a key that is the same for every repetition of an error: the error's code or, without a code, the error's text. */
export function errorKind(error: unknown): string {
  // Prefer the code, because the text contains heights and durations, which differ between attempts.
  return error instanceof CodedError ? error.facts.code : errorText(error);
}
