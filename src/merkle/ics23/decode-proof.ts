import { Buffer } from "node:buffer";
import { bad, good, type Result } from "../../base/result.ts";
import { checkMessage } from "./check-wire.ts";
import { type Climb, createPathClimber, type PathClimber } from "./path-climber.ts";
import type { CommitmentProof, ExistenceProof, InnerOp, LeafOp, NonExistenceProof } from "./proof-types.ts";
import { WireError, WireReader } from "./wire-reader.ts";

/** A proof that is larger is refused before it is looked at; a CometBFT node accepts no request of this size. */
export const MAX_PROOF_BYTES: number = 4 * 1024 * 1024;
/** A path that is longer is refused while it is read; the deepest that can be valid has 128 steps. */
export const MAX_STEPS = 1024;

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };
interface ExistenceDraft extends Draft<Omit<ExistenceProof, "path">> {
  readonly path: InnerOp[];
}

/**
 * Reads the bytes of a `CommitmentProof`; the result refers to them, so they must not change while it is used.
 * The error is Go's decoding error, or "<nil>" for bytes that hold no proof.
 */
export function decodeCommitmentProof(
  encoded: Uint8Array,
  climber?: PathClimber,
): Result<CommitmentProof, string> {
  if (encoded.length > MAX_PROOF_BYTES) return bad(`a proof of ${encoded.length} bytes is too large`);
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  try {
    const proof = readCommitmentProof(new WireReader(bytes), bytes, climber);
    return proof === undefined ? bad("<nil>") : good(proof);
  } catch (error) {
    if (error instanceof WireError) return bad(error.message);
    throw error;
  }
}

function readCommitmentProof(
  reader: WireReader,
  bytes: Buffer,
  climber: PathClimber | undefined,
): CommitmentProof | undefined {
  let proof: CommitmentProof | undefined;
  for (
    let field = reader.nextField("CommitmentProof");
    field !== 0;
    field = reader.nextField("CommitmentProof")
  ) {
    if (field === 1) {
      proof = { kind: "exist", exist: readExistence(reader, "Exist", newExistence(bytes), climber) };
    } else if (field === 2) {
      proof = { kind: "nonexist", nonexist: readNonExistence(reader, bytes, climber) };
    } else if (field === 3) {
      checkMessage(reader, "Batch", "BatchProof");
      proof = { kind: "batch" };
    } else if (field === 4) {
      checkMessage(reader, "Compressed", "CompressedBatchProof");
      proof = { kind: "compressed" };
    } else reader.skipUnknown();
  }
  return proof;
}

/** Two neighbours share most of their paths, so there is a climber for them at any rate. */
function readNonExistence(
  reader: WireReader,
  bytes: Buffer,
  climber = createPathClimber(),
): NonExistenceProof {
  const proof: Draft<NonExistenceProof> = { left: undefined, right: undefined };
  const outerEnd = reader.enter("Nonexist");
  for (
    let field = reader.nextField("NonExistenceProof");
    field !== 0;
    field = reader.nextField("NonExistenceProof")
  ) {
    if (field === 1) reader.startOfBytes("Key");
    else if (field === 2) proof.left = readExistence(reader, "Left", draftOf(proof.left, bytes), climber);
    else if (field === 3) proof.right = readExistence(reader, "Right", draftOf(proof.right, bytes), climber);
    else reader.skipUnknown();
  }
  reader.end = outerEnd;
  return proof;
}

/** A neighbour that comes twice is merged, as protobuf says. */
function draftOf(known: ExistenceProof | undefined, bytes: Buffer): ExistenceDraft {
  return known === undefined ? newExistence(bytes) : { ...known, path: [...known.path], iavlRoot: undefined };
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
  climber: PathClimber | undefined,
): ExistenceProof {
  const outerEnd = reader.enter(name);
  proof.end = reader.end;
  let climb: Climb | undefined;
  for (
    let field = reader.nextField("ExistenceProof");
    field !== 0;
    field = reader.nextField("ExistenceProof")
  ) {
    if (field === 4) {
      if (proof.path.length === 0) climb = climber?.(proof);
      climb = readStep(reader, proof, climb);
      continue;
    }
    // What is between or behind the steps could change what they were followed from.
    climb = undefined;
    if (field === 1) {
      proof.keyStart = reader.startOfBytes("Key");
      proof.keyEnd = reader.at;
    } else if (field === 2) {
      proof.valueStart = reader.startOfBytes("Value");
      proof.valueEnd = reader.at;
    } else if (field === 3) proof.leaf = readLeaf(reader, proof.leaf);
    else reader.skipUnknown();
  }
  proof.iavlRoot = climb?.finish();
  reader.end = outerEnd;
  return proof;
}

/** Reads a step, or steps over all that are left when they are known. Gives the climb, unless the step ends it. */
function readStep(reader: WireReader, proof: ExistenceDraft, climb: Climb | undefined): Climb | undefined {
  const { path } = proof;
  const rest = climb?.findRest(reader.startOfField());
  if (rest !== undefined) {
    for (let index = rest.from; index < rest.path.length; index++) {
      const step = rest.path[index];
      if (step !== undefined) path.push(step);
    }
    reader.at = reader.end;
    return climb;
  }
  if (path.length >= MAX_STEPS) throw new WireError(`a path of more than ${MAX_STEPS} steps`);
  const step = readInner(reader, proof.bytes);
  path.push(step);
  return climb?.take(step) === true ? climb : undefined;
}

const NO_OPERATIONS: LeafOp = {
  hash: 0,
  prehashKey: 0,
  prehashValue: 0,
  length: 0,
  prefixStart: 0,
  prefixEnd: 0,
};

function readLeaf(reader: WireReader, known: LeafOp | undefined): LeafOp {
  const leaf: Draft<LeafOp> = { ...(known ?? NO_OPERATIONS) };
  const outerEnd = reader.enter("Leaf");
  for (let field = reader.nextField("LeafOp"); field !== 0; field = reader.nextField("LeafOp")) {
    if (field === 1) leaf.hash = reader.int32("Hash");
    else if (field === 2) leaf.prehashKey = reader.int32("PrehashKey");
    else if (field === 3) leaf.prehashValue = reader.int32("PrehashValue");
    else if (field === 4) leaf.length = reader.int32("Length");
    else if (field === 5) {
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
  for (let field = reader.nextField("InnerOp"); field !== 0; field = reader.nextField("InnerOp")) {
    if (field === 1) op.hash = reader.int32("Hash");
    else if (field === 2) {
      op.prefixStart = reader.startOfBytes("Prefix");
      op.prefixEnd = reader.at;
    } else if (field === 3) {
      op.suffixStart = reader.startOfBytes("Suffix");
      op.suffixEnd = reader.at;
    } else reader.skipUnknown();
  }
  reader.end = outerEnd;
  return op;
}
