import { DeadlineError } from "../../base/abort.ts";
import { CodedError, errorText } from "../../base/errors.ts";
import { PrometheusTextError } from "../prometheus/text-parser.ts";

/** Why a source could not be read; `refused` also says that nobody listens there. */
export type SourceFailureCode =
  | "refused"
  | "unreachable"
  | "timeout"
  | "http-status"
  | "too-large"
  | "not-metrics"
  | "not-a-node"
  | "not-prices"
  | "several-chains"
  | "wrong-chain";

/** A source that could not be read, in words for a person. */
export interface SourceFailure {
  readonly code: SourceFailureCode;
  readonly text: string;
}

/** A {@link SourceFailure} on its way up. */
export class SourceError extends CodedError<{ readonly code: SourceFailureCode }> {}

/** Turns whatever a look at a source threw into its error. */
export function toSourceFailure(thrown: unknown): SourceFailure {
  if (thrown instanceof SourceError) return { code: thrown.facts.code, text: thrown.message };
  if (thrown instanceof PrometheusTextError) return { code: "not-metrics", text: thrown.message };
  if (thrown instanceof DeadlineError)
    return { code: "timeout", text: `no complete answer within ${thrown.facts.afterMs} ms` };
  const text = errorText(thrown);
  return isRefusal(thrown)
    ? { code: "refused", text: `nobody listens there (${text})` }
    : { code: "unreachable", text };
}

/** Node reports a refusal on several addresses of one host as an AggregateError with the same code. */
function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return ("code" in thrown && thrown.code === "ECONNREFUSED") || isRefusal(thrown.cause);
}
