import { equalBytes, toHex, sha256 } from "../../platform/base/bytes.ts";
import type { LightBlockBytes, SearchPage } from "../../cosmos/client/chain-client.ts";
import { txResultLeaf } from "../../cosmos/comet/block-hashes.ts";
import { type SimpleProof, simpleProofs, verifySimpleProof } from "../../cosmos/merkle/simple-tree.ts";
import type { Any } from "../../cosmos/proto/gen/google/protobuf/any.ts";
import type { QueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Proof } from "../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import { SignedHeader } from "../../cosmos/proto/gen/tendermint/types/types.ts";
import { RelayError } from "../chain/relay-error.ts";

/** A transaction from `tx_search`, with its inclusion proof. */
export type FoundTx = SearchedTx & { readonly proof: NonNullable<SearchedTx["proof"]> };

type SearchedTx = SearchPage["txs"][number] & Pick<SearchPage, "endpoint">;

export interface HeaderPair {
  /** Header of the transaction's block. */
  readonly header: Any;
  readonly nextHeader: Any;
}

/** The data that proves the delivery of one block's transactions. */
export interface ProvingBlock {
  readonly own: LightBlockBytes;
  /** The next block. Its header contains the hash of the results. */
  readonly next: LightBlockBytes;
  /** Results of the transactions in `own`, in the block's order. */
  readonly results: readonly FoundTx["result"][];
}

/**
 * Returns the delivery proofs of one block's transactions, by index, against the next header's `last_results_hash`. As in CometBFT,
 * a leaf contains only code, data, gas wanted and gas used. Throws `RelayError` "bad-block" if the results do not match that hash.
 */
export function deliveryProofs({ own, next, results }: ProvingBlock): readonly Proof[] {
  const leaves = results.map((result) =>
    txResultLeaf({
      code: result.code,
      data: result.data ?? new Uint8Array(),
      gasWanted: result.gasWanted,
      gasUsed: result.gasUsed,
    }),
  );
  const { root, proofs } = simpleProofs(leaves);
  const lastResultsHash = SignedHeader.decode(next.signedHeader).header?.lastResultsHash ?? new Uint8Array();
  if (equalBytes(root, lastResultsHash)) return proofs.map(toWireProof);
  throw badBlock(own.height, "its results do not match the next header");
}

/** Returns a transaction's proven result. Throws `RelayError` "bad-block" if the search returned a failed transaction. */
export function requireSuccess(
  { hash, index }: FoundTx,
  { own, results }: Pick<ProvingBlock, "own" | "results">,
): FoundTx["result"] {
  const result = results[index];
  if (result?.code === 0) return result;
  throw badBlock(own.height, `transaction ${toHex(hash)} did not succeed`);
}

/** Verifies a transaction's inclusion proof. Throws `RelayError` "bad-block". */
export function requireIncluded(found: FoundTx, block: LightBlockBytes): void {
  const root = SignedHeader.decode(block.signedHeader).header?.dataHash ?? new Uint8Array();
  const { total, index, leafHash, aunts } = found.proof.proof;
  const proof = { total: BigInt(total), index: BigInt(index), leafHash, aunts };
  // The leaves of a block's data hash are its transactions' hashes.
  const result = verifySimpleProof(root, sha256(found.tx), proof);
  if (result.ok && index === found.index) return;
  throw badBlock(block.height, `the inclusion proof of transaction ${toHex(found.hash)} is invalid`);
}

export function badBlock(height: bigint, reason: string): RelayError {
  return new RelayError({ code: "bad-block", height }, `block ${height} of the remote chain: ${reason}`);
}

/** Builds a TX query's result: one transaction with its inclusion and delivery proofs. */
export function txQueryResult(found: FoundTx, deliveryProof: Proof, headers: HeaderPair): QueryResult {
  const { result, proof } = found;
  return {
    kvResults: [],
    height: 0n,
    revision: 0n,
    allowKvCallbacks: false,
    block: {
      header: headers.header,
      nextBlockHeader: headers.nextHeader,
      tx: {
        data: found.tx,
        inclusionProof: {
          total: BigInt(proof.proof.total),
          index: BigInt(proof.proof.index),
          leafHash: proof.proof.leafHash,
          aunts: [...proof.proof.aunts],
        },
        deliveryProof,
        // The results hash does not cover log, info and events. Omit them to save bytes.
        response: {
          code: result.code,
          data: result.data ?? new Uint8Array(),
          log: "",
          info: "",
          gasWanted: result.gasWanted,
          gasUsed: result.gasUsed,
          events: [],
          codespace: result.codespace ?? "",
        },
      },
    },
  };
}

function toWireProof(proof: SimpleProof): Proof {
  return { total: proof.total, index: proof.index, leafHash: proof.leafHash, aunts: [...proof.aunts] };
}
