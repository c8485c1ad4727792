import { CodedError } from "../base/errors.ts";

/** What was wrong with a header, commit or validator set. The message is CometBFT's own text. */
export type CometErrorFacts =
  | { readonly code: "malformed"; readonly what: string }
  | { readonly code: "old-header-expired" }
  | { readonly code: "invalid-header" }
  | { readonly code: "untrusted-validators" }
  | { readonly code: "not-enough-power"; readonly got: bigint; readonly needed: bigint }
  | { readonly code: "bad-commit" }
  | { readonly code: "wrong-signature"; readonly index: number };

/** A block, commit or validator set that does not hold. */
export class CometError extends CodedError<CometErrorFacts> {}

/** A {@link CometError} for bytes or JSON that are not what they should be. */
export function malformed(what: string, message: string): CometError {
  return new CometError({ code: "malformed", what }, message);
}

/** Runs `check`; a {@link CometError} that it throws comes out with `words` put in front, as Go's `fmt.Errorf("words: %w")`. */
export function inContext<T>(words: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CometError) throw new CometError(error.facts, `${words}: ${error.message}`);
    throw error;
  }
}
