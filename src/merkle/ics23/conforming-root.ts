import { bad, good, type Result } from "../../base/result.ts";
import { checkLeaf, checkStep } from "./check-spec.ts";
import { type HashText, sha256Leaf, sha256Step } from "./hashing.ts";
import { MAX_DEPTH, type ProofSpec } from "./proof-spec.ts";
import type { ExistenceProof } from "./proof-types.ts";
import { createRootMemo, type KnownRoot, type RootMemo, type TakenStep } from "./root-memo.ts";

/** The root that a proof leads to, or why it is not as the spec says. */
export type RootFinder = (proof: ExistenceProof, spec: ProofSpec) => Result<HashText, string>;

/**
 * The root that an existence proof leads to, when all its operations are as the spec says and key and value are not empty
 * (ics23 `ExistenceProof.CheckAgainstSpec` and `Calculate` in one pass). The fault is Go's text.
 */
export function conformingRoot(
  proof: ExistenceProof,
  spec: ProofSpec,
  memo?: RootMemo,
): Result<HashText, string> {
  const { leaf, path } = proof;
  if (leaf === undefined) return bad("existence Proof needs defined LeafOp");
  const leafFault = checkLeaf(proof, leaf, spec);
  if (leafFault !== undefined) return bad(`leaf, ${leafFault}`);
  if (path.length > MAX_DEPTH) return bad(`innerOps depth too long: ${path.length}`);
  if (proof.keyStart === proof.keyEnd) return bad("error calculating root, leaf, leaf op needs key");
  if (proof.valueStart === proof.valueEnd) return bad("error calculating root, leaf, leaf op needs value");
  return climb(proof, spec, memo, sha256Leaf(proof, leaf));
}

/** Finds the same roots as `conformingRoot`, faster where proofs share their upper steps; see `RootMemo`. */
export function createRememberingFinder(): RootFinder {
  const memo = createRootMemo();
  return (proof, spec) => conformingRoot(proof, spec, memo);
}

function climb(
  proof: ExistenceProof,
  spec: ProofSpec,
  memo: RootMemo | undefined,
  leafHash: HashText,
): Result<HashText, string> {
  const taken: TakenStep[] = [];
  let hash = leafHash;
  let above: KnownRoot | undefined;
  for (let index = 0; index < proof.path.length; index++) {
    const step = proof.path[index];
    if (step === undefined) break;
    above = memo?.find(proof, index, hash);
    if (above !== undefined) break;
    const height = checkStep(proof, step, index + 1, spec);
    if (typeof height === "string") return bad(`inner, ${height}`);
    taken.push({ child: hash, height });
    hash = sha256Step(proof.bytes, step, hash);
  }
  above ??= { root: hash, highestLayer: Number.POSITIVE_INFINITY };
  memo?.keep(proof, taken, above);
  return good(above.root);
}
