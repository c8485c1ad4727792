import type { ProofVerifier } from "../../../../merkle/ics23/proof-verifier.ts";
import type { MerkleProof } from "../../../../merkle/ics23/proof-types.ts";
import type { ProofOps } from "../../../../proto/gen/tendermint/crypto/proof.ts";
import { invalidProof, invalidType } from "../errors.ts";

/** One value and what it is proven with. */
export interface ProvenValue {
  /** App hash of the remote chain. */
  readonly root: Uint8Array;
  readonly store: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly proof: MerkleProof;
}

const EMPTY = new Uint8Array(0);

/** Reads the proof operations; their types and keys are ignored. Throws icq/1110. */
export function decodeProof(proofs: ProofVerifier, operations: ProofOps | undefined): MerkleProof {
  const decoded = proofs.decode(operations?.ops.map(({ data }) => data));
  if (decoded.ok) return decoded.value;
  throw invalidType(`failed to convert crypto.ProofOps to MerkleProof: ${decoded.error.text}`);
}

/**
 * Verifies a value and returns what is to be stored: the value, or nothing for an absent key, whatever was submitted
 * beside a proof of absence. Empty values cannot be proven (spec 000, "Known behaviours", 1). Throws icq/1112.
 */
export function verifyValue(proofs: ProofVerifier, { value, ...claim }: ProvenValue): Uint8Array {
  const absent = claim.proof[0]?.kind === "nonexist";
  const verdict = absent ? proofs.verifyNonMembership(claim) : proofs.verifyMembership(claim, value);
  if (!verdict.ok) throw invalidProof(`failed to verify proof: ${verdict.error.text}`);
  return absent ? EMPTY : value;
}
