import { bytesField, concat, messageField } from "../../../platform/base/bytes.ts";

/** One step in a path: the parent's hash is the SHA-256 of prefix, child's hash and suffix. */
export interface ProofStep {
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

/** Content of an existence proof. Steps go from the leaf to the root. */
export interface ProofPath {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly leafPrefix: Uint8Array;
  readonly steps: readonly ProofStep[];
}

const EXIST = 1;
const NONEXIST = 2;
/** Fields 1, 3 and 4 of a `LeafOp`: hash SHA-256, value prehashed with SHA-256, lengths as unsigned varints. */
const LEAF_OPERATIONS = Uint8Array.of(0x08, 1, 0x18, 1, 0x20, 1);
/** Field 1 of an `InnerOp`: hash SHA-256. */
const INNER_OPERATION = Uint8Array.of(0x08, 1);

/** Encodes a `cosmos.ics23.v1.CommitmentProof` for a key with its value. */
export function encodeExistence(path: ProofPath): Uint8Array {
  return messageField(EXIST, encodePath(path));
}

/**
 * Encodes a `cosmos.ics23.v1.CommitmentProof` for an absent key, with its neighbours. Undefined means no neighbour on this side.
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
