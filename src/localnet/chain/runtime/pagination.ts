import { concat, prefixEnd } from "../../../platform/base/bytes.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { MapRange } from "../store/collections.ts";
import type { Entry, KVStore } from "../store/cache-store.ts";
import { GrpcCode, QueryError } from "./errors.ts";

/** Page size for requests with limit 0, for which the SDK also sets `count_total`. */
const DEFAULT_PAGE_LIMIT = 100n;

/** The entries to page through, as a store and a key prefix. Callbacks receive the keys without the prefix. */
export interface PagedStore {
  readonly store: KVStore;
  readonly prefix: Uint8Array;
}

/**
 * Returns whether an entry matches the filter. `onPage` is true if a matching entry would be on the page. In offset mode, the
 * filter also runs for entries before and after the page.
 */
export type FilterEntry = (key: Uint8Array, value: Uint8Array, onPage: boolean) => boolean;

/**
 * Pages through a store like the SDK's `Paginate`. In offset mode, `next_key` is the first key after the page, and `total` counts
 * all entries if requested. In key mode, the page starts at `key` (inclusive) and has no total. Throws `QueryError` if a request
 * sets both the offset and the key.
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

export interface Page<T> {
  readonly items: T[];
  readonly pagination: PageResponse;
}

/** Reads a page of entries like {@link paginate}, and returns the result of `read` for each entry. */
export function readPage<T>(
  paged: PagedStore,
  request: PageRequest | undefined,
  read: (key: Uint8Array, value: Uint8Array) => T,
): Page<T> {
  const items: T[] = [];
  const pagination = paginate(paged, request, (key, value) => items.push(read(key, value)));
  return { items, pagination };
}

/** Reads a page of a map with {@link paginate}. Returns the result of `convert` for each entry. */
export function pageOf<K, V, T>(
  range: MapRange<K, V>,
  request: PageRequest | undefined,
  convert: (value: V, key: K) => T,
): Page<T> {
  return readPage(range, request, (keyBytes, bytes) => {
    const [key, value] = range.decode(keyBytes, bytes);
    return convert(value, key);
  });
}

/** Pages through a map's matching values like {@link paginateFiltered}. `convert` returns undefined if a value does not match. */
export function filteredPageOf<V, T>(
  range: MapRange<unknown, V>,
  request: PageRequest | undefined,
  convert: (value: V) => T | undefined,
): Page<T> {
  const items: T[] = [];
  const pagination = paginateFiltered(range, request, (key, bytes, onPage) => {
    const item = convert(range.decode(key, bytes)[1]);
    if (item !== undefined && onPage) items.push(item);
    return item !== undefined;
  });
  return { items, pagination };
}

/**
 * Pages through matching entries like the SDK's `FilteredPaginate`. Offset, limit and total count only matching entries. In key
 * mode, `next_key` is the next entry's key, even if that entry does not match, so the next page may be empty.
 */
export function paginateFiltered(
  paged: PagedStore,
  request: PageRequest | undefined,
  onEntry: FilterEntry,
): PageResponse {
  const page = withDefaults(request);
  if (page.offset > 0n && page.key.length > 0) {
    throw new QueryError(GrpcCode.Unknown, "invalid request, either offset or key is expected, got both");
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
    // `key` is the first match after the page, so it becomes `next_key`. With `count_total`, the walk continues to the end.
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

/** Iterates over the entries from the page's start key on, in the requested order, with the prefix removed from the keys. */
function* entries({ store, prefix }: PagedStore, page: PageRequest): Generator<Entry> {
  const first = concat(prefix, page.key);
  const end = prefixEnd(prefix);
  const range = page.reverse
    ? store.iterateReverse(prefix, page.key.length === 0 ? end : after(store, first, end))
    : store.iterate(first, end);
  for (const [key, value] of range) yield [key.subarray(prefix.length), value];
}

/**
 * Returns the exclusive upper bound of a reverse page that includes `start`. The bound is the second key at or after `start`, or
 * `end` if there is no such key.
 */
function after(store: KVStore, start: Uint8Array, end: Uint8Array | undefined): Uint8Array | undefined {
  const walk = store.iterate(start, end);
  walk.next();
  const second = walk.next();
  walk.return?.();
  return second.done === true ? end : second.value[0];
}
