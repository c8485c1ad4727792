import type { comet38 } from "@cosmjs/tendermint-rpc";
import { txResultLeaf } from "../comet/block-hashes.ts";
import { type SimpleProof, simpleProofs } from "../merkle/simple-tree.ts";
import type { Any } from "../proto/gen/google/protobuf/any.ts";
import type { QueryResult } from "../proto/gen/neutron/interchainqueries/tx.ts";
import type { Proof } from "../proto/gen/tendermint/crypto/proof.ts";

/** A remote transaction that matches a filter, with its inclusion proof. */
export type FoundTx = comet38.TxResponse & { readonly proof: NonNullable<comet38.TxResponse["proof"]> };

/** Headers of the transaction's block and of the next one, as Anys. */
export interface HeaderPair {
  readonly header: Any;
  readonly nextHeader: Any;
}

/**
 * Delivery proofs of all transactions of one block, against the next header's `last_results_hash`, by index.
 * The leaves are the results' code, data, gas wanted and gas used alone.
 */
export function deliveryProofs(results: comet38.BlockResultsResponse): readonly Proof[] {
  const leaves = results.results.map((result) =>
    txResultLeaf({
      code: result.code,
      data: result.data ?? new Uint8Array(),
      gasWanted: result.gasWanted,
      gasUsed: result.gasUsed,
    }),
  );
  return simpleProofs(leaves).proofs.map(toWireProof);
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
