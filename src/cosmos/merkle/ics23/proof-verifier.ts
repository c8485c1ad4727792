import { equalBytes } from "../../../platform/base/bytes.ts";
import type { Result } from "../../../platform/base/errors.ts";
import { type ComputeRoot, conformingRoot, createPathFollower } from "./conforming-root.ts";
import { decodeCommitmentProof, decodeMerkleProof, type DecodeOperation } from "./decode-proof.ts";
import type { ProofFailure, CommitmentProof, ExistenceProof, HashText, MerkleProof } from "./proof-types.ts";
import {
  type Claim,
  type ComputeRoots,
  type ProofResult,
  verifyMembership,
  verifyNonMembership,
} from "./verify-merkle-proof.ts";

/** A key and the value to verify. If `value` is undefined, the key's absence is verified. */
export interface ProofItem {
  readonly store: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
  /** The `data` of the proof operations in the `abci_query` response. */
  readonly operations: readonly Uint8Array[] | undefined;
}

/**
 * Verifies ICS-23 proofs with a cache. The results are the same as from `verifyMembership` and `verifyNonMembership` without a cache.
 * The cache saves time, because proofs under one app hash share most of their steps. The cache takes up at most about 10 MB.
 */
export interface ProofVerifier {
  readonly decode: (operations: readonly Uint8Array[] | undefined) => Result<MerkleProof, ProofFailure>;
  readonly verifyMembership: (claim: Claim, value: Uint8Array) => ProofResult;
  readonly verifyNonMembership: (claim: Claim) => ProofResult;
  readonly verify: (root: Uint8Array, item: ProofItem) => ProofResult;
}

/** Maximum number of cached upper (multistore) proofs, one per store and app hash. Above this number, the oldest proof is evicted. */
const MAX_CACHED_PROOFS = 32;

/** Maximum size of a cached upper proof. A real upper proof takes up a few hundred bytes. */
const MAX_CACHED_BYTES = 16 * 1024;

/** Creates a verifier with an empty cache. */
export function createProofVerifier(): ProofVerifier {
  const decodeOperation = createCachingDecoder();
  const computeRoots: ComputeRoots = [conformingRoot, createCachedComputeRoot()];
  const decode: ProofVerifier["decode"] = (operations) => decodeMerkleProof(operations, decodeOperation);
  return {
    decode,
    verifyMembership: (claim, value) => verifyMembership(claim, value, computeRoots),
    verifyNonMembership: (claim) => verifyNonMembership(claim, computeRoots),
    verify: (root, { store, key, value, operations }) => {
      const proof = decode(operations);
      if (!proof.ok) return proof;
      const claim = { root, store, key, proof: proof.value };
      return value === undefined
        ? verifyNonMembership(claim, computeRoots)
        : verifyMembership(claim, value, computeRoots);
    },
  };
}

/**
 * Creates a function like `conformingRoot` that caches one result per proof object. Decoded proofs are immutable, and the caching
 * decoder returns the same object for equal upper proofs, so the cache compares objects, not bytes.
 */
function createCachedComputeRoot(): ComputeRoot {
  const results = new WeakMap<ExistenceProof, Result<HashText, string>>();
  return (proof, spec) => {
    let root = results.get(proof);
    if (root === undefined) {
      root = conformingRoot(proof, spec);
      results.set(proof, root);
    }
    return root;
  };
}

/**
 * Creates a proof decoder with two caches. Proofs in the store's tree (index 0) share a path follower. If the bytes of an upper
 * proof are cached, the decoder returns the cached object. The object contains a copy of the bytes, because the caller may change
 * the original.
 */
function createCachingDecoder(): DecodeOperation {
  const recent: { readonly bytes: Uint8Array; readonly proof: Result<CommitmentProof, string> }[] = [];
  const follower = createPathFollower();
  return (operation, index) => {
    if (index === 0) return decodeCommitmentProof(operation, follower);
    if (operation.length > MAX_CACHED_BYTES) return decodeCommitmentProof(operation);
    for (const entry of recent) if (equalBytes(entry.bytes, operation)) return entry.proof;
    const bytes = operation.slice();
    const proof = decodeCommitmentProof(bytes);
    if (recent.unshift({ bytes, proof }) > MAX_CACHED_PROOFS) recent.pop();
    return proof;
  };
}
