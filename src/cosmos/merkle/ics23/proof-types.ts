import type { Buffer } from "node:buffer";

/*
 * Decoded proofs have positions in the encoded bytes instead of copies, because creating a view costs more than hashing
 * its bytes. An absent field is an empty range.
 */

/**
 * A hash as a string with one character per byte ("latin1"). Node returns a digest as a string in a quarter of the time
 * that it needs for a Buffer, and a string can be the key of a `Map`.
 */
export type HashText = string;

/** `cosmos.ics23.v1.LeafOp`. Operations are values of the enums `HashOp` and `LengthOp`. */
export interface LeafOp {
  readonly hash: number;
  readonly prehashKey: number;
  readonly prehashValue: number;
  readonly length: number;
  readonly prefixStart: number;
  readonly prefixEnd: number;
}

/**
 * `cosmos.ics23.v1.InnerOp`. Positions refer to `bytes`, which are the bytes of the proof or the copy of an equal path
 * in a cache. `start` is the position of the field's tag.
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
  /** End of the message in `bytes`. */
  readonly end: number;
  /** The root by the IAVL spec, if the decoder followed the path and all checks passed; see `PathFollower`. */
  readonly iavlRoot: HashText | undefined;
}

/** `cosmos.ics23.v1.NonExistenceProof`. Its key is dropped: as in Go, verification uses only the key of the query. */
export interface NonExistenceProof {
  readonly left: ExistenceProof | undefined;
  readonly right: ExistenceProof | undefined;
}

/** `cosmos.ics23.v1.CommitmentProof`. Batches have no content here, because ibc-go refuses them. */
export type CommitmentProof =
  | { readonly kind: "exist"; readonly exist: ExistenceProof }
  | { readonly kind: "nonexist"; readonly nonexist: NonExistenceProof }
  | { readonly kind: "batch" | "compressed" };

/** Proofs of one key, lowest tree first: the store's proof, then the multistore's proof. */
export type MerkleProof = readonly CommitmentProof[];

/** Returns a view of the proof's bytes. */
export function rangeOf(proof: ExistenceProof, start: number, end: number): Buffer {
  return proof.bytes.subarray(start, end);
}

/** Returns a view of the key of an existence proof. */
export function keyOf(proof: ExistenceProof): Buffer {
  return rangeOf(proof, proof.keyStart, proof.keyEnd);
}
