import { compareBytes } from "../../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import type { ComputeRoot } from "./conforming-root.ts";
import { areNeighbours, isLeftMost, isRightMost } from "./neighbours.ts";
import type { ProofSpec } from "./proof-spec.ts";
import { type ExistenceProof, type HashText, keyOf, type NonExistenceProof } from "./proof-types.ts";

/**
 * Returns the root of a tree that does not have `key` (ics23 `NonExistenceProof.Verify`). The proof consists of the
 * leaves before and after `key`. Both must have the same root, and no leaf may lie between them. If one is absent, the
 * other must be the first or the last leaf of the tree. The error is Go's text.
 *
 * A leaf with an empty value has no root, because ics23 refuses to hash it. So absence cannot be proven next to such a
 * leaf. An empty tree has no leaf at all.
 */
export function rootWithoutKey(
  proof: NonExistenceProof,
  key: Uint8Array,
  spec: ProofSpec,
  computeRoot: ComputeRoot,
): Result<HashText, string> {
  const { left, right } = proof;
  const leftRoot = left && computeRoot(left, spec);
  if (leftRoot?.ok === false) return bad(`left proof, ${leftRoot.error}`);
  const rightRoot = right && computeRoot(right, spec);
  if (rightRoot?.ok === false) return bad(`right proof, ${rightRoot.error}`);
  const root = leftRoot?.value ?? rightRoot?.value;
  if (root === undefined) return bad("both left and right proofs missing");
  if (rightRoot !== undefined && rightRoot.value !== root) {
    return bad("right proof, calculated root doesn't match provided root");
  }
  const error = checkOrder(left, right, key) ?? checkAdjacent(left, right, spec);
  return error === undefined ? good(root) : bad(error);
}

function checkOrder(
  left: ExistenceProof | undefined,
  right: ExistenceProof | undefined,
  key: Uint8Array,
): string | undefined {
  if (right !== undefined && compareBytes(key, keyOf(right)) >= 0) return "key is not left of right proof";
  if (left !== undefined && compareBytes(key, keyOf(left)) <= 0) return "key is not right of left proof";
  return undefined;
}

function checkAdjacent(
  left: ExistenceProof | undefined,
  right: ExistenceProof | undefined,
  spec: ProofSpec,
): string | undefined {
  if (left !== undefined && right !== undefined) {
    return areNeighbours(left, right, spec) ? undefined : "left and right proofs are not neighbours";
  }
  if (right !== undefined && !isLeftMost(right.path, spec)) {
    return "left proof missing, right proof must be left-most";
  }
  if (left !== undefined && !isRightMost(left.path, spec)) {
    return "right proof missing, left proof must be right-most";
  }
  return undefined;
}
