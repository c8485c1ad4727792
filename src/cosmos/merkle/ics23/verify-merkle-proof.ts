import { Buffer } from "node:buffer";
import { hash as digest } from "node:crypto";
import { compareBytes, encodeUvarint, goString, upperHex, utf8 } from "../../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import {
  type ComputeRoot,
  conformingRoot,
  equalRange,
  fromHashText,
  isHashText,
  joinStep,
  toHashText,
} from "./conforming-root.ts";
import {
  type CommitmentProof,
  type ExistenceProof,
  type HashText,
  type InnerOp,
  invalidMerkleProof,
  invalidProof,
  keyOf,
  type LeafOp,
  type MerkleProof,
  NO_HASH,
  type NonExistenceProof,
  type ProofFailure,
  type ProofSpec,
  rangeOf,
  SDK_SPECS,
} from "./proof-types.ts";

/** A store key under an app hash, and the proof for it. */
export interface Claim {
  /** App hash of the queried state, taken from the header of the next height. */
  readonly root: Uint8Array;
  readonly store: string;
  readonly key: Uint8Array;
  /** The store's proof, then the multistore's proof; see `decodeMerkleProof`. */
  readonly proof: MerkleProof;
}

/** Result of a verification: success without a value, or the failure. */
export type ProofResult = Result<void, ProofFailure>;

/** Functions that compute the roots of the store's tree and of the multistore's tree. */
export type ComputeRoots = readonly [store: ComputeRoot, multistore: ComputeRoot];

const WITHOUT_CACHE: ComputeRoots = [conformingRoot, conformingRoot];

/**
 * Verifies that the store contains the key with this value (ibc-go v8 `MerkleProof.VerifyMembership` with the SDK's specs). An
 * invalid proof never makes this function throw.
 */
export function verifyMembership(
  claim: Claim,
  value: Uint8Array,
  computeRoots: ComputeRoots = WITHOUT_CACHE,
): ProofResult {
  const error = checkArguments(claim);
  if (error !== undefined) return bad(error);
  if (value.length === 0) return bad(invalidProof("empty-value", "empty value in membership proof"));
  return verifyChain(claim, value, 0, computeRoots);
}

/**
 * Verifies that the store lacks the key (ibc-go v8 `MerkleProof.VerifyNonMembership`, SDK specs). An invalid proof never makes this
 * function throw.
 */
export function verifyNonMembership(claim: Claim, computeRoots: ComputeRoots = WITHOUT_CACHE): ProofResult {
  const error = checkArguments(claim);
  if (error !== undefined) return bad(error);
  const [proof] = claim.proof;
  if (proof?.kind === "exist") return bad(invalidProof("wrong-kind", PRESENCE_PROVEN));
  if (proof?.kind !== "nonexist") return bad(invalidProof("wrong-kind", unexpectedType(proof)));
  const root = rootWithoutKey(proof.nonexist, claim.key, SDK_SPECS[0], computeRoots[0]);
  if (!root.ok) return bad(absenceFailure(proof, proof.nonexist, { key: claim.key, detail: root.error }));
  return verifyChain(claim, root.value, 1, computeRoots);
}

const PRESENCE_PROVEN =
  "got ExistenceProof in VerifyNonMembership. If this is unexpected, please ensure that proof was queried with the correct key.";

function checkArguments(claim: Claim): ProofFailure | undefined {
  if (claim.proof.length === 0) return invalidMerkleProof("no-proof", "proof cannot be empty");
  if (claim.root.length === 0) return invalidMerkleProof("no-root", "root cannot be empty");
  if (claim.proof.length === SDK_SPECS.length) return undefined;
  return invalidMerkleProof(
    "wrong-number-of-proofs",
    `length of specs: ${SDK_SPECS.length} not equal to length of proof: ${claim.proof.length}`,
  );
}

/**
 * Verifies a claim's proofs from index `first` on. Each root must be the value in the next proof, and the last root must be the app
 * hash.
 */
function verifyChain(
  claim: Claim,
  firstValue: Uint8Array | HashText,
  first: 0 | 1,
  computeRoots: ComputeRoots,
): ProofResult {
  let value = firstValue;
  for (let index = first; index < SDK_SPECS.length; index++) {
    const subroot = verifyLink(claim, value, index, computeRoots);
    if (!subroot.ok) return subroot;
    value = subroot.value;
  }
  return isValue(value, claim.root, 0, claim.root.length) ? VERIFIED : bad(wrongRoot(claim.root, value));
}

const VERIFIED: ProofResult = good(undefined);

/** Verifies that the proof at `index` contains its key with the given value, and returns the proof's root. */
function verifyLink(
  claim: Claim,
  value: Uint8Array | HashText,
  index: 0 | 1,
  computeRoots: ComputeRoots,
): Result<HashText, ProofFailure> {
  const proof = claim.proof[index];
  if (proof?.kind === "nonexist") return bad(invalidProof("wrong-kind", absenceProven(claim, index)));
  if (proof?.kind !== "exist") return bad(invalidProof("wrong-kind", unexpectedType(proof)));
  const key = index === 0 ? claim.key : utf8(claim.store);
  const root = computeRoots[index](proof.exist, SDK_SPECS[index]);
  const detail = root.ok ? checkContent(proof.exist, key, value) : root.error;
  if (root.ok && detail === undefined) return root;
  const calculated = calculateRoot(proof);
  const text = calculated.ok
    ? `chained membership proof failed to verify membership of value: ${hexText(value)} in subroot ${hexText(calculated.value)} at index ${index}. Please ensure the path and value are both correct.`
    : `could not calculate proof root at index ${index}, merkle tree may be empty. ${calculated.error}`;
  return bad(invalidProof("not-member", text, detail));
}

function checkContent(
  proof: ExistenceProof,
  key: Uint8Array,
  value: Uint8Array | HashText,
): string | undefined {
  const { bytes, keyStart, keyEnd, valueStart, valueEnd } = proof;
  if (!equalRange(key, bytes, keyStart, keyEnd)) return "provided key doesn't match proof";
  return isValue(value, bytes, valueStart, valueEnd) ? undefined : "provided value doesn't match proof";
}

/** Returns true if the bytes from `start` to `end` equal the value, which is a hash (text) in the multistore's proof. */
function isValue(value: Uint8Array | HashText, bytes: Uint8Array, start: number, end: number): boolean {
  return typeof value === "string"
    ? isHashText(value, bytes, start, end)
    : equalRange(value, bytes, start, end);
}

function wrongRoot(expected: Uint8Array, value: Uint8Array | HashText): ProofFailure {
  const text = `proof did not commit to expected root: ${upperHex(expected)}, got: ${hexText(value)}. Please ensure proof was submitted with correct proofHeight and to the correct chain.`;
  return invalidProof("wrong-root", text);
}

/** Creates the failure for a proof of absence, with an `empty-` code if ICS-23 cannot prove the absence. */
function absenceFailure(
  proof: CommitmentProof,
  { left, right }: NonExistenceProof,
  context: { readonly key: Uint8Array; readonly detail: string },
): ProofFailure {
  const { key, detail } = context;
  const calculated = calculateRoot(proof);
  const text = calculated.ok
    ? `could not verify absence of key ${goString(key)}. Please ensure that the path is correct.`
    : `could not calculate root for proof index 0, merkle tree is likely empty. ${calculated.error}`;
  if (left === undefined && right === undefined) return invalidProof("empty-tree", text, detail);
  const hasEmptyNeighbour = [left, right].some(
    (side) => side !== undefined && side.valueStart === side.valueEnd,
  );
  return invalidProof(hasEmptyNeighbour ? "empty-neighbour" : "not-absent", text, detail);
}

function absenceProven({ store, key }: Claim, index: number): string {
  const path = `{[${store} ${goString(key)}]}`;
  return `chained membership proof contains nonexistence proof at index ${index}. If this is unexpected, please ensure that proof was queried from a height that contained the value in store and was queried with the correct key. The key used: ${path}`;
}

function unexpectedType(proof: CommitmentProof | undefined): string {
  const type = proof?.kind === "batch" ? "Batch" : "Compressed";
  return `expected proof type: *ics23.CommitmentProof_Exist, got: *ics23.CommitmentProof_${type}`;
}

function hexText(value: Uint8Array | HashText): string {
  return upperHex(typeof value === "string" ? fromHashText(value) : value);
}

/**
 * Computes a proof's root with the operations that the proof names, without checking it against a spec (ics23 `Calculate`). Go
 * prints this root when it rejects a proof, so only error messages use it. If the computation fails, the error message is the same
 * as in Go.
 */
export function calculateRoot(proof: CommitmentProof): Result<HashText, string> {
  if (proof.kind === "exist") return calculateExistence(proof.exist);
  if (proof.kind !== "nonexist") return bad("unrecognized proof type");
  const neighbour = proof.nonexist.left ?? proof.nonexist.right;
  if (neighbour === undefined) return bad("nonexistence proof has empty Left and Right proof");
  return calculateExistence(neighbour);
}

function calculateExistence(proof: ExistenceProof): Result<HashText, string> {
  if (proof.leaf === undefined) return bad("existence Proof needs defined LeafOp");
  let hash = applyLeaf(proof, proof.leaf);
  if (!hash.ok) return bad(`leaf, ${hash.error}`);
  for (const step of proof.path) {
    if (hash.value.length === 0) return bad("inner, inner op needs child value");
    hash = hashWith(step.hash, joinStep(step, hash.value));
    if (!hash.ok) return bad(`inner, ${hash.error}`);
  }
  return hash;
}

function applyLeaf(proof: ExistenceProof, leaf: LeafOp): Result<HashText, string> {
  const key = keyOf(proof);
  const value = rangeOf(proof, proof.valueStart, proof.valueEnd);
  if (key.length === 0) return bad("leaf op needs key");
  if (value.length === 0) return bad("leaf op needs value");
  const keyData = prepare(leaf.prehashKey, leaf.length, key);
  if (!keyData.ok) return bad(`prehash key, ${keyData.error}`);
  const valueData = prepare(leaf.prehashValue, leaf.length, value);
  if (!valueData.ok) return bad(`prehash value, ${valueData.error}`);
  const prefix = rangeOf(proof, leaf.prefixStart, leaf.prefixEnd);
  return hashWith(leaf.hash, Buffer.concat([prefix, keyData.value, valueData.value]));
}

function prepare(hashOp: number, lengthOp: number, data: Buffer): Result<Buffer, string> {
  const hashed = hashOp === NO_HASH ? good(toHashText(data)) : hashWith(hashOp, data);
  return hashed.ok ? withLength(lengthOp, fromHashText(hashed.value)) : hashed;
}

/** Node's names for the hash functions in the enum `HashOp`. BITCOIN (5) applies two functions in sequence. */
const HASH_NAMES: ReadonlyMap<number, readonly string[]> = new Map([
  [1, ["sha256"]],
  [2, ["sha512"]],
  [4, ["ripemd160"]],
  [5, ["sha256", "ripemd160"]],
  [6, ["sha512-256"]],
  [7, ["blake2b512"]],
  [8, ["blake2s256"]],
]);

function hashWith(hashOp: number, data: Buffer): Result<HashText, string> {
  const names = HASH_NAMES.get(hashOp);
  if (names === undefined) return bad(`unsupported hashop: ${hashOp}`);
  return good(toHashText(names.reduce((bytes, name) => digest(name, bytes, "buffer"), data)));
}

function withLength(lengthOp: number, data: Buffer): Result<Buffer, string> {
  const { length } = data;
  if (lengthOp === 0) return good(data);
  if (lengthOp === 1) return good(Buffer.concat([encodeUvarint(length), data]));
  if (lengthOp === 3 || lengthOp === 4) return good(Buffer.concat([fixed(length, 4, lengthOp === 3), data]));
  if (lengthOp === 5 || lengthOp === 6) return good(Buffer.concat([fixed(length, 8, lengthOp === 5), data]));
  if (lengthOp !== 7 && lengthOp !== 8) return bad(`unsupported lengthop: ${lengthOp}`);
  const wanted = lengthOp === 7 ? 32 : 64;
  return length === wanted ? good(data) : bad(`data was ${length} bytes, not ${wanted}`);
}

function fixed(length: number, size: 4 | 8, bigEndian: boolean): Buffer {
  const bytes = Buffer.alloc(size);
  if (bigEndian) bytes.writeUInt32BE(length, size - 4);
  else bytes.writeUInt32LE(length, 0);
  return bytes;
}

/**
 * Returns the root of a tree that does not contain `key` (ics23 `NonExistenceProof.Verify`). The proof consists of the leaves
 * before and after `key`. Both leaves must have the same root, and no leaf may lie between them. If one of the two leaves is
 * missing, the other leaf must be the first or last leaf of the tree. Error messages are the same as in Go.
 *
 * Absence cannot be proven next to a leaf with an empty value. Such a leaf has no root, because ics23 does not hash it. In an empty
 * tree, absence cannot be proven either, because there are no leaves.
 */
function rootWithoutKey(
  proof: NonExistenceProof,
  key: Uint8Array,
  spec: ProofSpec,
  computeRoot: ComputeRoot,
): Result<HashText, string> {
  const { left, right } = proof;
  const leftRoot = left && computeRoot(left, spec);
  if (leftRoot?.ok === false) return bad(`left proof, ${leftRoot.error}`);
  const rightRoot = right && computeRoot(right, spec);
  if (rightRoot?.ok === false) return bad(`right proof, ${rightRoot.error}`);
  const root = leftRoot?.value ?? rightRoot?.value;
  if (root === undefined) return bad("both left and right proofs missing");
  if (rightRoot !== undefined && rightRoot.value !== root) {
    return bad("right proof, calculated root doesn't match provided root");
  }
  const error = checkOrder(left, right, key) ?? checkAdjacent(left, right, spec);
  return error === undefined ? good(root) : bad(error);
}

function checkOrder(
  left: ExistenceProof | undefined,
  right: ExistenceProof | undefined,
  key: Uint8Array,
): string | undefined {
  if (right !== undefined && compareBytes(key, keyOf(right)) >= 0) return "key is not left of right proof";
  if (left !== undefined && compareBytes(key, keyOf(left)) <= 0) return "key is not right of left proof";
  return undefined;
}

function checkAdjacent(
  left: ExistenceProof | undefined,
  right: ExistenceProof | undefined,
  spec: ProofSpec,
): string | undefined {
  if (left !== undefined && right !== undefined) {
    return areNeighbours(left, right, spec) ? undefined : "left and right proofs are not neighbours";
  }
  if (right !== undefined && !isLeftMost(right.path, spec)) {
    return "left proof missing, right proof must be left-most";
  }
  if (left !== undefined && !isRightMost(left.path, spec)) {
    return "right proof missing, left proof must be right-most";
  }
  return undefined;
}

/** Returns true if the path starts at the tree's left-most leaf (ics23 `IsLeftMost`). */
function isLeftMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "left");
}

/** Returns true if the path starts at the tree's right-most leaf (ics23 `IsRightMost`). */
function isRightMost(path: readonly InnerOp[], spec: ProofSpec): boolean {
  return path.every((step) => sideOf(step, spec) === "right");
}

/**
 * Returns true if no leaf lies between `left` and `right` (ics23 `IsLeftNeighbor`). The two paths meet at some node, above which
 * they must be equal. At that node, `left` must come from the left child and `right` from the right child. Below that node, `left`
 * must start at its subtree's right-most leaf, and `right` at its subtree's left-most leaf.
 *
 * Returns false if one path is a suffix of the other, in which case Go panics.
 */
function areNeighbours(left: ExistenceProof, right: ExistenceProof, spec: ProofSpec): boolean {
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

/** Infers the child's side from the lengths of prefix and suffix. Returns undefined if the lengths fit neither side. */
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
  // Steps may be the same object, because paths from one cache share their upper steps.
  if (a === b) return true;
  return (
    a.bytes.compare(b.bytes, b.prefixStart, b.prefixEnd, a.prefixStart, a.prefixEnd) === 0 &&
    a.bytes.compare(b.bytes, b.suffixStart, b.suffixEnd, a.suffixStart, a.suffixEnd) === 0
  );
}
