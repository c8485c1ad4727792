/**
 * Why a proof was refused.
 *
 * - `malformed-proof`, `no-proof`, `no-root`, `wrong-number-of-proofs`: the arguments cannot be verified;
 * - `wrong-kind`: a proof of existence for a claim of absence, a proof of absence for a claim of existence, or a batch;
 * - `empty-value`: the claimed value is empty;
 * - `empty-neighbour`: the key is absent, but a neighbour has an empty value;
 * - `empty-tree`: the key is absent and the tree is empty;
 * - `not-member`, `not-absent`: the proof does not prove the claim;
 * - `wrong-root`: the proof is valid for another root.
 *
 * ICS-23 cannot prove the three `empty-` cases: ics23 refuses to hash a leaf with an empty value, and a tree without
 * leaves has no path. No node can return a valid proof while the chain is in this state.
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

/**
 * `text` is the error text of ibc-go v8, which a chain includes in its errors. `detail` is the text of the cause in
 * ics23.
 */
export interface ProofFailure {
  readonly code: ProofFailureCode;
  readonly text: string;
  readonly detail?: string;
}

/** Creates a failure with a text that is wrapped as ibc-go's `ErrInvalidProof`. */
export function invalidProof(code: ProofFailureCode, text: string, detail?: string): ProofFailure {
  const failure = { code, text: `${text}: invalid proof` };
  return detail === undefined ? failure : { ...failure, detail };
}

/** Creates a failure with a text that is wrapped as ibc-go's `ErrInvalidMerkleProof`. */
export function invalidMerkleProof(code: ProofFailureCode, text: string): ProofFailure {
  return { code, text: `${text}: invalid merkle proof` };
}
