import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { scanTxs } from "./tx-scan.ts";
import { type FoundTxs, findTxs, type TxSearch } from "./tx-search.ts";

export interface TxFinderDeps {
  readonly connectionId: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
}

/** Finds transactions of one remote chain, with its transaction index where that can be used, else without it. */
export interface TxFinder {
  /** As `findTxs`. Logs once that the index cannot be used, and once that it can be used again. */
  readonly find: (search: TxSearch, signal: AbortSignal) => Promise<FoundTxs>;
}

/** Time after which a node without an index is asked again. */
const INDEX_RETRY_MS = 600_000;

type SearchedChain = Pick<ChainClient["comet"], "txSearch" | "block" | "blockResults">;

/** Creates a finder that expects an index. */
export function createTxFinder(comet: SearchedChain, deps: TxFinderDeps): TxFinder {
  const { connectionId, clock, logger } = deps;
  let scanUntilMs: number | undefined;
  const noteIndex = (hasIndex: boolean): void => {
    if (hasIndex && scanUntilMs !== undefined)
      logger.info("the remote node has a transaction index again", { connectionId });
    if (!hasIndex && scanUntilMs === undefined)
      logger.warn(
        "the remote node has no transaction index: blocks are scanned instead, with a call for each",
        {
          connectionId,
          advice: 'set tx_index.indexer = "kv" on the node',
        },
      );
    scanUntilMs = hasIndex ? undefined : clock.monotonicMs() + INDEX_RETRY_MS;
  };
  return {
    find: async (search, signal) => {
      if (scanUntilMs !== undefined && clock.monotonicMs() < scanUntilMs)
        return scanTxs(comet, search, signal);
      try {
        const found = await findTxs(comet, search, signal);
        noteIndex(true);
        return found;
      } catch (error) {
        signal.throwIfAborted();
        const reason = whyScan(error);
        if (reason === undefined) throw error;
        if (reason === "no-index") noteIndex(false);
        else
          logger.debug("the remote node refused a search text", { connectionId, reason: errorText(error) });
        return scanTxs(comet, search, signal);
      }
    },
  };
}

/** Why a search cannot be answered by the index of the node; undefined for any other error. */
function whyScan(error: unknown): "no-index" | "bad-text" | undefined {
  if (!(error instanceof ClientError) || error.facts.code !== "rpc") return undefined;
  const { data } = error.facts;
  if (/indexing is disabled|TxSearch is not supported/i.test(data)) return "no-index";
  // CometBFT's parser says "offset 12: got …, wanted …", its handler "maximum query length exceeded".
  return /^offset \d+:|query length|pars(?:e|ing)|syntax/i.test(data) ? "bad-text" : undefined;
}

const finders = new WeakMap<SearchedChain, TxFinder>();

/** Returns the finder of this client, which remembers across cycles whether the node has an index. */
export function txFinderOf(comet: SearchedChain, deps: TxFinderDeps): TxFinder {
  const finder = finders.get(comet) ?? createTxFinder(comet, deps);
  finders.set(comet, finder);
  return finder;
}
