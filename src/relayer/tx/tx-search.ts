import { raceAbort } from "../../platform/base/abort.ts";
import { toHex } from "../../platform/base/bytes.ts";
import type { BlockRange, SearchPage, TxSearcher } from "../../cosmos/client/chain-client.ts";
import { RelayError } from "../chain/relay-error.ts";
import { isWholeText, matches, searchText, type TxCondition } from "./tx-filter.ts";
import type { FoundTx } from "./tx-proof.ts";

/** Limits on one search. The next cycle continues where the search ended. */
export const MAX_BLOCKS_PER_SEARCH = 5_000n;
export const MAX_TXS_PER_SEARCH = 200;
const MAX_PAGES_PER_SEARCH = 200;
const PAGE_SIZE = 50;
/** Limit for a single block that exceeds the limits above by itself. An endpoint that returns more pages is broken. */
const MAX_PAGES = 2_000;

export interface TxSearch {
  readonly conditions: readonly TxCondition[];
  readonly range: BlockRange;
  /** Returns true if the transaction with this hash (lower-case hex) was relayed or has become a dead letter. */
  readonly isHandled: (hash: string) => boolean;
}

export interface FoundTxs {
  /** In chain order. */
  readonly found: readonly FoundTx[];
  /** All heights in the range up to this one have been searched completely. */
  readonly upTo: bigint;
}

/**
 * Finds the matching transactions in the range that succeeded and have not been handled yet. Throws `RelayError` "too-many-pages".
 *
 * Contracts receive transactions in chain order, and the journal stores progress as a single height. Both require ascending order
 * and complete blocks. A search that exceeds its limits therefore ends before the last block that it read. A block with more
 * transactions than the limits allow is read to its end.
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
    // The next page may continue this page's last block, so only the heights below it are complete.
    const upTo = BigInt(response.txs.at(-1)?.height ?? 0) - 1n;
    // Pages have their own limit, because a filter may match many failed transactions.
    const isEnough = found.length >= MAX_TXS_PER_SEARCH || page >= MAX_PAGES_PER_SEARCH;
    if (isEnough && upTo >= range.from && upTo <= range.to) {
      return { found: inChainOrder(found.filter((tx) => BigInt(tx.height) <= upTo)), upTo };
    }
  }
  throw new RelayError(
    { code: "too-many-pages", pages: MAX_PAGES },
    `the search for transactions has more than ${MAX_PAGES} pages`,
  );
}

/** A node orders by height. Within a block, the order is by index. */
function inChainOrder(found: readonly FoundTx[]): readonly FoundTx[] {
  return found.toSorted((a, b) => a.height - b.height || a.index - b.index);
}

/**
 * Returns what is wrong with a page; undefined if nothing is. A page is wrong if the node found a transaction for the whole filter
 * that {@link matches} refuses. The transaction's events are then in an unknown format.
 */
export function whyRefused({ conditions, range }: TxSearch, page: SearchPage): string | undefined {
  if (!isWholeText(conditions, range)) return undefined;
  const refused = page.txs.find(
    (tx) => tx.result.code === 0 && isInRange(tx, range) && !matches(conditions, viewOf(tx)),
  );
  return refused === undefined
    ? undefined
    : `found transaction ${viewOf(refused).hash}, whose events lack what the filter asks for: they are in an unknown format`;
}

function isInRange({ height }: { readonly height: number }, { from, to }: BlockRange): boolean {
  return BigInt(height) >= from && BigInt(height) <= to;
}

function viewOf({ height, hash, result }: SearchPage["txs"][number]): Parameters<typeof matches>[1] {
  return { height: BigInt(height), hash: toHex(hash).toUpperCase(), events: result.events };
}

function isWanted(search: TxSearch, tx: SearchPage["txs"][number]): tx is FoundTx {
  // Failed transactions have events and match filters, but the local chain accepts only successful transactions.
  if (tx.proof === undefined || tx.result.code !== 0) return false;
  return (
    isInRange(tx, search.range) && matches(search.conditions, viewOf(tx)) && !search.isHandled(toHex(tx.hash))
  );
}
