import { toHex, sha256 } from "../../../../../platform/base/bytes.ts";
import { txResultLeaf } from "../../../../../cosmos/comet/block-hashes.ts";
import type { SimpleProof } from "../../../../../cosmos/merkle/simple-tree.ts";
import { checkSimpleProof, verifySimpleProof } from "../../../../../cosmos/merkle/simple-tree.ts";
import type { Proof } from "../../../../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import type { TxValue } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { ErrInternal, ErrInvalidProof, ErrInvalidType } from "../errors.ts";

/** Merkle roots that the transaction's proofs must lead to. */
export interface BlockRoots {
  /** `data_hash` of the transaction's block. */
  readonly dataHash: Uint8Array;
  /** `last_results_hash` of the next block. */
  readonly resultsHash: Uint8Array;
}

/**
 * Checks that the transaction is in its block, that `response` is its result, and that it succeeded. CometBFT hashes
 * only code, data, gas wanted and gas used of a result: log, info, events and codespace are not proven. Throws
 * `ModuleError`.
 */
export function verifyTransaction(tx: TxValue, roots: BlockRoots): void {
  const inclusion = readProof(tx.inclusionProof);
  verifyProof("inclusion", roots.dataHash, sha256(tx.data), inclusion);
  const delivery = readProof(tx.deliveryProof);
  const { response } = tx;
  // The deployed chain panics on a missing response. Here it is an error of the transaction.
  if (response === undefined) throw ErrInvalidType("failed to verify delivery proof: response is missing");
  verifyProof("delivery", roots.resultsHash, txResultLeaf(response), delivery);
  if (response.code !== 0)
    throw ErrInternal(
      `tx ${toHex(sha256(tx.data))} is unsuccessful: ResponseDelivery.Code = ${response.code}`,
    );
  // Results have the order of the block's transactions: equal indexes connect the transaction with its result.
  if (delivery.index !== inclusion.index)
    throw ErrInvalidProof(
      `inclusion proof index and delivery proof index are not equal: ${inclusion.index} != ${delivery.index}`,
    );
}

function verifyProof(name: string, root: Uint8Array, leaf: Uint8Array, proof: SimpleProof): void {
  const verdict = verifySimpleProof(root, leaf, proof);
  if (!verdict.ok) throw ErrInvalidProof(`failed to verify ${name} proof: ${verdict.error.text}`);
}

function readProof(proof: Proof | undefined): SimpleProof {
  const words = "failed to convert proto proof to merkle proof";
  if (proof === undefined) throw ErrInvalidType(`${words}: nil proof`);
  const checked = checkSimpleProof(proof);
  if (!checked.ok) throw ErrInvalidType(`${words}: ${checked.error.text}`);
  return proof;
}
