import type { ProofSpec } from "./proof-spec.ts";
import type { ExistenceProof, InnerOp } from "./proof-types.ts";

/** Whether the path starts at the left-most leaf of the tree (ics23 `IsLeftMost`). */
export function isLeftMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "left");
}

/** Whether the path starts at the right-most leaf of the tree (ics23 `IsRightMost`). */
export function isRightMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "right");
}

/**
 * Whether no leaf lies between `left` and `right` (ics23 `IsLeftNeighbor`). Both paths meet at some node. Above it they
 * must be equal. At it, `left` must come from the left child and `right` from the right child. Below it, `left` must
 * start at the right-most leaf of its subtree, and `right` at the left-most leaf of its subtree.
 *
 * Returns false if one path is the end of the other. Go panics then.
 */
export function areNeighbours(left: ExistenceProof, right: ExistenceProof, spec: ProofSpec): boolean {
  let shared = 0;
  let leftTop = left.path.at(-1);
  let rightTop = right.path.at(-1);
  while (leftTop !== undefined && rightTop !== undefined && sameStep(leftTop, rightTop)) {
    shared += 1;
    leftTop = left.path.at(-1 - shared);
    rightTop = right.path.at(-1 - shared);
  }
  if (leftTop === undefined || rightTop === undefined) return false;
  return (
    sideOf(leftTop, spec) === "left" &&
    sideOf(rightTop, spec) === "right" &&
    isRightMost(left.path.slice(0, -1 - shared), spec) &&
    isLeftMost(right.path.slice(0, -1 - shared), spec)
  );
}

/**
 * Returns the side of the child, according to the lengths of prefix and suffix. Returns undefined if they fit no side.
 */
function sideOf(step: InnerOp, spec: ProofSpec): "left" | "right" | undefined {
  const prefix = step.prefixEnd - step.prefixStart;
  const suffix = step.suffixEnd - step.suffixStart;
  if (suffix === spec.childSize) {
    return prefix >= spec.minPrefix && prefix <= spec.maxPrefix ? "left" : undefined;
  }
  const sibling = prefix - spec.childSize;
  return suffix === 0 && sibling >= spec.minPrefix && sibling <= spec.maxPrefix ? "right" : undefined;
}

function sameStep(a: InnerOp, b: InnerOp): boolean {
  // Paths from one cache share their upper steps.
  if (a === b) return true;
  return (
    a.bytes.compare(b.bytes, b.prefixStart, b.prefixEnd, a.prefixStart, a.prefixEnd) === 0 &&
    a.bytes.compare(b.bytes, b.suffixStart, b.suffixEnd, a.suffixStart, a.suffixEnd) === 0
  );
}
