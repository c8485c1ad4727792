import type { ChainClient, LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import { headerAny, type TrustFinder } from "../../cosmos/light-client/client-update.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { memoize } from "../../platform/base/caches.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Proof } from "../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import type { IntermediateHeaders } from "../connection/intermediate-headers.ts";
import { deliveryProofs, type FoundTx, type HeaderPair, requireIncluded, txQueryResult } from "./tx-proof.ts";

interface ProvenTxResult {
  readonly tx: FoundTx;
  readonly result: ReturnType<typeof txQueryResult>;
}

/** Builds results with verified proofs. It reads each header and each block's results once, so create one per cycle. */
export interface TxProver {
  /**
   * Returns results for transactions of the block `height`, each proven to be included and executed there. Throws
   * `RelayError` ("no-trusted-height", "bad-block") and `ClientError`.
   */
  readonly prove: (height: bigint, txs: readonly FoundTx[]) => Promise<readonly ProvenTxResult[]>;
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
export function createTxProver(
  { remote, trust, intermediate, revision }: TxProverDeps,
  signal: AbortSignal,
): TxProver {
  const readResults = (height: bigint): ReturnType<typeof remote.comet.blockResults> =>
    raceAbort(remote.comet.blockResults(Number(height)), signal);
  const resultsOf = memoize(readResults, (height) => height);
  /** Endpoints whose results do not match the next header are distrusted, and the next one is asked. */
  const deliveriesOf = async (own: LightBlockBytes, next: LightBlockBytes): Promise<readonly Proof[]> => {
    let response = await resultsOf(own.height);
    for (const wrong = new Set<string>(); ; response = await readResults(own.height)) {
      const { results, endpoint } = response;
      try {
        return deliveryProofs({ own, next, results });
      } catch (error) {
        if (endpoint === undefined || wrong.has(endpoint)) throw error;
        wrong.add(endpoint);
        remote.distrust(endpoint, errorText(error));
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
  // The next header of one block is the own header of the block after it. Memoizing saves half of their reads.
  const header = memoize(readHeader, (height) => height);
  const requireFrom = (tx: FoundTx, block: LightBlockBytes): void => {
    try {
      requireIncluded(tx, block);
    } catch (error) {
      if (tx.endpoint !== undefined) remote.distrust(tx.endpoint, errorText(error));
      throw error;
    }
  };
  return {
    prove: async (height, txs) => {
      const [own, next] = await Promise.all([header(height), header(height + 1n), resultsOf(height)]);
      const deliveries = await deliveriesOf(own.block, next.block);
      const headers = { header: own.any, nextHeader: next.any };
      return txs.flatMap((tx) => {
        requireFrom(tx, own.block);
        const delivery = deliveries[tx.index];
        return delivery === undefined ? [] : [{ tx, result: txQueryResult(tx, delivery, headers) }];
      });
    },
  };
}
