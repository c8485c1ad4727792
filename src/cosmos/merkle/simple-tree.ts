import { concat, equalBytes, sha256, upperHex } from "../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../platform/base/errors.ts";

/** Maximum number of sibling hashes in a proof, as in CometBFT (`MaxAunts`), enough for 2^100 leaves. */
const MAX_AUNTS = 100;
const HASH_BYTES = 32;
const LEAF_PREFIX = Uint8Array.of(0);
const INNER_PREFIX = Uint8Array.of(1);

/**
 * Proof that a simple Merkle tree contains a leaf. `aunts` are the sibling hashes on the path, from the leaf's sibling to a child
 * of the root.
 */
export interface SimpleProof {
  readonly total: bigint;
  readonly index: bigint;
  readonly leafHash: Uint8Array;
  readonly aunts: readonly Uint8Array[];
}

/** The reason why a simple proof is invalid. `text` is CometBFT's error message. */
export interface SimpleProofFailure {
  readonly code: "malformed-proof" | "wrong-leaf" | "wrong-shape" | "wrong-root";
  readonly text: string;
}

/** Hashes a leaf as the SHA-256 of the byte 0x00 and the leaf (RFC 6962). */
export function simpleLeafHash(leaf: Uint8Array): Uint8Array {
  return sha256(concat(LEAF_PREFIX, leaf));
}

/** Hashes an inner node as the SHA-256 of the byte 0x01 and both child hashes (RFC 6962). */
export function simpleInnerHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(INNER_PREFIX, left, right));
}

/** Computes the root over the leaves, in the given order. The root of an empty list is the SHA-256 of zero bytes. */
export function simpleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  return collectAunts(leaves.map(simpleLeafHash), []);
}

/** Computes a block's `data_hash`: the root over the SHA-256 of each transaction. */
export function dataHash(txs: readonly Uint8Array[]): Uint8Array {
  return simpleRoot(txs.map(sha256));
}

/** Computes the root, and a proof for each leaf, in leaf order. */
export function simpleProofs(leaves: readonly Uint8Array[]): {
  readonly root: Uint8Array;
  readonly proofs: readonly SimpleProof[];
} {
  const hashes = leaves.map(simpleLeafHash);
  const aunts: Uint8Array[][] = hashes.map(() => []);
  const root = collectAunts(hashes, aunts);
  const total = BigInt(leaves.length);
  const proofs = hashes.map((leafHash, index) => ({
    total,
    index: BigInt(index),
    leafHash,
    aunts: aunts[index] ?? [],
  }));
  return { root, proofs };
}

/** Checks that a tree with this root and `proof.total` leaves contains `leaf` at `proof.index` (CometBFT `Proof.Verify`). */
export function verifySimpleProof(
  root: Uint8Array,
  leaf: Uint8Array,
  proof: SimpleProof,
): Result<void, SimpleProofFailure> {
  const shape = checkSimpleProof(proof);
  if (!shape.ok) return shape;
  const leafHash = simpleLeafHash(leaf);
  if (!equalBytes(proof.leafHash, leafHash)) {
    return failure(
      "wrong-leaf",
      `invalid leaf hash: wanted ${upperHex(leafHash)} got ${upperHex(proof.leafHash)}`,
    );
  }
  const computed = rootFromAunts(proof);
  if (!computed.ok) return computed;
  if (!equalBytes(computed.value, root)) {
    return failure(
      "wrong-root",
      `invalid root hash: wanted ${upperHex(root)} got ${upperHex(computed.value)}`,
    );
  }
  return good(undefined);
}

/**
 * Checks the structure of a proof: no negative numbers, 32-byte hashes, at most 100 aunts (CometBFT `Proof.ValidateBasic`).
 */
export function checkSimpleProof(proof: SimpleProof): Result<void, SimpleProofFailure> {
  if (proof.total < 0n) return failure("malformed-proof", "negative Total");
  if (proof.index < 0n) return failure("malformed-proof", "negative Index");
  if (proof.leafHash.length !== HASH_BYTES) {
    return failure(
      "malformed-proof",
      `expected LeafHash size to be ${HASH_BYTES}, got ${proof.leafHash.length}`,
    );
  }
  if (proof.aunts.length > MAX_AUNTS) {
    return failure("malformed-proof", `expected no more than ${MAX_AUNTS} aunts, got ${proof.aunts.length}`);
  }
  for (const [index, aunt] of proof.aunts.entries()) {
    if (aunt.length !== HASH_BYTES) {
      return failure(
        "malformed-proof",
        `expected Aunts#${index} size to be ${HASH_BYTES}, got ${aunt.length}`,
      );
    }
  }
  return good(undefined);
}

/**
 * Returns one entry per step from leaf to root: true if the path comes from the left child. The list is empty for fewer than two
 * leaves.
 */
export function simplePath(index: bigint, total: bigint): readonly boolean[] {
  const path: boolean[] = [];
  let at = index;
  let size = total;
  while (size > 1n) {
    const split = splitPoint(size);
    const fromLeft = at < split;
    path.push(fromLeft);
    at = fromLeft ? at : at - split;
    size = fromLeft ? split : size - split;
  }
  return path.toReversed();
}

function rootFromAunts(proof: SimpleProof): Result<Uint8Array, SimpleProofFailure> {
  const { index, total, aunts } = proof;
  if (index >= total) {
    return failure("wrong-shape", `compute root hash: invalid index ${index} and/or total ${total}`);
  }
  const path = simplePath(index, total);
  if (aunts.length > path.length) return failure("wrong-shape", "compute root hash: unexpected inner hashes");
  if (aunts.length < path.length) {
    return failure("wrong-shape", "compute root hash: expected at least one inner hash");
  }
  let hash = proof.leafHash;
  for (const [step, aunt] of aunts.entries()) {
    hash = path[step] === true ? simpleInnerHash(hash, aunt) : simpleInnerHash(aunt, hash);
  }
  return good(hash);
}

/** Computes the Merkle root over leaf hashes, and appends the siblings on leaf i's path to `aunts[i]`, lowest first. */
function collectAunts(hashes: readonly Uint8Array[], aunts: readonly Uint8Array[][]): Uint8Array {
  const [only] = hashes;
  if (only === undefined) return sha256(new Uint8Array());
  if (hashes.length === 1) return only;
  const split = Number(splitPoint(BigInt(hashes.length)));
  const left = collectAunts(hashes.slice(0, split), aunts.slice(0, split));
  const right = collectAunts(hashes.slice(split), aunts.slice(split));
  for (const [index, list] of aunts.entries()) list.push(index < split ? right : left);
  return simpleInnerHash(left, right);
}

/**
 * Returns the number of leaves in the left subtree, which is the largest power of two below `total` (RFC 6962). `total` must be at
 * least 2.
 */
function splitPoint(total: bigint): bigint {
  return 1n << BigInt((total - 1n).toString(2).length - 1);
}

function failure(
  code: SimpleProofFailure["code"],
  text: string,
): { readonly ok: false; readonly error: SimpleProofFailure } {
  return bad({ code, text });
}
