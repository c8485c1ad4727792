import { Buffer } from "node:buffer";
import { concat, equalBytes } from "../base/bytes.ts";
import { bad, good, type Result } from "../base/result.ts";
import { sha256 } from "../base/sha256.ts";

/** More aunts than any tree of less than 2^100 leaves has (CometBFT crypto/merkle `MaxAunts`). */
const MAX_AUNTS = 100;
const HASH_BYTES = 32;
const LEAF_PREFIX = Uint8Array.of(0);
const INNER_PREFIX = Uint8Array.of(1);

/** Proof that one leaf is in a simple Merkle tree. `aunts` go from the leaf's sibling up to a child of the root. */
export interface SimpleProof {
  readonly total: bigint;
  readonly index: bigint;
  readonly leafHash: Uint8Array;
  readonly aunts: readonly Uint8Array[];
}

/** Why a simple proof does not hold; the text is CometBFT's. */
export interface SimpleProofFailure {
  readonly code: "malformed-proof" | "wrong-leaf" | "wrong-shape" | "wrong-root";
  readonly text: string;
}

/** Hash of a leaf: SHA-256 of 0x00 and the leaf (RFC 6962). */
export function simpleLeafHash(leaf: Uint8Array): Uint8Array {
  return sha256(concat(LEAF_PREFIX, leaf));
}

/** Hash of an inner node: SHA-256 of 0x01 and both children. */
export function simpleInnerHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(INNER_PREFIX, left, right));
}

/** Root of the tree over these leaves, in this order; SHA-256 of nothing when there are none. */
export function simpleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  return rootOf(leaves.map(simpleLeafHash));
}

/** The root, and one proof for each leaf in the order of the leaves. */
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

/** Checks that `leaf` is at `proof.index` of a tree of `proof.total` leaves with this root. */
export function verifySimpleProof(
  root: Uint8Array,
  leaf: Uint8Array,
  proof: SimpleProof,
): Result<void, SimpleProofFailure> {
  const shape = checkSimpleProof(proof);
  if (!shape.ok) return shape;
  const leafHash = simpleLeafHash(leaf);
  if (!equalBytes(proof.leafHash, leafHash)) {
    return error(
      "wrong-leaf",
      `invalid leaf hash: wanted ${upperHex(leafHash)} got ${upperHex(proof.leafHash)}`,
    );
  }
  const computed = rootFromAunts(proof);
  if (!computed.ok) return computed;
  if (!equalBytes(computed.value, root)) {
    return error("wrong-root", `invalid root hash: wanted ${upperHex(root)} got ${upperHex(computed.value)}`);
  }
  return good(undefined);
}

/** The checks of CometBFT's `Proof.ValidateBasic`: nothing negative, hashes of 32 bytes, at most 100 aunts. */
export function checkSimpleProof(proof: SimpleProof): Result<void, SimpleProofFailure> {
  if (proof.total < 0n) return error("malformed-proof", "negative Total");
  if (proof.index < 0n) return error("malformed-proof", "negative Index");
  if (proof.leafHash.length !== HASH_BYTES) {
    return error(
      "malformed-proof",
      `expected LeafHash size to be ${HASH_BYTES}, got ${proof.leafHash.length}`,
    );
  }
  if (proof.aunts.length > MAX_AUNTS) {
    return error("malformed-proof", `expected no more than ${MAX_AUNTS} aunts, got ${proof.aunts.length}`);
  }
  for (const [index, aunt] of proof.aunts.entries()) {
    if (aunt.length !== HASH_BYTES) {
      return error("malformed-proof", `expected Aunts#${index} size to be ${HASH_BYTES}, got ${aunt.length}`);
    }
  }
  return good(undefined);
}

/**
 * For each step from the leaf up to the root: true when the path comes from the left child.
 * Empty when the tree has fewer than two leaves.
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
    return error("wrong-shape", `compute root hash: invalid index ${index} and/or total ${total}`);
  }
  const path = simplePath(index, total);
  if (aunts.length > path.length) return error("wrong-shape", "compute root hash: unexpected inner hashes");
  if (aunts.length < path.length) {
    return error("wrong-shape", "compute root hash: expected at least one inner hash");
  }
  let hash = proof.leafHash;
  for (const [step, aunt] of aunts.entries()) {
    hash = path[step] === true ? simpleInnerHash(hash, aunt) : simpleInnerHash(aunt, hash);
  }
  return good(hash);
}

/** Root over leaf hashes; adds to `aunts[i]` the siblings on leaf i's way up. */
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

function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  const [only] = hashes;
  if (only === undefined) return sha256(new Uint8Array());
  if (hashes.length === 1) return only;
  const split = Number(splitPoint(BigInt(hashes.length)));
  return simpleInnerHash(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)));
}

/** The largest power of two below `total`, which is at least 2. */
function splitPoint(total: bigint): bigint {
  return 1n << BigInt((total - 1n).toString(2).length - 1);
}

function error(
  code: SimpleProofFailure["code"],
  text: string,
): { readonly ok: false; readonly error: SimpleProofFailure } {
  return bad({ code, text });
}

function upperHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex").toUpperCase();
}
