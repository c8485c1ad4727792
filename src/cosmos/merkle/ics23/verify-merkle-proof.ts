import { goString, upperHex, utf8 } from "../../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import { calculateRoot } from "./calculate-root.ts";
import { type ComputeRoot, conformingRoot } from "./conforming-root.ts";
import { equalRange, fromHashText, isHashText } from "./hashing.ts";
import { invalidMerkleProof, invalidProof, type ProofFailure } from "./proof-failure.ts";
import { SDK_SPECS } from "./proof-spec.ts";
import type {
  CommitmentProof,
  ExistenceProof,
  HashText,
  MerkleProof,
  NonExistenceProof,
} from "./proof-types.ts";
import { rootWithoutKey } from "./verify-absence.ts";

/** A key of a store under an app hash, and the proof for it. */
export interface Claim {
  /** App hash of the queried state: the one in the header of the next height. */
  readonly root: Uint8Array;
  readonly store: string;
  readonly key: Uint8Array;
  /** The store's proof, then the multistore's proof; see `decodeMerkleProof`. */
  readonly proof: MerkleProof;
}

/** Result of a verification: ok without a value, or the reason for the refusal. */
export type ProofVerdict = Result<void, ProofFailure>;

/** Functions that compute the roots of the two trees of a proof. */
export type ComputeRoots = readonly [store: ComputeRoot, multistore: ComputeRoot];

const WITHOUT_CACHE: ComputeRoots = [conformingRoot, conformingRoot];

/**
 * Verifies that the store has the key with this value (ibc-go v8 `MerkleProof.VerifyMembership` with the SDK's specs).
 * Does not throw for any proof.
 */
export function verifyMembership(
  claim: Claim,
  value: Uint8Array,
  computeRoots: ComputeRoots = WITHOUT_CACHE,
): ProofVerdict {
  const error = checkArguments(claim);
  if (error !== undefined) return bad(error);
  if (value.length === 0) return bad(invalidProof("empty-value", "empty value in membership proof"));
  return verifyChain(claim, value, 0, computeRoots);
}

/**
 * Verifies that the store does not have the key (ibc-go v8 `MerkleProof.VerifyNonMembership` with the SDK's specs).
 * Does not throw for any proof.
 */
export function verifyNonMembership(claim: Claim, computeRoots: ComputeRoots = WITHOUT_CACHE): ProofVerdict {
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
 * Verifies the proofs from index `first` on. The root of each is the value of the next; the last root is the app hash.
 */
function verifyChain(
  claim: Claim,
  firstValue: Uint8Array | HashText,
  first: 0 | 1,
  computeRoots: ComputeRoots,
): ProofVerdict {
  let value = firstValue;
  for (let index = first; index < SDK_SPECS.length; index++) {
    const subroot = verifyLink(claim, value, index, computeRoots);
    if (!subroot.ok) return subroot;
    value = subroot.value;
  }
  return isValue(value, claim.root, 0, claim.root.length) ? VERIFIED : bad(wrongRoot(claim.root, value));
}

const VERIFIED: ProofVerdict = good(undefined);

/** Verifies that proof `index` proves the value under its key. Returns the root of the proof. */
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

/** Whether `bytes` from `start` to `end` is the value. The value of the multistore's proof is a hash. */
function isValue(value: Uint8Array | HashText, bytes: Uint8Array, start: number, end: number): boolean {
  return typeof value === "string"
    ? isHashText(value, bytes, start, end)
    : equalRange(value, bytes, start, end);
}

function wrongRoot(expected: Uint8Array, value: Uint8Array | HashText): ProofFailure {
  const text = `proof did not commit to expected root: ${upperHex(expected)}, got: ${hexText(value)}. Please ensure proof was submitted with correct proofHeight and to the correct chain.`;
  return invalidProof("wrong-root", text);
}

/** Creates the failure of a proof of absence. The cases that ICS-23 cannot prove have codes of their own. */
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
