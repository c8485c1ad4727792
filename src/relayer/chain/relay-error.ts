import type { BackoffOptions } from "../../platform/base/waits.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { readAnswer } from "../../cosmos/client/answers.ts";

/** Errors that affect a connection or the whole relayer. Errors of a single query are `QueryFailure`s. */
export type RelayErrorFacts =
  | { readonly code: "state-unusable"; readonly stateDir: string }
  /** another process owns the state directory; `pid` is undefined if it cannot be read */
  | { readonly code: "state-in-use"; readonly stateDir: string; readonly pid: number | undefined }
  /** the Go relayer's storage (`from-leveldb`) */
  | { readonly code: "storage-unreadable"; readonly directory: string }
  | { readonly code: "too-many-pages"; readonly pages: number }
  /** every endpoint's index lacks transactions from the searched blocks */
  | { readonly code: "index-incomplete" }
  | {
      readonly code: "wrong-chain";
      readonly connectionId: string;
      readonly expected: string;
      readonly found: string;
    }
  | { readonly code: "client-not-active"; readonly clientId: string; readonly status: string }
  /** too few of the validators trusted at `from` have signed block `to` */
  | {
      readonly code: "validators-changed";
      readonly clientId: string;
      readonly from: bigint;
      readonly to: bigint;
    }
  | { readonly code: "remote-behind"; readonly chainId: string; readonly height: bigint }
  /** an endpoint returns contradictory data about one block */
  | { readonly code: "bad-block"; readonly height: bigint }
  | { readonly code: "header-refused"; readonly connectionId: string }
  /** the node does not accept the transaction into its mempool, for example because the account has no funds */
  | { readonly code: "transaction-refused"; readonly connectionId: string }
  | { readonly code: "transaction-lost"; readonly connectionId: string };

/** Ends one connection cycle, which is retried after a backoff. "state-unusable" and "state-in-use" end the daemon at startup. */
export class RelayError extends CodedError<RelayErrorFacts> {}

/** Backoff after a local chain or connection error. */
const ERROR_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 15_000 };

/**
 * Backoff while no endpoint of a chain is usable. It stays short however long the outage lasts, so that the relayer resumes
 * within seconds once an endpoint is back. One call every two seconds is cheap for everyone.
 */
const ENDPOINT_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 2_000 };

/** Returns the backoff after a local chain or connection error. */
export function errorBackoff(error: unknown): BackoffOptions {
  const { class: answer, retryAfterMs } = readAnswer(error);
  if (retryAfterMs !== undefined) return { minMs: retryAfterMs, baseMs: retryAfterMs, maxMs: retryAfterMs };
  return answer === "not-now" ? ENDPOINT_BACKOFF : ERROR_BACKOFF;
}

/** Identifies repetitions of the same error. Returns its code, or its text if it has no code. */
export function errorKind(error: unknown): string {
  // Texts hold heights and durations, which differ from try to try.
  return error instanceof CodedError ? error.facts.code : errorText(error);
}
