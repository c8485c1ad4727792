import { fromHex } from "../../base/bytes.ts";
import { upperHex } from "../../base/go-text.ts";
import { sha256 } from "../../base/sha256.ts";
import { PageError } from "../errors.ts";
import type { SearchPage, SearchRequest, StoredBlock, StoredTx } from "../node-view.ts";
import { matchesSearch } from "../query-language/matches.ts";
import { type EventQuery, parseQuery } from "../query-language/parse-query.ts";
import type { BlockStore } from "./block-store.ts";
import type { Narrowing, TxPlace } from "./event-index.ts";

const TX_TAGS: readonly string[] = ["tx.height", "tx.hash"];
const BLOCK_TAGS: readonly string[] = ["block.height"];

/** Returns the transaction at a place, or undefined when there is none. */
export function txAt(store: BlockStore, { height, position }: TxPlace): StoredTx | undefined {
  const tx = store.block(height)?.txs[position];
  const result = store.results(height)?.txResults[position];
  if (tx === undefined || result === undefined) return undefined;
  return { hash: sha256(tx), height, index: position, tx, result };
}

/**
 * Searches transactions, as CometBFT 0.38's kv indexer does. The conditions on `tx.height` and `tx.hash` are about the
 * transaction; one event of it must satisfy all others. The index selects candidates by one condition and the range of
 * heights; the cost is linear in the number of candidates. Throws `QueryLanguageError` and {@link PageError}.
 */
export function searchTxs(store: BlockStore, request: SearchRequest): SearchPage<StoredTx> {
  const query = parseQuery(request.query);
  const matches: TxPlace[] = [];
  for (const place of txCandidates(store, query)) {
    const tx = txAt(store, place);
    if (tx === undefined) continue;
    const fixed = new Map([
      ["tx.height", tx.height.toString()],
      ["tx.hash", hashInQueryCase(query, tx.hash)],
    ]);
    if (matchesSearch(query, fixed, tx.result.events)) matches.push(place);
  }
  return page(matches, request, (place) => txAt(store, place));
}

/** Searches blocks by height and by the events of BeginBlock and EndBlock. Otherwise like {@link searchTxs}. */
export function searchBlocks(store: BlockStore, request: SearchRequest): SearchPage<StoredBlock> {
  const query = parseQuery(request.query);
  const matches: bigint[] = [];
  for (const height of store.index.blockCandidates(narrow(query, "block.height", BLOCK_TAGS))) {
    const fixed = new Map([["block.height", height.toString()]]);
    if (matchesSearch(query, fixed, store.results(height)?.events ?? [])) matches.push(height);
  }
  return page(matches, request, (height) => store.block(height));
}

function txCandidates(store: BlockStore, query: EventQuery): Iterable<TxPlace> {
  const hash = query.conditions.find(({ tag, operator }) => tag === "tx.hash" && operator === "=")?.operand;
  if (hash === undefined || hash.kind === "time")
    return store.index.txCandidates(narrow(query, "tx.height", TX_TAGS));
  if (!/^[0-9a-fA-F]{64}$/.test(hash.text)) return [];
  const place = store.index.placeOf(fromHex(hash.text));
  return place === undefined ? [] : [place];
}

/** Returns the hash in the letter case of the query. CometBFT accepts both, but the matcher compares exactly. */
function hashInQueryCase(query: EventQuery, hash: Uint8Array): string {
  const upper = upperHex(hash);
  const operand = query.conditions.find(({ tag }) => tag === "tx.hash")?.operand;
  return operand?.kind === "string" && operand.text.toUpperCase() === upper ? operand.text : upper;
}

const MAX_HEIGHT = 2n ** 63n - 1n;

/** Returns the range of heights of a query, and the condition for the index lookup. */
function narrow(query: EventQuery, heightTag: string, fixedTags: readonly string[]): Narrowing {
  let fromHeight = 0n;
  let toHeight = MAX_HEIGHT;
  for (const { tag, operator, operand } of query.conditions) {
    // A condition that is not a decimal height does not narrow the range. The matcher compares it later.
    if (tag !== heightTag || operand?.kind !== "number" || !/^\d{1,18}$/.test(operand.text)) continue;
    const height = BigInt(operand.text);
    if (operator === "=" || operator === ">=" || operator === ">") {
      fromHeight = height > fromHeight ? height : fromHeight;
    }
    if (operator === "=" || operator === "<=" || operator === "<") {
      toHeight = height < toHeight ? height : toHeight;
    }
  }
  const others = query.conditions.filter(({ tag }) => !fixedTags.includes(tag));
  // An exact value selects fewer candidates than a range or EXISTS.
  const equal = others.find(({ operator, operand }) => operator === "=" && operand?.kind === "string");
  const value = equal?.operand?.kind === "string" ? equal.operand.text : undefined;
  return { fromHeight, toHeight, tag: (equal ?? others[0])?.tag, value };
}

/** Returns one page of the matches, which are ascending. An empty result has one empty page. Throws {@link PageError}. */
function page<P, T>(
  matches: readonly P[],
  request: SearchRequest,
  load: (place: P) => T | undefined,
): SearchPage<T> {
  const { page: number, perPage, order } = request;
  const pages = Math.max(1, Math.ceil(matches.length / perPage));
  if (number < 1 || number > pages) {
    throw new PageError(
      { code: "page-out-of-range", pages },
      `page should be within [1, ${pages}] range, given ${number}`,
    );
  }
  const ordered = order === "asc" ? matches : matches.toReversed();
  const items = ordered.slice((number - 1) * perPage, number * perPage).flatMap((place) => load(place) ?? []);
  return { items, total: matches.length };
}
