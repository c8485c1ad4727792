import type { ChainClient, LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import { headerAny, type TrustFinder } from "../../cosmos/light-client/client-update.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { memoize } from "../../platform/base/caches.ts";
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
  readonly remote: Pick<ChainClient, "comet" | "lightBlock">;
  readonly trust: TrustFinder;
  readonly intermediate: IntermediateHeaders;
  readonly revision: bigint;
}

/** Creates a prover for one revision of the remote chain. */
export function createTxProver(
  { remote, trust, intermediate, revision }: TxProverDeps,
  signal: AbortSignal,
): TxProver {
  const resultsOf = memoize(
    (height: bigint) => raceAbort(remote.comet.blockResults(Number(height)), signal),
    (height) => height,
  );
  const readHeader = async (height: bigint): Promise<UpdateHeader> => {
    const [block, trusted] = await Promise.all([
      remote.lightBlock(height, signal),
      trust.below({ revision, height }),
    ]);
    return { any: headerAny(block, await intermediate(block, trusted)), block };
  };
  // The next header of one block is the own header of the block after it. Memoizing saves half of their reads.
  const header = memoize(readHeader, (height) => height);
  return {
    prove: async (height, txs) => {
      const [own, next, results] = await Promise.all([
        header(height),
        header(height + 1n),
        resultsOf(height),
      ]);
      const deliveries = deliveryProofs({ own: own.block, next: next.block, results });
      const headers = { header: own.any, nextHeader: next.any };
      return txs.flatMap((tx) => {
        requireIncluded(tx, own.block);
        const delivery = deliveries[tx.index];
        return delivery === undefined ? [] : [{ tx, result: txQueryResult(tx, delivery, headers) }];
      });
    },
  };
}
