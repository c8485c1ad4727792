import type { ChainClient, LightBlockBytes, SearchPage } from "../../cosmos/client/chain-client.ts";
import { headerAny, type TrustFinder } from "../../cosmos/light-client/client-update.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { memoize } from "../../platform/base/caches.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Proof } from "../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import type { IntermediateHeaders } from "../connection/intermediate-headers.ts";
import { equalBytes, sha256, toHex } from "../../platform/base/bytes.ts";
import { txResultLeaf } from "../../cosmos/comet/block-hashes.ts";
import { type SimpleProof, simpleProofs, verifySimpleProof } from "../../cosmos/merkle/simple-tree.ts";
import type { Any } from "../../cosmos/proto/gen/google/protobuf/any.ts";
import type { QueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { SignedHeader } from "../../cosmos/proto/gen/tendermint/types/types.ts";
import { RelayError } from "../chain/relay-error.ts";

/** A transaction from `tx_search`, with its inclusion proof. */
export type FoundTx = SearchedTx & { readonly proof: NonNullable<SearchedTx["proof"]> };

type SearchedTx = SearchPage["txs"][number] & Pick<SearchPage, "endpoint">;

interface HeaderPair {
  /** Header of the block that contains the transaction. */
  readonly header: Any;
  readonly nextHeader: Any;
}

/** The data needed to prove the delivery of one block's transactions. */
interface ProvingBlock {
  readonly own: LightBlockBytes;
  /** The next block, whose header contains the hash of `results`. */
  readonly next: LightBlockBytes;
  /** Results of the transactions in `own`, in the block's order. */
  readonly results: readonly FoundTx["result"][];
}

/**
 * Returns the delivery proof of each transaction in a block, by index, against the next header's `last_results_hash`. A leaf
 * contains only code, data, gas wanted and gas used, as in CometBFT. Throws `RelayError` "bad-block" if the results do not match
 * the hash.
 */
function deliveryProofs({ own, next, results }: ProvingBlock): readonly Proof[] {
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

/** Returns a transaction's execution result. Throws `RelayError` "bad-block" if the search returned a failed transaction. */
function requireSuccess(
  { hash, index }: FoundTx,
  { own, results }: Pick<ProvingBlock, "own" | "results">,
): FoundTx["result"] {
  const result = results[index];
  if (result?.code === 0) return result;
  throw badBlock(own.height, `transaction ${toHex(hash)} did not succeed`);
}

/** Verifies a transaction's inclusion proof against the block header's data hash. Throws `RelayError` "bad-block" for an invalid proof. */
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
  return new RelayError({ code: "bad-block", height }, `remote block ${height}: ${reason}`);
}

/** Builds a TX query's result: one transaction with its inclusion and delivery proofs. */
function txQueryResult(found: FoundTx, deliveryProof: Proof, headers: HeaderPair): QueryResult {
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
        // The results hash does not cover log, info and events, so omit these fields to save bytes.
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

interface ProvenTxResult {
  readonly tx: FoundTx;
  readonly result: ReturnType<typeof txQueryResult>;
}

/**
 * Builds TX query results and verifies their proofs. Create one prover per cycle, because a prover reads each header and each
 * block's results only once.
 */
export type TxProver = ReturnType<typeof createTxProver>;

interface Deliveries extends Omit<ProvingBlock, "next"> {
  readonly proofs: readonly Proof[];
}

interface UpdateHeader {
  readonly any: HeaderPair["header"];
  readonly block: LightBlockBytes;
}

interface TxProverDeps {
  readonly remote: Pick<ChainClient, "comet" | "lightBlock" | "distrust">;
  readonly trust: TrustFinder;
  readonly intermediate: IntermediateHeaders;
  readonly revision: bigint;
}

/** Creates a prover for one revision of the remote chain. */
export function createTxProver({ remote, trust, intermediate, revision }: TxProverDeps, signal: AbortSignal) {
  const readResults = (height: bigint): ReturnType<typeof remote.comet.blockResults> =>
    raceAbort(remote.comet.blockResults(Number(height)), signal);
  const resultsOf = memoize(readResults, (height) => height);
  const wrong = new Set<string>();
  /** Runs a check on a response, and distrusts the sending endpoint if the check fails. */
  const attributed = <T>(endpoint: string | undefined, check: () => T): T => {
    try {
      return check();
    } catch (error) {
      if (endpoint !== undefined) {
        wrong.add(endpoint);
        remote.distrust(endpoint, errorText(error));
      }
      throw error;
    }
  };
  /** Reads a block's results and proves their delivery. If the results do not match the next header, asks the next endpoint. */
  const deliveriesOf = async (own: LightBlockBytes, next: LightBlockBytes): Promise<Deliveries> => {
    let response = await resultsOf(own.height);
    for (;;) {
      const { results, endpoint } = response;
      const before = wrong.size;
      try {
        return { own, results, proofs: attributed(endpoint, () => deliveryProofs({ own, next, results })) };
      } catch (error) {
        if (wrong.size === before) throw error;
        response = await readResults(own.height);
      }
    }
  };
  const readHeader = async (height: bigint): Promise<UpdateHeader> => {
    const [block, trusted] = await Promise.all([
      remote.lightBlock(height, signal),
      trust.below({ revision, height }),
    ]);
    return { any: headerAny(block, await intermediate(block, trusted)), block };
  };
  // Memoize headers, because each header is needed for its own block and for the preceding block.
  const header = memoize(readHeader, (height) => height);
  return {
    wrongEndpoints: (): number => wrong.size,
    /**
     * Returns results for transactions, with proofs that block `height` included and executed each transaction. Throws
     * `RelayError` with code "no-trusted-height" or "bad-block", and passes on a `ClientError` from a read.
     */
    prove: async (height: bigint, txs: readonly FoundTx[]): Promise<readonly ProvenTxResult[]> => {
      const [own, next] = await Promise.all([header(height), header(height + 1n), resultsOf(height)]);
      const deliveries = await deliveriesOf(own.block, next.block);
      const headers = { header: own.any, nextHeader: next.any };
      return txs.flatMap((tx) => {
        // Use the proven results, because the search does not prove the transaction's result.
        const result = attributed(tx.endpoint, () => {
          requireIncluded(tx, own.block);
          return requireSuccess(tx, deliveries);
        });
        const delivery = deliveries.proofs[tx.index];
        return delivery === undefined
          ? []
          : [{ tx, result: txQueryResult({ ...tx, result }, delivery, headers) }];
      });
    },
  };
}
