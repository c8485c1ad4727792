import { concat, sha256 } from "../../platform/base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { PartSetHeader } from "./block-types.ts";
import { bytesField, varintField } from "./wire.ts";

/** Size of a block part in bytes. Only the last part may be shorter. */
const PART_SIZE = 65_536;

/** Computes `data_hash`: the Merkle root over the SHA-256 of each transaction. */
export function dataHash(txs: readonly Uint8Array[]): Uint8Array {
  return simpleRoot(txs.map(sha256));
}

/** The fields of `ExecTxResult` that are part of consensus. Logs and events may differ between nodes. */
export interface DeterministicTxResult {
  readonly code: number;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
}

/**
 * Encodes the Merkle leaf of a transaction's result: an `ExecTxResult` with only code, data, gas wanted and gas used.
 */
export function txResultLeaf(result: DeterministicTxResult): Uint8Array {
  return concat(
    varintField(1, BigInt(result.code)),
    bytesField(2, result.data),
    varintField(5, result.gasWanted),
    varintField(6, result.gasUsed),
  );
}

/** Computes `last_results_hash` of the next header. */
export function resultsHash(results: readonly DeterministicTxResult[]): Uint8Array {
  return simpleRoot(results.map(txResultLeaf));
}

/** Computes `evidence_hash`: the Merkle root over encoded `DuplicateVoteEvidence` and `LightClientAttackEvidence`. */
export function evidenceHash(evidence: readonly Uint8Array[]): Uint8Array {
  return simpleRoot(evidence);
}

/** Splits an encoded `Block` into parts and computes the Merkle root over them. No bytes give no parts. */
export function partSetHeader(block: Uint8Array): PartSetHeader {
  const parts = blockParts(block);
  return { total: parts.length, hash: simpleRoot(parts) };
}

/** Returns the parts of an encoded block, as views. */
function blockParts(block: Uint8Array): readonly Uint8Array[] {
  const count = Math.ceil(block.length / PART_SIZE);
  return Array.from({ length: count }, (_, index) =>
    block.subarray(index * PART_SIZE, (index + 1) * PART_SIZE),
  );
}

/** Computes `consensus_hash`: the SHA-256 of `HashedParams`. The header covers no other consensus parameter. */
export function consensusHash(params: { readonly maxBytes: bigint; readonly maxGas: bigint }): Uint8Array {
  return sha256(concat(varintField(1, params.maxBytes), varintField(2, params.maxGas)));
}
