import type { ChainClient, LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import { headerAny, type TrustFinder } from "../../cosmos/light-client/client-update.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { memoize } from "../../platform/base/caches.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Proof } from "../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import type { IntermediateHeaders } from "../connection/intermediate-headers.ts";
import {
  deliveryProofs,
  type FoundTx,
  type HeaderPair,
  type ProvingBlock,
  requireIncluded,
  requireSuccess,
  txQueryResult,
} from "./tx-proof.ts";

interface ProvenTxResult {
  readonly tx: FoundTx;
  readonly result: ReturnType<typeof txQueryResult>;
}

/**
 * Builds results with verified proofs. A prover reads each header and each block's results once, so create one prover per cycle.
 */
export type TxProver = ReturnType<typeof createTxProver>;

interface Deliveries extends Omit<ProvingBlock, "next"> {
  readonly proofs: readonly Proof[];
}

interface UpdateHeader {
  readonly any: HeaderPair["header"];
  readonly block: LightBlockBytes;
}

export interface TxProverDeps {
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
  /** Runs a check on a response. If the check fails, distrusts the endpoint of the response. */
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
  /** Asks the next endpoint if an endpoint's results do not match the next header. */
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
  // One block's next header is the following block's own header. Memoizing saves half of the reads.
  const header = memoize(readHeader, (height) => height);
  return {
    wrongEndpoints: (): number => wrong.size,
    /**
     * Returns results for transactions in block `height`, and proves that the block includes and executed each. Throws `RelayError`
     * ("no-trusted-height", "bad-block") and `ClientError`.
     */
    prove: async (height: bigint, txs: readonly FoundTx[]): Promise<readonly ProvenTxResult[]> => {
      const [own, next] = await Promise.all([header(height), header(height + 1n), resultsOf(height)]);
      const deliveries = await deliveriesOf(own.block, next.block);
      const headers = { header: own.any, nextHeader: next.any };
      return txs.flatMap((tx) => {
        // The search does not prove the transaction's result.
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
