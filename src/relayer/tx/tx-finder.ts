import type { comet38 } from "@cosmjs/tendermint-rpc";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { simpleProofs } from "../../cosmos/merkle/simple-tree.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { matches } from "./tx-filter.ts";
import type { FoundTx } from "./tx-proof.ts";
import { findTxs, type FoundTxs, MAX_TXS_PER_SEARCH, type TxSearch } from "./tx-search.ts";

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

/** A chain to search. A node that is behind responds to a search as if later blocks had no transaction. */
interface SearchedChain {
  readonly comet: BlockReader;
  readonly cometWith: (
    ...blocks: Parameters<ChainClient["cometWith"]>
  ) => Pick<ChainClient["comet"], "txSearch">;
}

/** Creates a finder that expects an index. */
export function createTxFinder({ comet, cometWith }: SearchedChain, deps: TxFinderDeps): TxFinder {
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
        // A node indexes a block after it has stored it, and before it stores the next one.
        const { from, to } = search.range;
        const found = await findTxs(cometWith({ from, to: to + 1n }), search, signal);
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

const finders = new WeakMap<BlockReader, TxFinder>();

/** Returns the finder of this chain, which remembers across cycles whether the node has an index. */
export function txFinderOf(chain: SearchedChain, deps: TxFinderDeps): TxFinder {
  const finder = finders.get(chain.comet) ?? createTxFinder(chain, deps);
  finders.set(chain.comet, finder);
  return finder;
}

/** Blocks of one scan. Each costs a call, or two when a transaction matches. The next cycle continues where it ended. */
export const MAX_BLOCKS_PER_SCAN = 200n;
/** Blocks that are read in parallel. */
const BLOCKS_AT_ONCE = 8n;

type BlockReader = Pick<ChainClient["comet"], "block" | "blockResults">;

/**
 * Finds the same transactions as `findTxs`, without the transaction index of the node: from the events in the results of
 * every block. The inclusion proofs are computed from the blocks, and the caller verifies them against the header.
 */
export async function scanTxs(comet: BlockReader, search: TxSearch, signal: AbortSignal): Promise<FoundTxs> {
  const { from, to } = search.range;
  const last = from + MAX_BLOCKS_PER_SCAN - 1n < to ? from + MAX_BLOCKS_PER_SCAN - 1n : to;
  const found: FoundTx[] = [];
  for (let height = from; height <= last; height += BLOCKS_AT_ONCE) {
    const end = height + BLOCKS_AT_ONCE - 1n < last ? height + BLOCKS_AT_ONCE - 1n : last;
    const blocks = await Promise.all(
      heightsOf(height, end).map((at) => scanBlock(comet, Number(at), search, signal)),
    );
    found.push(...blocks.flat());
    if (found.length >= MAX_TXS_PER_SEARCH) return { found, upTo: end };
  }
  return { found, upTo: last };
}

function heightsOf(from: bigint, to: bigint): readonly bigint[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
}

async function scanBlock(
  comet: BlockReader,
  height: number,
  search: TxSearch,
  signal: AbortSignal,
): Promise<readonly FoundTx[]> {
  const { results } = await raceAbort(comet.blockResults(height), signal);
  // The hash is not known yet. A condition on it is compared below.
  const conditions = search.conditions.filter(({ field }) => field !== "tx.hash");
  const isCandidate = ({ code, events }: comet38.TxData): boolean =>
    code === 0 && matches(conditions, { height: BigInt(height), hash: "", events });
  if (!results.some(isCandidate)) return [];
  const { block } = await raceAbort(comet.block(height), signal);
  const hashes = block.txs.map((tx) => sha256(tx));
  const { root, proofs } = simpleProofs(hashes);
  return results.flatMap((result, index) => {
    const [tx, hash, proof] = [block.txs[index], hashes[index], proofs[index]];
    if (!isCandidate(result) || tx === undefined || hash === undefined || proof === undefined) return [];
    const { leafHash, aunts } = proof;
    const inclusion = { total: Number(proof.total), index, leafHash, aunts };
    const one: FoundTx = {
      tx: new Uint8Array(tx),
      hash: new Uint8Array(hash),
      height,
      index,
      result,
      proof: { data: tx, rootHash: root, proof: inclusion },
    };
    return isWantedHash(one, search) ? [one] : [];
  });
}

function isWantedHash(tx: FoundTx, { conditions, isHandled }: TxSearch): boolean {
  const hash = toHex(tx.hash);
  const view = { height: BigInt(tx.height), hash: hash.toUpperCase(), events: tx.result.events };
  return matches(conditions, view) && !isHandled(hash);
}
