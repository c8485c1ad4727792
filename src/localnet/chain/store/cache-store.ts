import { Buffer } from "node:buffer";
import { latin1 } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { sortTexts } from "../../../platform/base/order.ts";

/** A key in a store with its value. Do not modify the two arrays, because the store may share them. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** An ordered map from bytes to bytes. Keys have at least one byte. Values may be empty. Stores opened by a context consume gas. */
export interface KVStore {
  /** Returns a key's value, or undefined if the key does not exist. The caller must not modify the array. */
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  /** Stores the key and value arrays without copying them, here and in the layers below. The caller must not modify them afterwards. */
  readonly set: (key: Uint8Array, value: Uint8Array) => void;
  /** Like `set`, stores the key's array without copying it. */
  readonly delete: (key: Uint8Array) => void;
  /**
   * Iterates over the entries with start <= key < end in ascending order. Without `start` or `end`, the range is open on that side.
   * Writes after the call do not affect the iteration.
   */
  readonly iterate: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
  /** Iterates over the same range as `iterate`, but in descending order of keys. */
  readonly iterateReverse: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
}

/** A cache layer above another store, its parent. The layer collects writes until `write` passes them to the parent. */
export interface CacheStore extends KVStore {
  /** Moves all writes to the parent, in ascending key order if the parent is not itself a cache layer. */
  readonly write: () => void;
}

/**
 * Maximum number of changes since the last iteration for which the sorted list is updated. With more changes, it is faster to sort
 * the list again.
 */
const MAX_CHANGES = 64;

/**
 * Creates an empty layer above `parent`. Each read needs one map lookup per layer. The first iteration after many writes sorts the
 * writes.
 */
export function createCacheStore(parent: KVStore): CacheStore {
  return new Layer(parent);
}

// The layer is a class, because every transaction creates several layers. Creating a closure per method could take longer than the
// transaction's reads and writes.
class Layer implements CacheStore {
  readonly parent: KVStore;
  /**
   * The parent store if the parent is also a cache layer, otherwise undefined. Layers use this field instead of KVStore's methods,
   * so that a key is converted to text only once for all layers.
   */
  readonly below: Layer | undefined;
  /** The store below all layers, such as an IAVL tree. */
  readonly bottom: KVStore;
  readonly pending = new Map<KeyText, Pending>();
  /**
   * The pending writes in key order, or undefined if unsorted. A change replaces this list, so that later writes do not affect
   * running iterations.
   */
  sorted: Sorted | undefined = undefined;
  /** Number of writes that have updated `sorted` since the last iteration. */
  changes = 0;

  constructor(parent: KVStore) {
    this.parent = parent;
    this.below = parent instanceof Layer ? parent : undefined;
    this.bottom = this.below?.bottom ?? parent;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const own = findPending(this, keyText(key));
    return own === undefined ? this.bottom.get(key) : own.value;
  }

  has(key: Uint8Array): boolean {
    const own = findPending(this, keyText(key));
    return own === undefined ? this.bottom.has(key) : own.value !== undefined;
  }

  set(key: Uint8Array, value: Uint8Array): void {
    if (key.length === 0) unreachable("a store key is empty");
    put(this, { text: keyText(key), key, value });
  }

  delete(key: Uint8Array): void {
    put(this, { text: keyText(key), key, value: undefined });
  }

  iterate(start?: Uint8Array, end?: Uint8Array): IterableIterator<Entry> {
    return iterateLayer(this.parent.iterate(start, end), writesBetween(this, start, end, 1), 1);
  }

  iterateReverse(start?: Uint8Array, end?: Uint8Array): IterableIterator<Entry> {
    return iterateLayer(this.parent.iterateReverse(start, end), writesBetween(this, start, end, -1), -1);
  }

  write(): void {
    flush(this);
  }
}

/** Finds a key's pending write in the nearest layer that contains one. */
function findPending(top: Layer, text: KeyText): Pending | undefined {
  for (let layer: Layer | undefined = top; layer !== undefined; layer = layer.below) {
    const own = layer.pending.get(text);
    if (own !== undefined) return own;
  }
  return undefined;
}

function put(layer: Layer, pending: Pending): void {
  layer.pending.set(pending.text, pending);
  if (layer.sorted === undefined) return;
  layer.changes += 1;
  layer.sorted = layer.changes > MAX_CHANGES ? undefined : replaced(layer.sorted, pending);
}

function sortedWrites(layer: Layer): Sorted {
  layer.changes = 0;
  layer.sorted ??= sortedFrom(
    sortTexts([...layer.pending.keys()]).map(
      (text) => layer.pending.get(text) ?? unreachable("a sorted key is not pending"),
    ),
  );
  return layer.sorted;
}

function flush(layer: Layer): void {
  if (layer.below !== undefined) flushTo(layer.below, layer.pending);
  else flushSorted(layer);
  layer.pending.clear();
  layer.sorted = undefined;
}

/** Moves writes to the cache layer below. The writes can be in any order, because the lower layer sorts its keys. */
function flushTo(below: Layer, writes: ReadonlyMap<KeyText, Pending>): void {
  for (const pending of writes.values()) put(below, pending);
}

/**
 * Applies a layer's writes to the tree in key order, because the insertion order determines an IAVL tree's shape and root hash.
 */
function flushSorted(layer: Layer): void {
  for (const { key, value } of sortedWrites(layer).flat()) {
    if (value === undefined) layer.parent.delete(key);
    else layer.parent.set(key, value);
  }
}

/** Returns the pending writes in a range, or undefined if there are none. */
function writesBetween(
  layer: Layer,
  start: Uint8Array | undefined,
  end: Uint8Array | undefined,
  direction: 1 | -1,
): PendingRange | undefined {
  if (layer.pending.size === 0) return undefined;
  const bounds = {
    start: start === undefined ? undefined : keyText(start),
    end: end === undefined ? undefined : keyText(end),
  };
  return pendingBetween(sortedWrites(layer), bounds, direction);
}

/**
 * Merges pending writes into the parent's entries. If there are no writes, returns the parent's iterator, which saves one call per
 * entry.
 */
function iterateLayer(
  parentEntries: IterableIterator<Entry>,
  writes: PendingRange | undefined,
  direction: 1 | -1,
): IterableIterator<Entry> {
  return writes === undefined ? parentEntries : merge(parentEntries, writes, direction);
}

/**
 * Merges the parent's entries with pending writes, both sorted in `direction` (1: ascending). A pending write replaces the
 * parent's entry with the same key, and a pending deletion removes it.
 */
function* merge(
  parentEntries: IterableIterator<Entry>,
  writes: PendingRange,
  direction: 1 | -1,
): IterableIterator<Entry> {
  let own = writes();
  let lower = parentEntries.next();
  for (;;) {
    if (own === undefined && lower.done === true) return;
    const order =
      own === undefined ? 1 : lower.done === true ? -1 : Buffer.compare(own.key, lower.value[0]) * direction;
    if (own !== undefined && order <= 0) {
      const { key, value } = own;
      own = writes();
      if (order === 0) lower = parentEntries.next();
      if (value !== undefined) yield [key, value];
    } else if (lower.done !== true) {
      yield lower.value;
      lower = parentEntries.next();
    }
  }
}

const TEXT = Symbol("key text");

/** A key as bytes, with a property in which the key's text may be cached. */
interface TextHolder extends Uint8Array {
  [TEXT]?: KeyText;
}

/** Maximum key length, in bytes, for which appending characters is faster than calling Buffer. */
const SHORT_KEY = 12;

/** Returns a key's text, from the cache if available. */
export function keyText(key: Uint8Array): KeyText {
  const { [TEXT]: cached }: TextHolder = key;
  if (cached !== undefined) return cached;
  if (key.length > SHORT_KEY) return latin1(key);
  let text = "";
  for (let at = 0; at < key.length; at++) text += String.fromCharCode(key[at] ?? 0);
  return text;
}

/** Caches a frequently used key's text on the key array, which must not change afterwards, and returns the array. */
export function cacheKeyText(key: TextHolder): Uint8Array {
  key[TEXT] = latin1(key);
  return key;
}

/** Returns a store by name. Throws a plain error (a bug) for a name that no module registered. */
type StoreSource = (name: string) => KVStore;

/** A set of cache layers, one above each store. The stores below receive the branch's writes only when `write` is called. */
export interface Branch {
  readonly store: StoreSource;
  readonly branch: () => Branch;
  readonly write: () => void;
}

/** Creates a branch. Each store's cache layer is created on first use. */
export function createBranch(below: StoreSource): Branch {
  // The layers are in a list, because a transaction opens few stores on each branch, and creating a map would take longer. The list
  // is sorted so that every node writes in name order, no matter which store was used first.
  const layers: { readonly name: string; readonly layer: CacheStore }[] = [];
  const branch: Branch = {
    store: (name) => {
      for (const opened of layers) if (opened.name === name) return opened.layer;
      const layer = createCacheStore(below(name));
      const after = layers.findIndex((opened) => opened.name > name);
      layers.splice(after < 0 ? layers.length : after, 0, { name, layer });
      return layer;
    },
    write: () => {
      for (const { layer } of layers) layer.write();
    },
    branch: () => createBranch(branch.store),
  };
  return branch;
}

/** A store key as latin-1 text, which can serve as a JavaScript map key. Key texts sort in the same order as the bytes. */
type KeyText = string;

export interface Pending {
  readonly text: KeyText;
  readonly key: Uint8Array;
  /** The new value, or undefined if the key is deleted. */
  readonly value: Uint8Array | undefined;
}

/**
 * Writes in key order, split into short lists. A change copies only one short list and the outer list, so that running iterations can still
 * use the old lists.
 */
export type Sorted = readonly (readonly Pending[])[];

const PART_LENGTH = 128;

export function sortedFrom(writes: readonly Pending[]): Sorted {
  const parts: (readonly Pending[])[] = [];
  for (let at = 0; at < writes.length; at += PART_LENGTH) parts.push(writes.slice(at, at + PART_LENGTH));
  return parts;
}

/** Returns a copy of the sorted list with `pending`, which replaces an existing write for the same key. */
export function replaced(sorted: Sorted, pending: Pending): Sorted {
  const { part, index } = placeOf(sorted, pending.text);
  const old = sorted[part] ?? [];
  const removed = old[index]?.text === pending.text ? 1 : 0;
  const changed = old.toSpliced(index, removed, pending);
  const half = changed.length >> 1;
  const parts = changed.length > 2 * PART_LENGTH ? [changed.slice(0, half), changed.slice(half)] : [changed];
  return sorted.toSpliced(part, 1, ...parts);
}

interface Place {
  readonly part: number;
  readonly index: number;
}

/**
 * Returns the position of `text`, or the position at which to insert it. The position is in the last short list whose first key is
 * not greater than `text`.
 */
function placeOf(sorted: Sorted, text: KeyText): Place {
  const part = Math.max(0, lowerBound(sorted, (writes) => (writes[0]?.text ?? "") <= text) - 1);
  return { part, index: lowerBound(sorted[part] ?? [], (write) => write.text < text) };
}

/** Returns the index of the first item that is not below the bound. Uses binary search, so all items below the bound must come first. */
function lowerBound<T>(items: readonly T[], isBelow: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBelow(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A function that returns the next pending write in a range on each call, and undefined after the last write. */
type PendingRange = () => Pending | undefined;

/**
 * Returns the writes from `start` (inclusive) to `end` (exclusive), in ascending (1) or descending order. Returns undefined if the
 * range contains no writes.
 */
export function pendingBetween(
  sorted: Sorted,
  { start, end }: { readonly start: KeyText | undefined; readonly end: KeyText | undefined },
  direction: 1 | -1,
): PendingRange | undefined {
  const from = start === undefined ? { part: 0, index: 0 } : placeOf(sorted, start);
  const to = end === undefined ? { part: sorted.length, index: 0 } : placeOf(sorted, end);
  const range = direction === 1 ? ascending(sorted, from, to) : descending(sorted, from, to);
  const first = range();
  if (first === undefined) return undefined;
  let isFirst = true;
  return () => {
    if (!isFirst) return range();
    isFirst = false;
    return first;
  };
}

function ascending(sorted: Sorted, from: Place, to: Place): PendingRange {
  let { part, index } = from;
  return () => {
    if (index >= (sorted[part]?.length ?? 0)) {
      part += 1;
      index = 0;
    }
    const isPast = part > to.part || (part === to.part && index >= to.index);
    return isPast ? undefined : sorted[part]?.[index++];
  };
}

function descending(sorted: Sorted, from: Place, to: Place): PendingRange {
  let { part, index } = to;
  return () => {
    if (index === 0) {
      part -= 1;
      index = sorted[part]?.length ?? 0;
    }
    const isPast = part < from.part || (part === from.part && index <= from.index);
    return isPast ? undefined : sorted[part]?.[--index];
  };
}
