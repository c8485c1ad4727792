import { answerOf, readAnswer } from "../../cosmos/client/answers.ts";
import type { BlockRange, ChainClient, SearchPage, TxSearcher } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { simpleProofs } from "../../cosmos/merkle/simple-tree.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import { minInt } from "../../platform/base/integers.ts";
import { mapLimit } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { RelayError } from "../chain/relay-error.ts";
import { isWholeText, matches, searchText, type TxCondition } from "./tx-filter.ts";
import { badBlock, type FoundTx } from "./tx-prover.ts";

/** Maximum number of blocks in one search. The next cycle continues where the search ended. */
export const MAX_BLOCKS_PER_SEARCH = 5_000n;
const MAX_TXS_PER_SEARCH = 200;
const MAX_PAGES_PER_SEARCH = 200;
const PAGE_SIZE = 50;
/** Maximum number of pages in one search, even if a single block exceeds the other limits. An endpoint with more pages is broken. */
const MAX_PAGES = 2_000;

export interface TxSearch {
  readonly conditions: readonly TxCondition[];
  readonly range: BlockRange;
  /** Returns true if the transaction with this hash (lower-case hex) was relayed or has become a dead letter. */
  readonly isHandled: (hash: string) => boolean;
}

interface FoundTxs {
  /** Matching transactions, ordered by height and then by index in the block. */
  readonly found: readonly FoundTx[];
  /** Height up to which the search of the range is complete. */
  readonly upTo: bigint;
}

/**
 * Finds the successful transactions in a block range that match the filter and have not been handled yet. Throws `RelayError`
 * "too-many-pages".
 *
 * Contracts receive transactions in chain order, and the journal stores progress as a single height, so a search must cover
 * complete blocks in ascending order. A search that reaches its limits therefore drops the last block, which may be incomplete. If
 * the search has read only one block, it continues to the block's end.
 */
export async function findTxs(comet: TxSearcher, search: TxSearch, signal: AbortSignal): Promise<FoundTxs> {
  const { range } = search;
  const query = searchText(search.conditions, range);
  const found: FoundTx[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const request = { query, prove: true, page, per_page: PAGE_SIZE, order_by: "asc" } as const;
    const response = await raceAbort(comet.txSearch(request), signal);
    const { endpoint } = response;
    for (const tx of response.txs)
      if (isWanted(search, tx)) found.push(endpoint === undefined ? tx : { ...tx, endpoint });
    if (page * PAGE_SIZE >= response.totalCount || response.txs.length === 0)
      return { found: inChainOrder(found), upTo: range.to };
    // The last block on this page may continue on the next page, so only lower heights are complete.
    const upTo = BigInt(response.txs.at(-1)?.height ?? 0) - 1n;
    // Also limit the number of pages, because a filter may match many failed transactions.
    const isEnough = found.length >= MAX_TXS_PER_SEARCH || page >= MAX_PAGES_PER_SEARCH;
    if (isEnough && upTo >= range.from && upTo <= range.to) {
      return { found: inChainOrder(found.filter((tx) => BigInt(tx.height) <= upTo)), upTo };
    }
  }
  throw new RelayError(
    { code: "too-many-pages", pages: MAX_PAGES },
    `the transaction search has more than ${MAX_PAGES} pages`,
  );
}

/** Sorts transactions by height and then by index in the block. */
function inChainOrder(found: readonly FoundTx[]): readonly FoundTx[] {
  return found.toSorted((a, b) => a.height - b.height || a.index - b.index);
}

/**
 * Returns why a page of search results is invalid, or undefined if the page is valid. If the search covered the entire filter but
 * {@link matches} rejects a transaction in the page, the node's events have an unknown format.
 */
export function whyRefused({ conditions, range }: TxSearch, page: SearchPage): string | undefined {
  if (!isWholeText(conditions, range)) return undefined;
  const refused = page.txs.find(
    (tx) => tx.result.code === 0 && isInRange(tx, range) && !matches(conditions, viewOf(tx)),
  );
  return refused === undefined
    ? undefined
    : `found transaction ${viewOf(refused).hash}, but its events do not match the filter, so their format is unknown`;
}

function isInRange({ height }: { readonly height: number }, { from, to }: BlockRange): boolean {
  return BigInt(height) >= from && BigInt(height) <= to;
}

function viewOf({ height, hash, result }: SearchPage["txs"][number]): Parameters<typeof matches>[1] {
  return { height: BigInt(height), hash: toHex(hash).toUpperCase(), events: result.events };
}

function isWanted(search: TxSearch, tx: SearchPage["txs"][number]): tx is FoundTx {
  // The events of failed transactions may also match a filter, but the local chain accepts only successful transactions.
  if (tx.proof === undefined || tx.result.code !== 0) return false;
  return (
    isInRange(tx, search.range) && matches(search.conditions, viewOf(tx)) && !search.isHandled(toHex(tx.hash))
  );
}

interface TxFinderDeps {
  readonly connectionId: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
}

/** Finds transactions on one remote chain, using a transaction index if possible. */
type TxFinder = ReturnType<typeof createTxFinder>;

/** Time after which the finder tries an unusable index again. */
const INDEX_RETRY_MS = 600_000;

type SearchedChain = ScannedChain & Pick<ChainClient, "cometWith">;

/** Creates a finder that initially assumes that the chain's nodes have a transaction index. */
export function createTxFinder(chain: SearchedChain, deps: TxFinderDeps) {
  const { connectionId, clock, logger } = deps;
  let scanUntilMs: number | undefined;
  const noteIndex = (problem: unknown): void => {
    if (problem === undefined && scanUntilMs !== undefined)
      logger.info("the transaction index of the remote node can be used again", { connectionId });
    if (problem !== undefined && scanUntilMs === undefined)
      logger.warn(
        "the remote node has no transaction index that can be used: blocks are scanned instead, one call per block",
        {
          connectionId,
          reason: errorText(problem),
          advice: 'set tx_index.indexer = "kv" on the node, or add an endpoint with a complete index',
        },
      );
    scanUntilMs = problem === undefined ? undefined : clock.monotonicMs() + INDEX_RETRY_MS;
  };
  // Remembering only the last range suffices, because one cycle's queries search the same blocks.
  let counted: { readonly key: string; readonly done: Promise<boolean> } | undefined;
  const counts: TxCounts = new Map();
  const requireCounted = ({ range }: TxSearch, signal: AbortSignal): Promise<boolean> => {
    const key = `${range.from}-${range.to}`;
    if (counted?.key !== key) counted = { key, done: requireWholeIndex(chain, range, counts, signal) };
    return counted.done.catch((error: unknown) => {
      counted = undefined;
      throw error;
    });
  };
  return {
    /**
     * Like `findTxs`, but scans blocks while the index is unusable. Logs once when the index becomes unusable, and once when the
     * index is usable again.
     */
    find: async (search: TxSearch, signal: AbortSignal): Promise<FoundTxs> => {
      if (scanUntilMs !== undefined && clock.monotonicMs() < scanUntilMs)
        return scanTxs(chain, search, counts, signal);
      try {
        const searcher = chain.cometWith(indexed(search.range), (page) => whyRefused(search, page));
        const [first, isOfWhole] = await Promise.all([
          findTxs(searcher, search, signal),
          requireCounted(search, signal),
        ]);
        // The first search may have used an incomplete index, so repeat the search. The client now tries the other endpoints first.
        const found = isOfWhole ? first : await findTxs(searcher, search, signal);
        noteIndex(undefined);
        return found;
      } catch (error) {
        signal.throwIfAborted();
        const { class: answer, lack } = readAnswer(error);
        const isUnusable =
          lack === "index" || (error instanceof RelayError && error.facts.code === "index-incomplete");
        // A final client error means that the node's parser rejected the query text.
        const isText = answer === "final" && error instanceof ClientError;
        if (!isUnusable && !isText) throw error;
        if (isUnusable) noteIndex(error);
        else
          logger.debug("the remote node refused a search query", { connectionId, reason: errorText(error) });
        return scanTxs(chain, search, counts, signal);
      }
    },
  };
}

/** Extends a range by one block, because a node that has stored block h + 1 has indexed block h. */
function indexed({ from, to }: BlockRange): BlockRange {
  return { from, to: to + 1n };
}

type TxCounts = Map<bigint, number>;

/** Maximum number of blocks in a response of the RPC method `blockchain`. */
const BLOCKS_PER_COUNT = 20n;
const COUNTS_AT_ONCE = 10;
/** Maximum number of heights with a remembered count, enough for two searches of maximum length. */
const MAX_COUNTED_BLOCKS = Number(2n * MAX_BLOCKS_PER_SEARCH);

/**
 * Counts the transactions in a block range. Returns 0 if no endpoint can count, e.g. behind a gateway without the RPC method
 * `blockchain`. Rejects if the endpoints are temporarily unavailable, because a search without the count would not notice gaps in
 * the index.
 */
async function countTxs(
  { txCounts }: Pick<ScannedChain, "txCounts">,
  { from, to }: BlockRange,
  counts: TxCounts,
  signal: AbortSignal,
): Promise<number> {
  const starts: bigint[] = [];
  for (const height of heightsOf(from, to))
    if (!counts.has(height) && height >= (starts.at(-1) ?? from - BLOCKS_PER_COUNT) + BLOCKS_PER_COUNT)
      starts.push(height);
  try {
    await mapLimit(starts, COUNTS_AT_ONCE, async (start) => {
      const end = minInt(start + BLOCKS_PER_COUNT - 1n, to);
      for (const [height, count] of await txCounts({ from: start, to: end }, signal))
        counts.set(height, count);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ClientError && answerOf(error) === "not-now") throw error;
    return 0;
  }
  const sum = heightsOf(from, to).reduce((total, height) => total + (counts.get(height) ?? 0), 0);
  for (const height of counts.keys()) {
    if (counts.size <= MAX_COUNTED_BLOCKS) break;
    counts.delete(height);
  }
  return sum;
}

/**
 * Checks that the transaction index contains as many transactions as the blocks. An index may lack transactions, e.g. from the last
 * block before a crash. Returns true if the index of every queried endpoint is complete. Throws `RelayError` "index-incomplete" if
 * every index lacks transactions.
 */
async function requireWholeIndex(
  chain: SearchedChain,
  range: BlockRange,
  counts: TxCounts,
  signal: AbortSignal,
): Promise<boolean> {
  const { from, to } = range;
  const inBlocks = await countTxs(chain, range, counts, signal);
  if (inBlocks === 0) return true;
  let problem: string | undefined;
  let isWhole = true;
  const check = ({ totalCount }: SearchPage): string | undefined => {
    problem =
      totalCount >= inBlocks
        ? undefined
        : `has ${totalCount} of the ${inBlocks} transactions in blocks ${from} to ${to}: the index has gaps`;
    isWhole &&= problem === undefined;
    return problem;
  };
  try {
    const query = { query: searchText([], range), page: 1, per_page: 1 };
    await raceAbort(chain.cometWith(indexed(range), check).txSearch(query), signal);
    return isWhole;
  } catch (error) {
    throw problem === undefined
      ? error
      : new RelayError({ code: "index-incomplete" }, errorText(error), { cause: error });
  }
}

const finders = new WeakMap<BlockReader, TxFinder>();

/** Returns the chain's finder, which remembers across cycles whether the nodes have a transaction index. */
export function txFinderOf(chain: SearchedChain, deps: TxFinderDeps): TxFinder {
  const finder = finders.get(chain.comet) ?? createTxFinder(chain, deps);
  finders.set(chain.comet, finder);
  return finder;
}

/**
 * Maximum number of blocks that one scan reads. Each block costs one call, or two if a transaction matches or no endpoint can count
 * transactions. The next cycle continues where the scan ended.
 */
export const MAX_BLOCKS_PER_SCAN = 200n;
const BLOCKS_AT_ONCE = 8n;

type BlockReader = Pick<ChainClient["comet"], "block" | "blockResults">;

type ScannedChain = Pick<ChainClient, "txCounts" | "distrust"> & { readonly comet: BlockReader };

/**
 * Finds the same transactions as `findTxs` without the node's transaction index, by reading the events in every block's results.
 * Computes the inclusion proofs from the blocks; the caller verifies the proofs against the header. `counts` maps heights to known
 * transaction counts. Throws `RelayError` "bad-block" if a block does not have exactly one result per transaction.
 */
export async function scanTxs(
  chain: ScannedChain,
  search: TxSearch,
  counts: TxCounts,
  signal: AbortSignal,
): Promise<FoundTxs> {
  const { from, to } = search.range;
  const last = minInt(from + MAX_BLOCKS_PER_SCAN - 1n, to);
  // If counting fails, the scan reads every block.
  await countTxs(chain, { from, to: last }, counts, signal).catch(() => signal.throwIfAborted());
  const found: FoundTx[] = [];
  for (let height = from; height <= last; height += BLOCKS_AT_ONCE) {
    const end = minInt(height + BLOCKS_AT_ONCE - 1n, last);
    const blocks = await Promise.all(
      heightsOf(height, end).map((at) => scanBlock(chain, at, { search, counts }, signal)),
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
  { comet, distrust }: Pick<ScannedChain, "comet" | "distrust">,
  at: bigint,
  { search, counts }: { readonly search: TxSearch; readonly counts: TxCounts },
  signal: AbortSignal,
): Promise<readonly FoundTx[]> {
  const height = Number(at);
  const { results, endpoint: sender } = await raceAbort(comet.blockResults(height), signal);
  // The transaction hash is not known yet, so conditions on `tx.hash` are checked below.
  const conditions = search.conditions.filter(({ field }) => field !== "tx.hash");
  const isCandidate = ({ code, events }: FoundTx["result"]): boolean =>
    code === 0 && matches(conditions, { height: at, hash: "", events });
  if (counts.get(at) === results.length && !results.some(isCandidate)) return [];
  const { block, endpoint } = await raceAbort(comet.block(height), signal);
  // Store the block's transaction count, which the header proves, instead of an endpoint's count.
  counts.set(at, block.txs.length);
  // Fail here, because the search would never return to a transaction whose result is missing.
  if (block.txs.length !== results.length) {
    const error = badBlock(at, `${results.length} results of ${block.txs.length} transactions`);
    if (sender !== undefined) distrust(sender, error.message);
    throw error;
  }
  const hashes = block.txs.map((tx) => sha256(tx));
  const { root, proofs } = simpleProofs(hashes);
  return results.flatMap((result, index) => {
    const [tx, hash, proof] = [block.txs[index], hashes[index], proofs[index]];
    if (!isCandidate(result) || tx === undefined || hash === undefined || proof === undefined) return [];
    const { leafHash, aunts } = proof;
    const inclusion = { total: Number(proof.total), index, leafHash, aunts };
    const one: FoundTx = {
      tx,
      hash,
      height,
      index,
      result,
      proof: { data: tx, rootHash: root, proof: inclusion },
      ...(endpoint === undefined ? {} : { endpoint }),
    };
    return isWantedHash(one, search) ? [one] : [];
  });
}

function isWantedHash(tx: FoundTx, { conditions, isHandled }: TxSearch): boolean {
  const hash = toHex(tx.hash);
  const view = { height: BigInt(tx.height), hash: hash.toUpperCase(), events: tx.result.events };
  return matches(conditions, view) && !isHandled(hash);
}
