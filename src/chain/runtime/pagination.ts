import { concat, prefixEnd } from "../../base/bytes.ts";
import type { PageRequest, PageResponse } from "../../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { Entry, KVStore } from "../store/kv-store.ts";
import { QueryError } from "./module.ts";

/** Page size when a request names none; such a request also gets the total. */
const DEFAULT_PAGE_LIMIT = 100n;

/** The part of a store that is paged through: all keys with this prefix, which callbacks see without it. */
export interface PagedStore {
  readonly store: KVStore;
  readonly prefix: Uint8Array;
}

/**
 * Sees one entry and says whether it matches the filter. `onPage` tells whether a match belongs to the page; in offset
 * mode the entries before and after it are seen too.
 */
export type FilterEntry = (key: Uint8Array, value: Uint8Array, onPage: boolean) => boolean;

/**
 * Pages through a store as the SDK's `Paginate`: by offset, with `next_key` the first key after the page and, if asked
 * for, the number of all entries; or from `key` on, inclusive, without a total. Throws `QueryError` when a request names both.
 */
export function paginate(
  paged: PagedStore,
  request: PageRequest | undefined,
  onEntry: (key: Uint8Array, value: Uint8Array) => void,
): PageResponse {
  return paginateFiltered(paged, request, (key, value, onPage) => {
    if (onPage) onEntry(key, value);
    return true;
  });
}

/**
 * Pages through matching entries as the SDK's `FilteredPaginate`: offset, limit and total count matches. In key mode
 * `next_key` is the next entry of any kind, so that it may be there although nothing more matches.
 */
export function paginateFiltered(
  paged: PagedStore,
  request: PageRequest | undefined,
  onEntry: FilterEntry,
): PageResponse {
  const page = withDefaults(request);
  if (page.offset > 0n && page.key.length > 0) {
    throw new QueryError(2, "invalid request, either offset or key is expected, got both");
  }
  return page.key.length > 0 ? pageFromKey(paged, page, onEntry) : pageFromOffset(paged, page, onEntry);
}

function pageFromKey(paged: PagedStore, page: PageRequest, onEntry: FilterEntry): PageResponse {
  let hits = 0n;
  for (const [key, value] of entries(paged, page)) {
    if (hits === page.limit) return { nextKey: key, total: 0n };
    if (onEntry(key, value, true)) hits += 1n;
  }
  return { nextKey: new Uint8Array(0), total: 0n };
}

function pageFromOffset(paged: PagedStore, page: PageRequest, onEntry: FilterEntry): PageResponse {
  const end = page.offset + page.limit;
  let hits = 0n;
  let nextKey: Uint8Array | undefined;
  for (const [key, value] of entries(paged, page)) {
    if (onEntry(key, value, hits >= page.offset && hits < end)) hits += 1n;
    if (hits !== end + 1n) continue;
    nextKey ??= key;
    if (!page.countTotal) break;
  }
  return { nextKey: nextKey ?? new Uint8Array(0), total: page.countTotal ? hits : 0n };
}

function withDefaults(request: PageRequest | undefined): PageRequest {
  const page = request ?? {
    key: new Uint8Array(0),
    offset: 0n,
    limit: 0n,
    countTotal: false,
    reverse: false,
  };
  return page.limit === 0n ? { ...page, limit: DEFAULT_PAGE_LIMIT, countTotal: true } : page;
}

/** Entries of the range in the wanted order, keys without the prefix. */
function* entries({ store, prefix }: PagedStore, page: PageRequest): Generator<Entry> {
  const first = concat(prefix, page.key);
  const end = prefixEnd(prefix);
  const range = page.reverse
    ? store.iterateReverse(prefix, page.key.length === 0 ? end : after(store, first, end))
    : store.iterate(first, end);
  for (const [key, value] of range) yield [key.subarray(prefix.length), value];
}

/** The key that follows the first one at or after `start`: the exclusive end of a walk down from there. */
function after(store: KVStore, start: Uint8Array, end: Uint8Array | undefined): Uint8Array | undefined {
  const walk = store.iterate(start, end);
  walk.next();
  const second = walk.next();
  walk.return?.();
  return second.done === true ? end : second.value[0];
}
