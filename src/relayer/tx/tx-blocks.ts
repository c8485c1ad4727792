import { raceAbort } from "../../base/abort.ts";
import type { ChainClient, LightBlockBytes } from "../../client/chain-client.ts";
import { askOnce } from "../ask-once.ts";
import { headerAny, type TrustFinder } from "../connection/client-update.ts";
import { deliveryProofs, type FoundTx, type HeaderPair, requireIncluded, txQueryResult } from "./tx-proof.ts";

type TxQueryResult = ReturnType<typeof txQueryResult>;

/** A transaction and the result that proves it. */
interface TxWithResult {
  readonly tx: FoundTx;
  readonly result: TxQueryResult;
}

/** Builds results of remote blocks; headers and results of a block are fetched once for a round. */
export interface TxBlocks {
  /**
   * Results for some transactions of one block, each proven to be in it and to have succeeded there. Throws `RelayError`
   * ("no-trusted-height", "bad-block") and `ClientError`.
   */
  readonly prove: (height: bigint, txs: readonly FoundTx[]) => Promise<readonly TxWithResult[]>;
}

interface ProvenHeader {
  readonly any: HeaderPair["header"];
  readonly block: LightBlockBytes;
}

/** Creates the builder for a revision of the remote chain. */
export function createTxBlocks(
  remote: Pick<ChainClient, "comet" | "lightBlock">,
  trust: TrustFinder,
  revision: bigint,
  signal: AbortSignal,
): TxBlocks {
  const resultsOf = askOnce(
    (height: bigint) => raceAbort(remote.comet.blockResults(Number(height)), signal),
    (height) => height,
  );
  const readHeader = async (height: bigint): Promise<ProvenHeader> => {
    const [block, trusted] = await Promise.all([
      remote.lightBlock(height, signal),
      trust.below({ revision, height }),
    ]);
    return { any: headerAny(block, trusted), block };
  };
  const header = askOnce(readHeader, (height) => height);
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
