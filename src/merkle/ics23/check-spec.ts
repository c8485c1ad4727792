import { readIavlNumbers } from "./iavl-numbers.ts";
import type { ExistenceProof, InnerOp, LeafOp } from "./proof-types.ts";
import { NO_HASH, type ProofSpec, SHA256, VAR_PROTO } from "./proof-spec.ts";

/** Bytes that may follow the three numbers of an IAVL inner prefix: a length, or a length, a sibling's hash and a length. */
const IAVL_TAILS: readonly number[] = [1, 34];

/** Why a leaf operation is not as the spec says, or undefined (ics23 `LeafOp.CheckAgainstSpec`). */
export function checkLeaf(proof: ExistenceProof, leaf: LeafOp, spec: ProofSpec): string | undefined {
  if (spec.name === "iavl") {
    const numbers = readIavlNumbers(proof.bytes, leaf.prefixStart, leaf.prefixEnd);
    if (typeof numbers === "string") return numbers;
    if (numbers.end !== leaf.prefixEnd) return "invalid op";
  }
  if (leaf.hash !== SHA256) return `unexpected HashOp: ${leaf.hash}`;
  if (leaf.prehashKey !== NO_HASH) return `unexpected PrehashKey: ${leaf.prehashKey}`;
  if (leaf.prehashValue !== SHA256) return `unexpected PrehashValue: ${leaf.prehashValue}`;
  if (leaf.length !== VAR_PROTO) return `unexpected LengthOp: ${leaf.length}`;
  if (!startsWithZero(proof.bytes, leaf)) return "leaf Prefix doesn't start with 00";
  return undefined;
}

/**
 * The height that an IAVL inner prefix names, Infinity where the spec has none, or why the operation is not as the spec
 * says (ics23 `InnerOp.CheckAgainstSpec`). `layer` counts from 1 at the leaf's parent; a node is at least that high.
 */
export function checkStep(step: InnerOp, layer: number, spec: ProofSpec): number | string {
  if (step.hash !== SHA256) return `unexpected HashOp: ${step.hash}`;
  let height = Number.POSITIVE_INFINITY;
  if (spec.name === "iavl") {
    const numbers = readIavlNumbers(step.bytes, step.prefixStart, step.prefixEnd);
    if (typeof numbers === "string") return numbers;
    if (numbers.height < layer) return "wrong value in IAVL leaf op";
    if (!IAVL_TAILS.includes(step.prefixEnd - numbers.end)) return "invalid op";
    height = numbers.height;
  }
  return checkPadding(step, spec) ?? height;
}

function checkPadding(step: InnerOp, spec: ProofSpec): string | undefined {
  const length = step.prefixEnd - step.prefixStart;
  if (startsWithZero(step.bytes, step)) return "inner Prefix starts with 00";
  if (length < spec.minPrefix) return `innerOp prefix too short (${length})`;
  if (length > spec.maxPrefix + spec.childSize) return `innerOp prefix too long (${length})`;
  if ((step.suffixEnd - step.suffixStart) % spec.childSize !== 0) return "InnerOp suffix malformed";
  return undefined;
}

function startsWithZero(
  bytes: Uint8Array,
  op: { readonly prefixStart: number; readonly prefixEnd: number },
): boolean {
  return op.prefixEnd > op.prefixStart && bytes[op.prefixStart] === 0;
}
