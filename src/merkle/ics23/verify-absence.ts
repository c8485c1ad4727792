import { compareBytes } from "../../base/bytes.ts";
import { bad, good, type Result } from "../../base/result.ts";
import type { HashText } from "./hash-text.ts";
import type { RootFinder } from "./conforming-root.ts";
import { areNeighbours, isLeftMost, isRightMost } from "./neighbours.ts";
import type { ProofSpec } from "./proof-spec.ts";
import { type ExistenceProof, keyOf, type NonExistenceProof } from "./proof-types.ts";

/**
 * The root of the tree that has no `key`, shown by its neighbours (ics23 `NonExistenceProof.Verify`). Both must be in
 * that tree; a missing one means that the other is the first or last leaf. The error is Go's text.
 */
export function rootWithoutKey(
  proof: NonExistenceProof,
  key: Uint8Array,
  spec: ProofSpec,
  findRoot: RootFinder,
): Result<HashText, string> {
  const { left, right } = proof;
  const leftRoot = left && findRoot(left, spec);
  if (leftRoot?.ok === false) return bad(`left proof, ${leftRoot.error}`);
  const rightRoot = right && findRoot(right, spec);
  if (rightRoot?.ok === false) return bad(`right proof, ${rightRoot.error}`);
  const root = leftRoot?.value ?? rightRoot?.value;
  if (root === undefined) return bad("both left and right proofs missing");
  if (rightRoot !== undefined && rightRoot.value !== root) {
    return bad("right proof, calculated root doesn't match provided root");
  }
  const error = checkPlace(left, right, key) ?? checkAdjacent(left, right, spec);
  return error === undefined ? good(root) : bad(error);
}

function checkPlace(
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
