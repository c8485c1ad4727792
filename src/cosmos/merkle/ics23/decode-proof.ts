import { Buffer } from "node:buffer";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import { createPathFollower, type PathFollower, type PathRun } from "./conforming-root.ts";
import {
  type CommitmentProof,
  type ExistenceProof,
  type InnerOp,
  invalidMerkleProof,
  type LeafOp,
  type MerkleProof,
  type NonExistenceProof,
  type ProofFailure,
} from "./proof-types.ts";
import { checkMessage, WireError, WireReader } from "./wire-reader.ts";

/** Maximum size of an encoded proof. CometBFT rejects requests of this size, so a larger proof could never reach a real chain. */
export const MAX_PROOF_BYTES: number = 4 * 1024 * 1024;
/** Maximum number of steps to decode in one path. Verification rejects paths with more than 128 steps, with Go's error message. */
export const MAX_STEPS = 1024;

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };
interface ExistenceDraft extends Draft<Omit<ExistenceProof, "path">> {
  path: InnerOp[];
}

/** Decodes one proof operation; see {@link decodeCommitmentProof}. */
export type DecodeOperation = (operation: Uint8Array, index: number) => Result<CommitmentProof, string>;

/**
 * Decodes the `data` of each proof operation in an `abci_query` response (ibc-go v8 `ConvertProofs`). The type and key of each
 * operation are ignored. As in Go, an undefined list is an error, but an empty list is not. The result refers to the given bytes, so
 * do not modify them while the result is in use.
 */
export function decodeMerkleProof(
  operations: readonly Uint8Array[] | undefined,
  decode: DecodeOperation = (operation) => decodeCommitmentProof(operation),
): Result<MerkleProof, ProofFailure> {
  if (operations === undefined) return bad(invalidMerkleProof("no-proof", "tendermint proof is nil"));
  const proofs: CommitmentProof[] = [];
  for (const operation of operations) {
    const index = proofs.length;
    const proof = decode(operation, index);
    if (!proof.ok) {
      const text = `could not unmarshal proof op into CommitmentProof at index ${index}: ${proof.error}`;
      return bad(invalidMerkleProof("malformed-proof", text));
    }
    proofs.push(proof.value);
  }
  return good(proofs);
}

/**
 * Decodes a `CommitmentProof`, while an optional follower follows the paths of its existence proofs. The error is Go's decoding error, or
 * "<nil>" if the bytes contain no proof. The result refers to the given bytes, so do not modify them while the result is in use.
 */
export function decodeCommitmentProof(
  encoded: Uint8Array,
  follower?: PathFollower,
): Result<CommitmentProof, string> {
  if (encoded.length > MAX_PROOF_BYTES) return bad(`a proof of ${encoded.length} bytes is too large`);
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  try {
    const proof = readCommitmentProof(new WireReader(bytes), bytes, follower);
    return proof === undefined ? bad("<nil>") : good(proof);
  } catch (error) {
    if (error instanceof WireError) return bad(error.message);
    throw error;
  }
}

function readCommitmentProof(
  reader: WireReader,
  bytes: Buffer,
  follower: PathFollower | undefined,
): CommitmentProof | undefined {
  // These fields form a oneof, so the last field wins, as in Go's decoder.
  let proof: CommitmentProof | undefined;
  while (reader.nextField("CommitmentProof")) {
    if (reader.field === 1) {
      proof = { kind: "exist", exist: readExistence(reader, "Exist", newExistence(bytes), follower) };
    } else if (reader.field === 2) {
      proof = { kind: "nonexist", nonexist: readNonExistence(reader, bytes, follower) };
    } else if (reader.field === 3) {
      checkMessage(reader, "Batch", "BatchProof");
      proof = { kind: "batch" };
    } else if (reader.field === 4) {
      checkMessage(reader, "Compressed", "CompressedBatchProof");
      proof = { kind: "compressed" };
    } else reader.skipUnknown();
  }
  return proof;
}

/** Decodes a non-existence proof. The paths of the proof's two neighbours share most steps, so a follower saves time even for one proof. */
function readNonExistence(
  reader: WireReader,
  bytes: Buffer,
  follower = createPathFollower(),
): NonExistenceProof {
  // If a message field occurs again, protobuf merges both occurrences, so continue the same draft. With a copy for each occurrence,
  // decoding would take quadratic time.
  const proof: { left: ExistenceDraft | undefined; right: ExistenceDraft | undefined } = {
    left: undefined,
    right: undefined,
  };
  const outerEnd = reader.enter("Nonexist");
  while (reader.nextField("NonExistenceProof")) {
    if (reader.field === 1) reader.startOfBytes("Key");
    else if (reader.field === 2) {
      proof.left ??= newExistence(bytes);
      readExistence(reader, "Left", proof.left, follower);
    } else if (reader.field === 3) {
      proof.right ??= newExistence(bytes);
      readExistence(reader, "Right", proof.right, follower);
    } else reader.skipUnknown();
  }
  reader.end = outerEnd;
  return proof;
}

function newExistence(bytes: Buffer): ExistenceDraft {
  return {
    bytes,
    keyStart: 0,
    keyEnd: 0,
    valueStart: 0,
    valueEnd: 0,
    leaf: undefined,
    path: [],
    end: 0,
    iavlRoot: undefined,
  };
}

function readExistence(
  reader: WireReader,
  name: string,
  proof: ExistenceDraft,
  follower: PathFollower | undefined,
): ExistenceProof {
  const outerEnd = reader.enter(name);
  proof.end = reader.end;
  let isOwnPath = proof.path.length === 0;
  let run: PathRun | undefined;
  while (reader.nextField("ExistenceProof")) {
    if (reader.field === 4) {
      // Copy the path of an earlier occurrence, which the follower's cache may hold. MAX_STEPS bounds the cost of the copies.
      if (!isOwnPath) proof.path = [...proof.path];
      isOwnPath = true;
      // Start following at the first step, because every proof from a node has key, value and leaf before the steps.
      if (proof.path.length === 0) run = follower?.(proof);
      run = readStep(reader, proof, run);
      continue;
    }
    // Stop following the path, because this field can replace the key, value or leaf from which the run started.
    run = undefined;
    if (reader.field === 1) {
      proof.keyStart = reader.startOfBytes("Key");
      proof.keyEnd = reader.at;
    } else if (reader.field === 2) {
      proof.valueStart = reader.startOfBytes("Value");
      proof.valueEnd = reader.at;
    } else if (reader.field === 3) proof.leaf = readLeaf(reader, proof.leaf);
    else reader.skipUnknown();
  }
  proof.iavlRoot = run?.finish();
  reader.end = outerEnd;
  return proof;
}

/**
 * Decodes one step of a proof's path. If all remaining steps are cached, takes them from the cache and moves the reader to the end.
 * Returns the run that follows the path, or undefined if it cannot continue.
 */
function readStep(reader: WireReader, proof: ExistenceDraft, run: PathRun | undefined): PathRun | undefined {
  const { path } = proof;
  const cached = run?.findCached(reader.startOfField());
  if (cached !== undefined) {
    for (let index = cached.from; index < cached.path.length; index++) {
      const step = cached.path[index];
      if (step !== undefined) path.push(step);
    }
    reader.at = reader.end;
    return run;
  }
  if (path.length >= MAX_STEPS) throw new WireError(`a path of more than ${MAX_STEPS} steps`);
  const step = readInner(reader, proof.bytes);
  path.push(step);
  return run?.apply(step) === true ? run : undefined;
}

const EMPTY_LEAF_OP: LeafOp = {
  hash: 0,
  prehashKey: 0,
  prehashValue: 0,
  length: 0,
  prefixStart: 0,
  prefixEnd: 0,
};

function readLeaf(reader: WireReader, previous: LeafOp | undefined): LeafOp {
  const leaf: Draft<LeafOp> = { ...(previous ?? EMPTY_LEAF_OP) };
  const outerEnd = reader.enter("Leaf");
  while (reader.nextField("LeafOp")) {
    if (reader.field === 1) leaf.hash = reader.int32("Hash");
    else if (reader.field === 2) leaf.prehashKey = reader.int32("PrehashKey");
    else if (reader.field === 3) leaf.prehashValue = reader.int32("PrehashValue");
    else if (reader.field === 4) leaf.length = reader.int32("Length");
    else if (reader.field === 5) {
      leaf.prefixStart = reader.startOfBytes("Prefix");
      leaf.prefixEnd = reader.at;
    } else reader.skipUnknown();
  }
  reader.end = outerEnd;
  return leaf;
}

function readInner(reader: WireReader, bytes: Buffer): InnerOp {
  const start = reader.startOfField();
  const op: Draft<InnerOp> = {
    bytes,
    start,
    hash: 0,
    prefixStart: start,
    prefixEnd: start,
    suffixStart: start,
    suffixEnd: start,
  };
  const outerEnd = reader.enter("Path");
  while (reader.nextField("InnerOp")) {
    if (reader.field === 1) op.hash = reader.int32("Hash");
    else if (reader.field === 2) {
      op.prefixStart = reader.startOfBytes("Prefix");
      op.prefixEnd = reader.at;
    } else if (reader.field === 3) {
      op.suffixStart = reader.startOfBytes("Suffix");
      op.suffixEnd = reader.at;
    } else reader.skipUnknown();
  }
  reader.end = outerEnd;
  return op;
}

/**
 * Splits an encoded `ibc.core.commitment.v1.MerkleProof`, as carried in IBC messages, into its encoded `CommitmentProof`s: the
 * store's proof, then the multistore's. Returns undefined for bytes that cannot be decoded.
 */
export function splitMerkleProof(encoded: Uint8Array): readonly Uint8Array[] | undefined {
  const reader = new WireReader(encoded);
  const proofs: Uint8Array[] = [];
  try {
    while (reader.nextField("MerkleProof")) {
      if (reader.field === 1) proofs.push(encoded.subarray(reader.startOfBytes("Proofs"), reader.at));
      else reader.skipUnknown();
    }
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
  return proofs;
}
