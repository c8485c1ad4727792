/**
 * Why a proof does not show what it should.
 *
 * - `malformed-proof`, `no-proof`, `no-root`, `wrong-number-of-proofs`: it cannot be looked at;
 * - `wrong-kind`: it shows presence where absence was asked, or the other way round;
 * - `empty-value`: the key is there with an empty value, which ICS-23 cannot prove;
 * - `empty-neighbour`: the key is absent, but beside it is an empty value, which ICS-23 cannot prove;
 * - `empty-tree`: the key is absent, as is every other, which ICS-23 cannot prove;
 * - `not-member`, `not-absent`: the claim does not follow from the proof;
 * - `wrong-root`: it holds for another root.
 */
export type ProofFailureCode =
  | "malformed-proof"
  | "no-proof"
  | "no-root"
  | "wrong-number-of-proofs"
  | "wrong-kind"
  | "empty-value"
  | "empty-neighbour"
  | "empty-tree"
  | "not-member"
  | "not-absent"
  | "wrong-root";

/** The code, and the text that ibc-go v8 gives, which a chain puts in its own errors. `detail` is what lies behind it. */
export interface ProofFailure {
  readonly code: ProofFailureCode;
  readonly text: string;
  readonly detail?: string;
}

/** Wraps a text as Go does for `ErrInvalidProof`. */
export function invalidProof(code: ProofFailureCode, text: string, detail?: string): ProofFailure {
  const error = { code, text: `${text}: invalid proof` };
  return detail === undefined ? error : { ...error, detail };
}

/** Wraps a text as Go does for `ErrInvalidMerkleProof`. */
export function invalidMerkleProof(code: ProofFailureCode, text: string): ProofFailure {
  return { code, text: `${text}: invalid merkle proof` };
}
