import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { PrometheusTextError } from "../prometheus/text-parser.ts";

/** Why a scrape failed. `refused`: the host refused the connection, so no process listens on the port. */
export type SourceFailureCode =
  | "refused"
  | "unreachable"
  | "timeout"
  | "http-status"
  | "too-large"
  | "not-metrics"
  | "not-a-node"
  | "not-prices"
  /** the response is not one of a chain's REST */
  | "not-a-chain"
  /** the response is not one of the Prometheus API */
  | "not-prometheus"
  /** Prometheus could not read all of its data */
  | "incomplete"
  /** Prometheus has no recent sample of the target */
  | "stale"
  /** labels select more than one target of Prometheus */
  | "several-targets"
  | "several-chains"
  | "wrong-chain"
  /** a value of the page is outside its range */
  | "bad-value"
  /** two nodes answer at one URL */
  | "two-nodes";

/** A failed scrape. */
export interface SourceFailure {
  readonly code: SourceFailureCode;
  /** Message for people. */
  readonly text: string;
}

/** Thrown by the readers of a source; {@link toSourceFailure} turns it into a {@link SourceFailure}. */
export class SourceError extends CodedError<{ readonly code: SourceFailureCode }> {}

/** Converts anything that a scrape threw. */
export function toSourceFailure(error: unknown): SourceFailure {
  if (error instanceof SourceError) return { code: error.facts.code, text: error.message };
  if (error instanceof PrometheusTextError) return { code: "not-metrics", text: error.message };
  if (error instanceof DeadlineError)
    return { code: "timeout", text: `no complete response within ${error.facts.afterMs} ms` };
  const text = errorText(error);
  return isRefusal(error)
    ? { code: "refused", text: `connection refused (${text})` }
    : { code: "unreachable", text };
}

/** For a host with several addresses Node throws an AggregateError; it has the code of its first error. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusal(error.cause);
}
