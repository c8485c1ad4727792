import type { comet38 } from "@cosmjs/tendermint-rpc";
import { equalBytes, toHex } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import type { LightBlockBytes } from "../../client/chain-client.ts";
import { txResultLeaf } from "../../comet/block-hashes.ts";
import { type SimpleProof, simpleProofs, verifySimpleProof } from "../../merkle/simple-tree.ts";
import type { Any } from "../../proto/gen/google/protobuf/any.ts";
import type { QueryResult } from "../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Proof } from "../../proto/gen/tendermint/crypto/proof.ts";
import { SignedHeader } from "../../proto/gen/tendermint/types/types.ts";
import { RelayError } from "../relay-error.ts";

/** A remote transaction that matches a filter, with its inclusion proof. */
export type FoundTx = comet38.TxResponse & { readonly proof: NonNullable<comet38.TxResponse["proof"]> };

/** Headers of the transaction's block and of the next one, as Anys. */
export interface HeaderPair {
  readonly header: Any;
  readonly nextHeader: Any;
}

/** A remote block as TX results need it: itself, the next one, and the results of its transactions. */
export interface ProvingBlock {
  readonly own: LightBlockBytes;
  readonly next: LightBlockBytes;
  readonly results: comet38.BlockResultsResponse;
}

/**
 * Delivery proofs of all transactions of one block, against the next header's `last_results_hash`, by index.
 * The leaves are the results' code, data, gas wanted and gas used alone. Throws `RelayError` "bad-block" when the
 * results are not those that the next header stands for.
 */
export function deliveryProofs({ own, next, results }: ProvingBlock): readonly Proof[] {
  const leaves = results.results.map((result) =>
    txResultLeaf({
      code: result.code,
      data: result.data ?? new Uint8Array(),
      gasWanted: result.gasWanted,
      gasUsed: result.gasUsed,
    }),
  );
  const { root, proofs } = simpleProofs(leaves);
  const wanted = SignedHeader.decode(next.signedHeader).header?.lastResultsHash ?? new Uint8Array();
  if (equalBytes(root, wanted)) return proofs.map(toWireProof);
  throw badBlock(own.height, "its results are not those that the next header stands for");
}

/** Checks that a transaction is in its block. Throws `RelayError` "bad-block". */
export function requireIncluded(found: FoundTx, block: LightBlockBytes): void {
  const root = SignedHeader.decode(block.signedHeader).header?.dataHash ?? new Uint8Array();
  const { total, index, leafHash, aunts } = found.proof.proof;
  const proof = { total: BigInt(total), index: BigInt(index), leafHash, aunts };
  const verdict = verifySimpleProof(root, sha256(found.tx), proof);
  if (verdict.ok && index === found.index) return;
  throw badBlock(block.height, `transaction ${toHex(found.hash)} is not proven to be in it`);
}

function badBlock(height: bigint, what: string): RelayError {
  return new RelayError({ code: "bad-block", height }, `block ${height} of the remote chain: ${what}`);
}

/** The result of a TX query: one transaction, proven to be in its block and to have succeeded there. */
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
        // Log, info and events are not part of what is proven; they would only cost bytes.
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
