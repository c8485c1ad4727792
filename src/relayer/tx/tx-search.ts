import { raceAbort } from "../../base/abort.ts";
import type { comet38 } from "@cosmjs/tendermint-rpc";
import { toHex } from "../../base/bytes.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import { RelayError } from "../relay-error.ts";
import { type HeightRange, matches, searchText, type TxCondition } from "./tx-filter.ts";
import type { FoundTx } from "./tx-proof.ts";

/** How far a search reads in one round, in blocks, pages and transactions. What is left comes next round. */
export const MAX_BLOCKS_PER_SEARCH = 5_000n;
const MAX_TXS_PER_SEARCH = 200;
const MAX_PAGES_PER_SEARCH = 200;
const PAGE_SIZE = 50;
/** For a block that alone has more than all that; beyond it the endpoint is not to be believed. */
const MAX_PAGES = 2_000;

/** What is searched for. */
export interface TxSearch {
  readonly conditions: readonly TxCondition[];
  readonly range: HeightRange;
  /** Whether this transaction (lower-case hex hash) was handled before. */
  readonly isHandled: (hash: string) => boolean;
}

/** Transactions in the order of the chain; all of the range up to `upTo`, which may be below its end. */
export interface FoundTxs {
  readonly found: readonly FoundTx[];
  readonly upTo: bigint;
}

/**
 * All transactions of the range that match, succeeded and were not handled. A range with very many is cut at the end of
 * a block; a block is never cut, however many it holds.
 */
export async function findTxs(
  comet: Pick<ChainClient["comet"], "txSearch">,
  search: TxSearch,
  signal: AbortSignal,
): Promise<FoundTxs> {
  const { range } = search;
  const query = searchText(search.conditions, range);
  const found: FoundTx[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const request = { query, prove: true, page, per_page: PAGE_SIZE, order_by: "asc" } as const;
    const answer = await raceAbort(comet.txSearch(request), signal);
    for (const tx of answer.txs) if (isWanted(search, tx)) found.push(tx);
    if (page * PAGE_SIZE >= answer.totalCount || answer.txs.length === 0) return { found, upTo: range.to };
    const upTo = BigInt(answer.txs.at(-1)?.height ?? 0) - 1n;
    const isEnough = found.length >= MAX_TXS_PER_SEARCH || page >= MAX_PAGES_PER_SEARCH;
    if (isEnough && upTo >= range.from && upTo <= range.to) {
      return { found: found.filter((tx) => BigInt(tx.height) <= upTo), upTo };
    }
  }
  throw new RelayError(
    { code: "too-many-pages", pages: MAX_PAGES },
    `the search for transactions does not end within ${MAX_PAGES} pages`,
  );
}

/** Failed ones match like others, but the chain takes only what succeeded. */
function isWanted(search: TxSearch, tx: comet38.TxResponse): tx is FoundTx {
  const height = BigInt(tx.height);
  if (tx.proof === undefined || tx.result.code !== 0) return false;
  if (height < search.range.from || height > search.range.to) return false;
  const hash = toHex(tx.hash);
  return (
    matches(search.conditions, { height, hash: hash.toUpperCase(), events: tx.result.events }) &&
    !search.isHandled(hash)
  );
}
