import { fromHex, sha256, upperHex } from "../../../platform/base/bytes.ts";
import { maxInt, minInt } from "../../../platform/base/integers.ts";
import { requirePage } from "../base/errors.ts";
import type { SearchPage, SearchRequest, StoredBlock, StoredTx } from "../base/node-view.ts";
import {
  type Condition,
  type EventQuery,
  holds,
  matchesSearch,
  parseQuery,
} from "../query-language/parse-query.ts";
import type { BlockStore } from "./block-store.ts";
import type { Slice, TxPlace } from "./event-index.ts";

const TX_TAGS = { height: "tx.height", hash: "tx.hash" } as const;
const BLOCK_TAGS = { height: "block.height", hash: undefined } as const;

export function txAt(store: BlockStore, { height, position }: TxPlace): StoredTx | undefined {
  const tx = store.block(height)?.txs[position];
  const result = store.txResult(height, position);
  if (tx === undefined || result === undefined) return undefined;
  return { hash: sha256(tx), height, index: position, tx, result };
}

/**
 * Searches for transactions like CometBFT 0.38's kv indexer. Conditions on `tx.height` and `tx.hash` apply to the transaction
 * itself. All other conditions must be satisfied by a single event in the transaction. The index counts the matches and selects the
 * page, so only transactions on the page are decoded. Throws `QueryLanguageError`, or `PageError` for an invalid page.
 */
export function searchTxs(store: BlockStore, request: SearchRequest): SearchPage<StoredTx> {
  const query = parseQuery(request.query);
  const byHash = query.conditions.find(({ tag, operator }) => tag === TX_TAGS.hash && operator === "=");
  const matches = byHash === undefined ? indexedTxs(store, query) : listed(txOfHash(store, query, byHash));
  return readPage(matches, request, (place) => txAt(store, place));
}

/** Searches for blocks by height and by BeginBlock and EndBlock events, with the same rules as {@link searchTxs}. */
export function searchBlocks(store: BlockStore, request: SearchRequest): SearchPage<StoredBlock> {
  const { search, heights } = splitQuery(parseQuery(request.query), BLOCK_TAGS);
  const { index } = store;
  const matches: Matches<bigint> =
    heights.length === 0
      ? { total: index.countBlocks(search), slice: (slice) => index.findBlocks(search, slice) }
      : listed(index.findBlocks(search, ALL).filter((height) => holdsForAll(heights, `${height}`)));
  return readPage(matches, request, store.block);
}

interface Matches<P> {
  readonly total: number;
  readonly slice: (slice: Slice) => readonly P[];
}

const ALL: Slice = { order: "asc", offset: 0, limit: -1 };

/** Wraps a list of places (heights or transaction positions), in ascending order, as search matches. */
function listed<P>(places: readonly P[]): Matches<P> {
  return {
    total: places.length,
    slice: ({ order, offset, limit }) =>
      (order === "asc" ? places : places.toReversed()).slice(offset, offset + limit),
  };
}

/** Finds the transaction with the queried hash, then tests all other conditions on it, like CometBFT. */
function txOfHash(store: BlockStore, query: EventQuery, { operand }: Condition): readonly TxPlace[] {
  if (operand === undefined || operand.kind === "time" || !/^[0-9a-fA-F]{64}$/.test(operand.text)) return [];
  const place = store.index.placeOf(fromHex(operand.text));
  const tx = place && txAt(store, place);
  if (place === undefined || tx === undefined) return [];
  const own = new Map([
    [TX_TAGS.height, `${tx.height}`],
    [TX_TAGS.hash, hashInQueryCase(query, tx.hash)],
  ]);
  return matchesSearch(query, own, tx.result.events) ? [place] : [];
}

/** Returns the hash in upper or lower case, as in the query, because CometBFT accepts either and `matchesSearch` compares exactly. */
function hashInQueryCase(query: EventQuery, hash: Uint8Array): string {
  const upper = upperHex(hash);
  const operand = query.conditions.find(({ tag }) => tag === TX_TAGS.hash)?.operand;
  return operand?.kind === "string" && operand.text.toUpperCase() === upper ? operand.text : upper;
}

function indexedTxs(store: BlockStore, query: EventQuery): Matches<TxPlace> {
  const { search, heights, hashes } = splitQuery(query, TX_TAGS);
  const { index } = store;
  if (heights.length === 0 && hashes.length === 0) {
    return { total: index.countTxs(search), slice: (slice) => index.findTxs(search, slice) };
  }
  const places = index.findTxs(search, ALL).filter(({ height }) => holdsForAll(heights, `${height}`));
  if (hashes.length === 0) return listed(places);
  return listed(places.filter((place) => holdsForAll(hashes, upperHex(hashAt(store, place)))));
}

function hashAt(store: BlockStore, { height, position }: TxPlace): Uint8Array {
  return sha256(store.block(height)?.txs[position] ?? new Uint8Array());
}

function holdsForAll(conditions: readonly Condition[], value: string): boolean {
  return conditions.every((condition) => holds(condition, value));
}

const MAX_HEIGHT = 2n ** 63n - 1n;

/** Splits a query into the conditions for the index, and the height and hash conditions that the index cannot evaluate. */
function splitQuery(query: EventQuery, tags: { readonly height: string; readonly hash: string | undefined }) {
  let fromHeight = 0n;
  let toHeight = MAX_HEIGHT;
  const heights: Condition[] = [];
  for (const condition of query.conditions.filter(({ tag }) => tag === tags.height)) {
    const range = heightRange(condition);
    if (range === undefined) heights.push(condition);
    else {
      fromHeight = maxInt(fromHeight, range.from);
      toHeight = minInt(toHeight, range.to);
    }
  }
  return {
    search: {
      fromHeight,
      toHeight,
      conditions: query.conditions.filter(({ tag }) => tag !== tags.height && tag !== tags.hash),
    },
    heights,
    hashes: query.conditions.filter(({ tag }) => tag === tags.hash),
  };
}

/** Returns the range of heights that satisfies a condition, or undefined if the operand is not a decimal height. */
function heightRange({ operator, operand }: Condition): { from: bigint; to: bigint } | undefined {
  if (operator === "EXISTS") return { from: 0n, to: MAX_HEIGHT };
  if (operand?.kind !== "number" || !/^\d{1,18}$/.test(operand.text)) return undefined;
  const height = BigInt(operand.text);
  switch (operator) {
    case "=":
      return { from: height, to: height };
    case ">":
      return { from: height + 1n, to: MAX_HEIGHT };
    case ">=":
      return { from: height, to: MAX_HEIGHT };
    case "<":
      return { from: 0n, to: height - 1n };
    case "<=":
      return { from: 0n, to: height };
    case "CONTAINS":
      return undefined;
  }
}

/** Reads a page of matches, or an empty page 1 if there are no matches. Throws `PageError`. */
function readPage<P, T>(
  matches: Matches<P>,
  { page, perPage, order }: SearchRequest,
  load: (place: P) => T | undefined,
): SearchPage<T> {
  requirePage(page, matches.total, perPage);
  const places = matches.slice({ order, offset: (page - 1) * perPage, limit: perPage });
  return { items: loadEach(places, load), total: matches.total };
}

function* loadEach<P, T>(places: readonly P[], load: (place: P) => T | undefined): Iterable<T> {
  for (const place of places) {
    const item = load(place);
    if (item !== undefined) yield item;
  }
}
