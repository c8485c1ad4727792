import { equalBytes } from "../../base/bytes.ts";
import type { Result } from "../../base/result.ts";
import type { HashText } from "./hash-text.ts";
import { conformingRoot, type RootFinder } from "./conforming-root.ts";
import { decodeCommitmentProof } from "./decode-proof.ts";
import { type DecodeOperation, decodeMerkleProof } from "./merkle-proof.ts";
import { createPathClimber } from "./path-climber.ts";
import type { ProofFailure } from "./proof-failure.ts";
import type { CommitmentProof, ExistenceProof, MerkleProof } from "./proof-types.ts";
import {
  type Claim,
  type ProofVerdict,
  type RootFinders,
  verifyMembership,
  verifyNonMembership,
} from "./verify-merkle-proof.ts";

/** One value to verify. An undefined `value` claims that the key is absent. */
export interface ProofItem {
  readonly store: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
  /** The `data` of the proof operations, as `abci_query` answered them. */
  readonly operations: readonly Uint8Array[] | undefined;
}

/**
 * Verifies like `verifyMembership` and `verifyNonMembership`, with the same verdicts, but remembers what proofs have in
 * common: several proofs of one app hash take far less time than one by one. Its memory is bounded (about 10 MB).
 */
export interface ProofVerifier {
  readonly decode: (operations: readonly Uint8Array[] | undefined) => Result<MerkleProof, ProofFailure>;
  readonly verifyMembership: (claim: Claim, value: Uint8Array) => ProofVerdict;
  readonly verifyNonMembership: (claim: Claim) => ProofVerdict;
  /** Decodes and verifies. */
  readonly verify: (root: Uint8Array, item: ProofItem) => ProofVerdict;
}

/** Stores whose upper proofs are remembered; the newest ones stay. */
const RECENT_STORES = 32;

/** The upper proof of a multistore has a few hundred bytes; what is far larger is not remembered. */
const MAX_REMEMBERED_BYTES = 16 * 1024;

/** A verifier that remembers nothing yet. */
export function createProofVerifier(): ProofVerifier {
  const decodeOperation = createRememberingDecoder();
  const finders: RootFinders = [conformingRoot, createIdentityFinder()];
  const decode: ProofVerifier["decode"] = (operations) => decodeMerkleProof(operations, decodeOperation);
  return {
    decode,
    verifyMembership: (claim, value) => verifyMembership(claim, value, finders),
    verifyNonMembership: (claim) => verifyNonMembership(claim, finders),
    verify: (root, { store, key, value, operations }) => {
      const proof = decode(operations);
      if (!proof.ok) return proof;
      const claim = { root, store, key, proof: proof.value };
      return value === undefined
        ? verifyNonMembership(claim, finders)
        : verifyMembership(claim, value, finders);
    },
  };
}

/** Verdicts on items of one app hash, in their order. */
export function verifyMany(root: Uint8Array, items: readonly ProofItem[]): readonly ProofVerdict[] {
  const verifier = createProofVerifier();
  return items.map((item) => verifier.verify(root, item));
}

/** Knows a proof again that is the very same object; the decoder sees to it that equal upper proofs are one. */
function createIdentityFinder(): RootFinder {
  const known = new WeakMap<ExistenceProof, Result<HashText, string>>();
  return (proof, spec) => {
    let root = known.get(proof);
    if (root === undefined) {
      root = conformingRoot(proof, spec);
      known.set(proof, root);
    }
    return root;
  };
}

/** Follows known paths of lower proofs; gives the same object for an upper proof with the same bytes, which it copies. */
function createRememberingDecoder(): DecodeOperation {
  const recent: { readonly bytes: Uint8Array; readonly proof: Result<CommitmentProof, string> }[] = [];
  const climber = createPathClimber();
  return (operation, index) => {
    if (index === 0) return decodeCommitmentProof(operation, climber);
    if (operation.length > MAX_REMEMBERED_BYTES) return decodeCommitmentProof(operation);
    for (const known of recent) if (equalBytes(known.bytes, operation)) return known.proof;
    const bytes = operation.slice();
    const proof = decodeCommitmentProof(bytes);
    if (recent.unshift({ bytes, proof }) > RECENT_STORES) recent.pop();
    return proof;
  };
}
