import { bad, good, type Result } from "../../base/result.ts";
import { checkLeaf, checkStep } from "./check-spec.ts";
import type { HashText } from "./hash-text.ts";
import { sha256Leaf, sha256Step } from "./hashing.ts";
import { MAX_DEPTH, type ProofSpec } from "./proof-spec.ts";
import type { ExistenceProof } from "./proof-types.ts";

/** The root that a proof leads to, or why it is not as the spec says. */
export type RootFinder = (proof: ExistenceProof, spec: ProofSpec) => Result<HashText, string>;

/**
 * The root that an existence proof leads to, when all its operations are as the spec says and key and value are not empty
 * (ics23 `ExistenceProof.CheckAgainstSpec` and `Calculate` in one pass). The error is Go's text.
 */
export function conformingRoot(proof: ExistenceProof, spec: ProofSpec): Result<HashText, string> {
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
