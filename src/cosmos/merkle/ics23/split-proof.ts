import { WireError, WireReader } from "./wire-reader.ts";

/**
 * Splits an encoded `ibc.core.commitment.v1.MerkleProof`, as the messages of IBC carry it, into its encoded
 * `CommitmentProof`s: the store's proof, then the multistore's. Returns undefined for bytes that do not decode.
 */
export function splitMerkleProof(encoded: Uint8Array): readonly Uint8Array[] | undefined {
  const reader = new WireReader(encoded);
  const proofs: Uint8Array[] = [];
  try {
    for (let field = reader.nextField("MerkleProof"); field !== 0; field = reader.nextField("MerkleProof")) {
      if (field === 1) proofs.push(encoded.subarray(reader.startOfBytes("Proofs"), reader.at));
      else reader.skipUnknown();
    }
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
  return proofs;
}
