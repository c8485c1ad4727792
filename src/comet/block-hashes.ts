import { concat } from "../base/bytes.ts";
import { sha256 } from "../base/sha256.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { PartSetHeader } from "./block-types.ts";
import { bytesField, varintField } from "./wire.ts";

/** Size of a block part: 64 kB; only the last may be shorter. */
const PART_SIZE = 65_536;

/** `data_hash`: Merkle root over the SHA-256 of each transaction. */
export function dataHash(txs: readonly Uint8Array[]): Uint8Array {
  return simpleRoot(txs.map(sha256));
}

/** The part of a transaction's result that all nodes agree on. `data` is as in `ExecTxResult`. */
export interface DeterministicTxResult {
  readonly code: number;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
}

/** The Merkle leaf of a transaction's result: `ExecTxResult` with code, data, gas wanted and gas used alone. */
export function txResultLeaf(result: DeterministicTxResult): Uint8Array {
  return concat(
    varintField(1, BigInt(result.code)),
    bytesField(2, result.data),
    varintField(5, result.gasWanted),
    varintField(6, result.gasUsed),
  );
}

/** `last_results_hash` of the next header. */
export function resultsHash(results: readonly DeterministicTxResult[]): Uint8Array {
  return simpleRoot(results.map(txResultLeaf));
}

/** `evidence_hash`: Merkle root over the pieces of evidence, each an encoded `DuplicateVoteEvidence` or `LightClientAttackEvidence`. */
export function evidenceHash(evidence: readonly Uint8Array[]): Uint8Array {
  return simpleRoot(evidence);
}

/** Part set of an encoded `Block`: the Merkle root over its 64 kB pieces. An empty block body has no parts. */
export function partSetHeader(block: Uint8Array): PartSetHeader {
  const parts = blockParts(block);
  return { total: parts.length, hash: simpleRoot(parts) };
}

/** The pieces of an encoded block, views into it. */
function blockParts(block: Uint8Array): readonly Uint8Array[] {
  const count = Math.ceil(block.length / PART_SIZE);
  return Array.from({ length: count }, (_, index) =>
    block.subarray(index * PART_SIZE, (index + 1) * PART_SIZE),
  );
}

/** `consensus_hash`: SHA-256 of `HashedParams`. Other consensus parameters are not in the header. */
export function consensusHash(params: { readonly maxBytes: bigint; readonly maxGas: bigint }): Uint8Array {
  return sha256(concat(varintField(1, params.maxBytes), varintField(2, params.maxGas)));
}
