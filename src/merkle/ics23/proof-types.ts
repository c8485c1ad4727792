import type { Buffer } from "node:buffer";
import type { HashText } from "./hash-text.ts";

/*
 * Decoded proofs hold positions in the encoded bytes instead of copies: taking a view costs more than hashing it.
 * A field that is absent is an empty range.
 */

/** `cosmos.ics23.v1.LeafOp`. Operations are the numbers of the enums `HashOp` and `LengthOp`. */
export interface LeafOp {
  readonly hash: number;
  readonly prehashKey: number;
  readonly prehashValue: number;
  readonly length: number;
  readonly prefixStart: number;
  readonly prefixEnd: number;
}

/**
 * `cosmos.ics23.v1.InnerOp`. Positions are those in `bytes`: the proof's own, or those of a proof with the same steps.
 * `start` is where its field begins.
 */
export interface InnerOp {
  readonly bytes: Buffer;
  readonly start: number;
  readonly hash: number;
  readonly prefixStart: number;
  readonly prefixEnd: number;
  readonly suffixStart: number;
  readonly suffixEnd: number;
}

/** `cosmos.ics23.v1.ExistenceProof`: path operations go from the leaf to the root. */
export interface ExistenceProof {
  readonly bytes: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly leaf: LeafOp | undefined;
  readonly path: readonly InnerOp[];
  /** Where its message ends. */
  readonly end: number;
  /** The root that it leads to by the IAVL spec, when that was found while it was read; see `PathClimber`. */
  readonly iavlRoot: HashText | undefined;
}

/** `cosmos.ics23.v1.NonExistenceProof`. Its own key is not kept: nothing may depend on it. */
export interface NonExistenceProof {
  readonly left: ExistenceProof | undefined;
  readonly right: ExistenceProof | undefined;
}

/** `cosmos.ics23.v1.CommitmentProof`. Batches are recognized, but no chain verifies them in this place. */
export type CommitmentProof =
  | { readonly kind: "exist"; readonly exist: ExistenceProof }
  | { readonly kind: "nonexist"; readonly nonexist: NonExistenceProof }
  | { readonly kind: "batch" | "compressed" };

/** The proofs of a value, from the tree that has it up to the tree whose root is the app hash. */
export type MerkleProof = readonly CommitmentProof[];

/** Bytes of a range, in the proof's own memory. */
export function rangeOf(proof: ExistenceProof, start: number, end: number): Buffer {
  return proof.bytes.subarray(start, end);
}

/** The key that an existence proof speaks of, in the proof's own memory. */
export function keyOf(proof: ExistenceProof): Buffer {
  return rangeOf(proof, proof.keyStart, proof.keyEnd);
}
