import type { ProofSpec } from "./proof-spec.ts";
import type { ExistenceProof, InnerOp } from "./proof-types.ts";

/** Whether the path leads up from the left-most leaf of the tree (ics23 `IsLeftMost`). */
export function isLeftMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "left");
}

/** Whether the path leads up from the right-most leaf of the tree (ics23 `IsRightMost`). */
export function isRightMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "right");
}

/**
 * Whether no leaf lies between the two (ics23 `IsLeftNeighbor`): above some node the paths are the same; in that node
 * they come from its left and its right child; below it, one comes from the right-most and the other from the left-most
 * leaf. Where Go panics, because one path is a part of the other, the answer is no.
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

/** From which side a step comes, seen from its padding; undefined for a padding that no child has. */
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
  if (a === b) return true;
  return (
    a.bytes.compare(b.bytes, b.prefixStart, b.prefixEnd, a.prefixStart, a.prefixEnd) === 0 &&
    a.bytes.compare(b.bytes, b.suffixStart, b.suffixEnd, a.suffixStart, a.suffixEnd) === 0
  );
}
