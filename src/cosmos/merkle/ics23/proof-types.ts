import type { Buffer } from "node:buffer";
import { bytesField, concat, messageField } from "../../../platform/base/bytes.ts";

/*
 * Decoded proofs contain positions in the encoded bytes instead of views or copies, because creating a view takes longer than
 * hashing its bytes. A missing field is an empty range.
 */

/**
 * A hash as a string with one character per byte ("latin1"). Node returns a digest four times as fast in a string as in a Buffer,
 * and a string can be a `Map` key.
 */
export type HashText = string;

/** `cosmos.ics23.v1.LeafOp`. Numbers are values of the enums `HashOp` and `LengthOp`. */
export interface LeafOp {
  readonly hash: number;
  readonly prehashKey: number;
  readonly prehashValue: number;
  readonly length: number;
  readonly prefixStart: number;
  readonly prefixEnd: number;
}

/**
 * `cosmos.ics23.v1.InnerOp`. Positions refer to `bytes`, which are either the proof's bytes or a cached copy of an equal path.
 * `start` is the position of the field's tag.
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

/** `cosmos.ics23.v1.ExistenceProof`. The operations in the path are ordered from the leaf to the root. */
export interface ExistenceProof {
  readonly bytes: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly leaf: LeafOp | undefined;
  readonly path: readonly InnerOp[];
  /** Position in `bytes` at which the proof's message ends. */
  readonly end: number;
  /** The root according to the IAVL spec, if the decoder followed the path and all checks passed; see `PathFollower`. */
  readonly iavlRoot: HashText | undefined;
}

/** `cosmos.ics23.v1.NonExistenceProof` without its key, because verification uses the query's key, as in Go. */
export interface NonExistenceProof {
  readonly left: ExistenceProof | undefined;
  readonly right: ExistenceProof | undefined;
}

/** `cosmos.ics23.v1.CommitmentProof`. The content of batch proofs is dropped, because ibc-go rejects them. */
export type CommitmentProof =
  | { readonly kind: "exist"; readonly exist: ExistenceProof }
  | { readonly kind: "nonexist"; readonly nonexist: NonExistenceProof }
  | { readonly kind: "batch" | "compressed" };

/** Proofs for one key, lowest tree first: the store's proof, then the multistore's proof. */
export type MerkleProof = readonly CommitmentProof[];

/** Returns a view of the proof's bytes. */
export function rangeOf(proof: ExistenceProof, start: number, end: number): Buffer {
  return proof.bytes.subarray(start, end);
}

export function keyOf(proof: ExistenceProof): Buffer {
  return rangeOf(proof, proof.keyStart, proof.keyEnd);
}

/** Format of proofs for one kind of tree (`ics23.ProofSpec`), with sizes in bytes. IAVL and Tendermint trees both use SHA-256. */
export interface ProofSpec {
  readonly name: "iavl" | "tendermint";
  /** Minimum size of an inner operation's prefix that contains no left sibling. */
  readonly minPrefix: number;
  readonly maxPrefix: number;
  /** Size of one sibling's hash in a prefix or suffix, including its length prefix if the tree has one. */
  readonly childSize: number;
}

/** `ics23.IavlSpec`. A prefix contains height, size, version and a length byte, and a sibling contains a length byte and a hash. */
const IAVL_SPEC: ProofSpec = { name: "iavl", minPrefix: 4, maxPrefix: 12, childSize: 33 };

/** `ics23.TendermintSpec`. A prefix has one byte, and a sibling is a hash without a length prefix. */
const TENDERMINT_SPEC: ProofSpec = { name: "tendermint", minPrefix: 1, maxPrefix: 1, childSize: 32 };

/** The specs of a Cosmos SDK chain: the store's tree, then the multistore's tree (ibc-go `GetSDKSpecs`). */
export const SDK_SPECS: readonly [ProofSpec, ProofSpec] = [IAVL_SPEC, TENDERMINT_SPEC];

/** Maximum number of steps in a path for specs without their own limit, as in ics23/go. */
export const MAX_DEPTH = 128;

/** Values of the enums `HashOp` and `LengthOp` that both specs require. */
export const NO_HASH = 0;
export const SHA256 = 1;
export const VAR_PROTO = 1;

/**
 * The reason why a proof was rejected.
 *
 * - `malformed-proof`, `no-proof`, `no-root`, `wrong-number-of-proofs`: the arguments cannot be verified;
 * - `wrong-kind`: a proof of existence for a claim of absence, a proof of absence for a claim of existence, or a batch;
 * - `empty-value`: the claimed value is empty;
 * - `empty-neighbour`: the key is absent, but a neighbour has an empty value;
 * - `empty-tree`: the key is absent and the tree is empty;
 * - `not-member`, `not-absent`: the proof does not prove the claim;
 * - `wrong-root`: the proof is valid for a different root.
 *
 * ICS-23 cannot prove the three `empty-` cases: ics23 does not hash a leaf with an empty value, and a tree without leaves has no
 * path. In these three cases, no node can return a valid proof until the chain's state changes.
 */
export type ProofFailureCode =
  | "malformed-proof"
  | "no-proof"
  | "no-root"
  | "wrong-number-of-proofs"
  | "wrong-kind"
  | "empty-value"
  | "empty-neighbour"
  | "empty-tree"
  | "not-member"
  | "not-absent"
  | "wrong-root";

/** The reason why a proof is invalid. `text` is ibc-go v8's message, as chains print it, and `detail` is the underlying ics23 error. */
export interface ProofFailure {
  readonly code: ProofFailureCode;
  readonly text: string;
  readonly detail?: string;
}

/** Creates a failure whose message is wrapped like ibc-go's `ErrInvalidProof`. */
export function invalidProof(code: ProofFailureCode, text: string, detail?: string): ProofFailure {
  const failure = { code, text: `${text}: invalid proof` };
  return detail === undefined ? failure : { ...failure, detail };
}

/** Creates a failure whose message is wrapped like ibc-go's `ErrInvalidMerkleProof`. */
export function invalidMerkleProof(code: ProofFailureCode, text: string): ProofFailure {
  return { code, text: `${text}: invalid merkle proof` };
}

/** One step in a proof's path to the root. The parent's hash is the SHA-256 of the prefix, the child's hash and the suffix. */
export interface ProofStep {
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

/** Content of an existence proof, with steps from the leaf to the root. */
export interface ProofPath {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly leafPrefix: Uint8Array;
  readonly steps: readonly ProofStep[];
}

const EXIST = 1;
const NONEXIST = 2;
/** Encoded fields 1, 3 and 4 of a `LeafOp`, which select SHA-256 for hash and value prehash, and unsigned varints for lengths. */
const LEAF_OPERATIONS = Uint8Array.of(0x08, 1, 0x18, 1, 0x20, 1);
/** Encoded field 1 of an `InnerOp`, which selects SHA-256 as hash. */
const INNER_OPERATION = Uint8Array.of(0x08, 1);

/** Encodes a `cosmos.ics23.v1.CommitmentProof` for a key with its value. */
export function encodeExistence(path: ProofPath): Uint8Array {
  return messageField(EXIST, encodePath(path));
}

/**
 * Encodes a `cosmos.ics23.v1.CommitmentProof` for an absent key, with its neighbours. If a neighbour is undefined, the tree has no
 * leaf on this side of the key.
 */
export function encodeNonExistence(
  key: Uint8Array,
  left: ProofPath | undefined,
  right: ProofPath | undefined,
): Uint8Array {
  const body = concat(
    bytesField(1, key),
    left === undefined ? NOTHING : messageField(2, encodePath(left)),
    right === undefined ? NOTHING : messageField(3, encodePath(right)),
  );
  return messageField(NONEXIST, body);
}

const NOTHING = new Uint8Array();

function encodePath(path: ProofPath): Uint8Array {
  const leaf = concat(LEAF_OPERATIONS, bytesField(5, path.leafPrefix));
  return concat(
    bytesField(1, path.key),
    bytesField(2, path.value),
    messageField(3, leaf),
    ...path.steps.map((step) => messageField(4, encodeStep(step))),
  );
}

function encodeStep(step: ProofStep): Uint8Array {
  return concat(INNER_OPERATION, bytesField(2, step.prefix), bytesField(3, step.suffix));
}
