import { toHex } from "../../../../base/bytes.ts";
import { sha256 } from "../../../../base/sha256.ts";
import { txResultLeaf } from "../../../../comet/block-hashes.ts";
import type { SimpleProof } from "../../../../merkle/simple-tree.ts";
import { checkSimpleProof, verifySimpleProof } from "../../../../merkle/simple-tree.ts";
import type { Proof } from "../../../../proto/gen/tendermint/crypto/proof.ts";
import type { TxValue } from "../../../../proto/gen/neutron/interchainqueries/tx.ts";
import { internal, invalidProof, invalidType } from "../errors.ts";

/** The roots that a transaction is proven against. */
export interface BlockRoots {
  /** `data_hash` of the block with the transaction. */
  readonly dataHash: Uint8Array;
  /** `last_results_hash` of the block after it. */
  readonly resultsHash: Uint8Array;
}

/**
 * Checks that a transaction is in its block, that this is its result, and that it succeeded. Of the result only code,
 * data, gas wanted and gas used are proven; log, info, events and codespace are free. Throws `ModuleError`.
 */
export function verifyTransaction(tx: TxValue, roots: BlockRoots): void {
  const inclusion = readProof(tx.inclusionProof);
  prove("inclusion", roots.dataHash, sha256(tx.data), inclusion);
  const delivery = readProof(tx.deliveryProof);
  const { response } = tx;
  // The deployed chain panics here.
  if (response === undefined) throw invalidType("failed to verify delivery proof: response is missing");
  prove("delivery", roots.resultsHash, txResultLeaf(response), delivery);
  if (response.code !== 0)
    throw internal(`tx ${toHex(sha256(tx.data))} is unsuccessful: ResponseDelivery.Code = ${response.code}`);
  if (delivery.index !== inclusion.index)
    throw invalidProof(
      `inclusion proof index and delivery proof index are not equal: ${inclusion.index} != ${delivery.index}`,
    );
}

function prove(name: string, root: Uint8Array, leaf: Uint8Array, proof: SimpleProof): void {
  const verdict = verifySimpleProof(root, leaf, proof);
  if (!verdict.ok) throw invalidProof(`failed to verify ${name} proof: ${verdict.error.text}`);
}

function readProof(proof: Proof | undefined): SimpleProof {
  const words = "failed to convert proto proof to merkle proof";
  if (proof === undefined) throw invalidType(`${words}: nil proof`);
  const checked = checkSimpleProof(proof);
  if (!checked.ok) throw invalidType(`${words}: ${checked.error.text}`);
  return proof;
}
