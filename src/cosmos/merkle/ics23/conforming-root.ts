import { bad, good, type Result } from "../../../platform/base/errors.ts";
import { checkLeaf, checkStep } from "./check-spec.ts";
import { sha256Leaf, sha256Step } from "./hashing.ts";
import { MAX_DEPTH, type ProofSpec } from "./proof-spec.ts";
import type { ExistenceProof, HashText } from "./proof-types.ts";

/** Computes the root of a proof; see {@link conformingRoot}. */
export type ComputeRoot = (proof: ExistenceProof, spec: ProofSpec) => Result<HashText, string>;

/**
 * Computes the root of an existence proof and checks it against the spec (ics23 `ExistenceProof.CheckAgainstSpec` and
 * `Calculate`, in one pass). Key and value must not be empty. The error is Go's text.
 */
export function conformingRoot(proof: ExistenceProof, spec: ProofSpec): Result<HashText, string> {
  // The decoder followed the path and checked every step.
  if (proof.iavlRoot !== undefined && spec.name === "iavl") return good(proof.iavlRoot);
  const { leaf, path } = proof;
  if (leaf === undefined) return bad("existence Proof needs defined LeafOp");
  const leafError = checkLeaf(proof, leaf, spec);
  if (leafError !== undefined) return bad(`leaf, ${leafError}`);
  if (path.length > MAX_DEPTH) return bad(`innerOps depth too long: ${path.length}`);
  if (proof.keyStart === proof.keyEnd) return bad("error calculating root, leaf, leaf op needs key");
  if (proof.valueStart === proof.valueEnd) return bad("error calculating root, leaf, leaf op needs value");
  let hash = sha256Leaf(proof, leaf);
  for (const [index, step] of path.entries()) {
    const height = checkStep(step, index + 1, spec);
    if (typeof height === "string") return bad(`inner, ${height}`);
    hash = sha256Step(step, hash);
  }
  return good(hash);
}
