import { fromHex, toHex } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import { PageError } from "../errors.ts";
import type { SearchPage, SearchRequest, StoredBlock, StoredTx } from "../node-view.ts";
import { matchesSearch } from "../query-language/matches.ts";
import { type EventQuery, parseQuery } from "../query-language/parse-query.ts";
import type { BlockStore } from "./block-store.ts";
import type { Narrowing, TxPlace } from "./event-index.ts";

const TX_TAGS: readonly string[] = ["tx.height", "tx.hash"];
const BLOCK_TAGS: readonly string[] = ["block.height"];

/** The transaction at a place; undefined when there is none. */
export function txAt(store: BlockStore, { height, position }: TxPlace): StoredTx | undefined {
  const tx = store.block(height)?.txs[position];
  const result = store.results(height)?.txResults[position];
  if (tx === undefined || result === undefined) return undefined;
  return { hash: sha256(tx), height, index: position, tx, result };
}

/**
 * Searches transactions. Conditions on tx.height and tx.hash are about the transaction; all others must hold in one
 * event of it (CometBFT 0.38 kv indexer). Cost: the index narrows by the first other condition, what remains is compared.
 */
export function searchTxs(store: BlockStore, request: SearchRequest): SearchPage<StoredTx> {
  const query = parseQuery(request.query);
  const found: TxPlace[] = [];
  for (const place of txCandidates(store, query)) {
    const tx = txAt(store, place);
    if (tx === undefined) continue;
    const fixed = new Map([
      ["tx.height", tx.height.toString()],
      ["tx.hash", hashAsAsked(query, tx.hash)],
    ]);
    if (matchesSearch(query, fixed, tx.result.events)) found.push(place);
  }
  return page(found, request, (place) => txAt(store, place));
}

/** Searches blocks by height and by the events of their begin and end. */
export function searchBlocks(store: BlockStore, request: SearchRequest): SearchPage<StoredBlock> {
  const query = parseQuery(request.query);
  const found: bigint[] = [];
  for (const height of store.index.blockCandidates(narrow(query, "block.height", BLOCK_TAGS))) {
    const fixed = new Map([["block.height", height.toString()]]);
    if (matchesSearch(query, fixed, store.results(height)?.events ?? [])) found.push(height);
  }
  return page(found, request, (height) => store.block(height));
}

function txCandidates(store: BlockStore, query: EventQuery): Iterable<TxPlace> {
  const hash = query.conditions.find(({ tag, operator }) => tag === "tx.hash" && operator === "=")?.operand;
  if (hash === undefined || hash.kind === "time")
    return store.index.txCandidates(narrow(query, "tx.height", TX_TAGS));
  if (!/^[0-9a-fA-F]{64}$/.test(hash.text)) return [];
  const place = store.index.placeOf(fromHex(hash.text));
  return place === undefined ? [] : [place];
}

/** The hash in the case that the query wrote it in: CometBFT accepts either. */
function hashAsAsked(query: EventQuery, hash: Uint8Array): string {
  const upper = toHex(hash).toUpperCase();
  const asked = query.conditions.find(({ tag }) => tag === "tx.hash")?.operand;
  return asked?.kind === "string" && asked.text.toUpperCase() === upper ? asked.text : upper;
}

const MAX_HEIGHT = 2n ** 63n - 1n;

/** The range of heights that a query allows, and the best attribute to look up. */
function narrow(query: EventQuery, heightTag: string, fixedTags: readonly string[]): Narrowing {
  let fromHeight = 0n;
  let toHeight = MAX_HEIGHT;
  for (const { tag, operator, operand } of query.conditions) {
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
  const equal = others.find(({ operator, operand }) => operator === "=" && operand?.kind === "string");
  const value = equal?.operand?.kind === "string" ? equal.operand.text : undefined;
  return { fromHeight, toHeight, tag: (equal ?? others[0])?.tag, value };
}

/** One page of ascending finds. Pages count from 1; an empty find has one empty page. Throws {@link PageError}. */
function page<P, T>(
  found: readonly P[],
  request: SearchRequest,
  load: (place: P) => T | undefined,
): SearchPage<T> {
  const { page: number, perPage, order } = request;
  const pages = Math.max(1, Math.ceil(found.length / perPage));
  if (number < 1 || number > pages) {
    throw new PageError(
      { code: "page-out-of-range", pages },
      `page should be within [1, ${pages}] range, given ${number}`,
    );
  }
  const ordered = order === "asc" ? found : found.toReversed();
  const items = ordered.slice((number - 1) * perPage, number * perPage).flatMap((place) => load(place) ?? []);
  return { items, total: found.length };
}
