import { z } from "zod";
import { equalBytes, toHex, sha256 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { txResultLeaf } from "../comet/block-hashes.ts";
import type { Header } from "../comet/block-types.ts";
import { CometError } from "../comet/comet-error.ts";
import { parseSignedHeader, parseValidators } from "../comet/rpc-parse.ts";
import { validateSignedHeader } from "../comet/validate.ts";
import { validatorsHash } from "../comet/validator-set.ts";
import { verifyCommitLight } from "../comet/verify-commit.ts";
import { simpleProofs, verifySimpleProof } from "../merkle/simple-tree.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import type { ProofVerdict } from "./proof-verdict.ts";
import { base64Bytes, hexBytes, recordedBlock, wholeNumber } from "./recorded-json.ts";

const txResult = z.object({
  code: z.int().min(0),
  data: base64Bytes.nullable(),
  gas_wanted: wholeNumber,
  gas_used: wholeNumber,
});

/** A recorded transaction with its inclusion proof, the results of its block, and both headers. */
export const txCase = z.object({
  name: z.string(),
  kind: z.literal("tx"),
  chain_id: z.string(),
  tx: z.object({
    hash: hexBytes,
    index: z.int().min(0),
    tx: base64Bytes,
    tx_result: txResult,
    proof: z.object({
      root_hash: hexBytes,
      proof: z.object({
        total: wholeNumber,
        index: wholeNumber,
        leaf_hash: base64Bytes,
        aunts: z.array(base64Bytes),
      }),
    }),
  }),
  block_results: z.object({ txs_results: z.array(txResult).nullable() }),
  block: recordedBlock,
  next_block: recordedBlock,
  expect: z.object({ valid: z.boolean() }),
});

type TxCase = z.output<typeof txCase>;

/** Verifies that a transaction is in its block and succeeded, and that the validators signed both headers. */
export function verifyTxCase(recorded: TxCase): ProofVerdict {
  const common = { name: recorded.name, kind: "transaction", expected: recorded.expect.valid };
  try {
    const error = errorOf(recorded);
    if (error !== undefined) return { ...common, valid: false, detail: error };
  } catch (error) {
    if (!(error instanceof CometError || error instanceof CliError)) throw error;
    return { ...common, valid: false, detail: errorText(error) };
  }
  const hash = toHex(recorded.tx.hash).toUpperCase();
  return {
    ...common,
    valid: true,
    detail: `transaction ${hash} is in block ${recorded.block.height} and succeeded`,
  };
}

function errorOf(recorded: TxCase): string | undefined {
  const header = signedHeader(recorded, recorded.block);
  const next = signedHeader(recorded, recorded.next_block);
  if (next.height !== header.height + 1n) return "the second header is not the header of the next height";
  return inclusionError(recorded, header) ?? deliveryError(recorded, next);
}

function signedHeader(recorded: TxCase, block: TxCase["block"]): Header {
  const signed = parseSignedHeader(block.signed_header);
  const validators = parseValidators(block.validators);
  const { header, commit } = signed;
  validateSignedHeader(signed, recorded.chain_id);
  if (!equalBytes(validatorsHash(validators.validators), header.validatorsHash)) {
    throw new CliError(1, `the validator set does not match header ${header.height}`);
  }
  verifyCommitLight(validators, {
    chainId: recorded.chain_id,
    blockId: commit.blockId,
    height: header.height,
    commit,
  });
  return header;
}

function inclusionError({ tx }: TxCase, header: Header): string | undefined {
  const txHash = sha256(tx.tx);
  if (!equalBytes(txHash, tx.hash)) return "the recorded hash is not the hash of the transaction";
  if (!equalBytes(tx.proof.root_hash, header.dataHash))
    return "the proof's root is not the header's data hash";
  const { leaf_hash: leafHash, ...rest } = tx.proof.proof;
  const inclusion = verifySimpleProof(header.dataHash, txHash, { ...rest, leafHash });
  if (!inclusion.ok) return `inclusion: ${inclusion.error.text}`;
  return rest.index === BigInt(tx.index) ? undefined : "the proof is for another index in the block";
}

function deliveryError({ tx, block_results: results }: TxCase, next: Header): string | undefined {
  const leaves = (results.txs_results ?? []).map(toLeaf);
  const proof = simpleProofs(leaves).proofs[tx.index];
  if (proof === undefined) return "the block results contain no result for the transaction";
  const delivery = verifySimpleProof(next.lastResultsHash, toLeaf(tx.tx_result), proof);
  if (!delivery.ok) return `delivery: ${delivery.error.text}`;
  return tx.tx_result.code === 0 ? undefined : `the transaction failed with code ${tx.tx_result.code}`;
}

function toLeaf(result: z.output<typeof txResult>): Uint8Array {
  return txResultLeaf({
    code: result.code,
    data: result.data ?? new Uint8Array(),
    gasWanted: result.gas_wanted,
    gasUsed: result.gas_used,
  });
}
