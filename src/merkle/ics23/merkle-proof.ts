import { bad, good, type Result } from "../../base/result.ts";
import { decodeCommitmentProof } from "./decode-proof.ts";
import { invalidMerkleProof, type ProofFailure } from "./proof-failure.ts";
import type { CommitmentProof, MerkleProof } from "./proof-types.ts";

/** Reads one operation; see `decodeCommitmentProof`. */
export type DecodeOperation = (operation: Uint8Array, index: number) => Result<CommitmentProof, string>;

/**
 * Reads the `data` of each proof operation of an `abci_query` answer (ibc-go v8 `ConvertProofs`); the operations' type and
 * key say nothing that the verification does not know. An absent list is an error of its own, an empty list is not.
 * The result refers to the bytes, which must not change while it is used.
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
