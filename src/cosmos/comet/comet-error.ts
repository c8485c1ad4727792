import { CodedError } from "../../platform/base/errors.ts";

export type CometErrorFacts =
  | { readonly code: "malformed"; readonly what: string }
  | { readonly code: "old-header-expired" }
  | { readonly code: "invalid-header" }
  | { readonly code: "untrusted-validators" }
  | { readonly code: "not-enough-power"; readonly got: bigint; readonly needed: bigint }
  | { readonly code: "bad-commit" }
  | { readonly code: "wrong-signature"; readonly index: number };

/**
 * Thrown for an invalid block, commit or validator set. The message is the same as in CometBFT, so that users can find it in a
 * chain's logs.
 */
export class CometError extends CodedError<CometErrorFacts> {}

/** Creates a {@link CometError} with the code "malformed". `what` names the malformed part or field, e.g. "block id". */
export function malformed(what: string, message: string): CometError {
  return new CometError({ code: "malformed", what }, message);
}

/** Runs `check` and adds `context` to the message of a {@link CometError}, like Go's `fmt.Errorf("context: %w", err)`. */
export function inContext<T>(context: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CometError) throw new CometError(error.facts, `${context}: ${error.message}`);
    throw error;
  }
}
