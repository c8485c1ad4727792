import { Buffer } from "node:buffer";
import type { Entry, KVStore } from "./kv-store.ts";

/** A layer of writes above another store. Nothing reaches the parent before `write`. */
export interface CacheStore extends KVStore {
  /** Applies the writes to the parent in ascending key order and empties the layer. */
  readonly write: () => void;
}

/** Byte strings as latin-1 text: usable as map keys, and compared in the order of their bytes. */
type KeyText = string;

/** A pending write: a value, or undefined for a deletion. */
interface Pending {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

interface Layer {
  readonly parent: KVStore;
  /** The layer that `parent` is, when it is one: layers read and write through each other without its methods. */
  readonly below: Layer | undefined;
  /** What is below all layers. */
  readonly bottom: KVStore;
  readonly pending: Map<KeyText, Pending>;
  /** Keys of `pending` in order; undefined when a key was added since. */
  sorted: readonly KeyText[] | undefined;
}

/** Layers of the stores made here. Not a property: a copy of a store with another method must not pass for the store. */
const layers = new WeakMap<KVStore, Layer>();

/** Puts an empty layer above `parent`. Reads cost a map look-up more; an iteration sorts the pending keys once. */
export function createCacheStore(parent: KVStore): CacheStore {
  const below = layers.get(parent);
  const bottom = below?.bottom ?? parent;
  const layer: Layer = { parent, below, bottom, pending: new Map(), sorted: undefined };
  const store: CacheStore = {
    get: (key) => {
      const own = findPending(layer, keyText(key));
      return own === undefined ? bottom.get(key) : own.value;
    },
    has: (key) => {
      const own = findPending(layer, keyText(key));
      return own === undefined ? bottom.has(key) : own.value !== undefined;
    },
    set: (key, value) => {
      if (key.length === 0) throw new Error("this is a bug: a store key is empty");
      put(layer, keyText(key), { key: key.slice(), value: value.slice() });
    },
    delete: (key) => put(layer, keyText(key), { key: key.slice(), value: undefined }),
    iterate: (start, end) => merge(parent.iterate(start, end), pendingBetween(layer, start, end), 1),
    iterateReverse: (start, end) =>
      merge(parent.iterateReverse(start, end), pendingBetween(layer, start, end).toReversed(), -1),
    write: () => flush(layer),
  };
  layers.set(store, layer);
  return store;
}

/** The nearest pending write of a key. */
function findPending(top: Layer, text: KeyText): Pending | undefined {
  for (let layer: Layer | undefined = top; layer !== undefined; layer = layer.below) {
    const own = layer.pending.get(text);
    if (own !== undefined) return own;
  }
  return undefined;
}

/** Up to this length a text is quicker to put together than to ask the engine for. */
const SHORT_KEY = 12;

function keyText(key: Uint8Array): KeyText {
  if (key.length <= SHORT_KEY) {
    let text = "";
    for (let at = 0; at < key.length; at++) text += String.fromCharCode(key[at] ?? 0);
    return text;
  }
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

function put(layer: Layer, text: KeyText, pending: Pending): void {
  if (layer.sorted !== undefined && !layer.pending.has(text)) layer.sorted = undefined;
  layer.pending.set(text, pending);
}

function sortedKeys(layer: Layer): readonly KeyText[] {
  layer.sorted ??= [...layer.pending.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return layer.sorted;
}

function flush(layer: Layer): void {
  if (layer.below !== undefined) flushTo(layer.below, layer.pending);
  else flushSorted(layer);
  layer.pending.clear();
  layer.sorted = undefined;
}

/** A layer keeps no order, so its writes need none. */
function flushTo(below: Layer, writes: ReadonlyMap<KeyText, Pending>): void {
  for (const [text, pending] of writes) put(below, text, pending);
}

function flushSorted(layer: Layer): void {
  for (const text of sortedKeys(layer)) {
    const { key, value } = layer.pending.get(text) ?? missing();
    if (value === undefined) layer.parent.delete(key);
    else layer.parent.set(key, value);
  }
}

function missing(): never {
  throw new Error("this is a bug: a sorted key is not pending");
}

/** A copy of the pending writes in a range, ascending: later writes do not disturb who iterates over it. */
function pendingBetween(layer: Layer, start?: Uint8Array, end?: Uint8Array): Pending[] {
  if (layer.pending.size === 0) return [];
  const keys = sortedKeys(layer);
  const from = start === undefined ? 0 : lowerBound(keys, keyText(start));
  const to = end === undefined ? keys.length : lowerBound(keys, keyText(end));
  return keys.slice(from, to).map((text) => layer.pending.get(text) ?? missing());
}

/** Index of the first key that is not below `text`. */
function lowerBound(keys: readonly KeyText[], text: KeyText): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Merges two sorted sequences; a pending write hides the parent's entry of the same key. `direction` 1: ascending. */
function* merge(
  below: IterableIterator<Entry>,
  above: readonly Pending[],
  direction: 1 | -1,
): IterableIterator<Entry> {
  let at = 0;
  let lower = below.next();
  for (;;) {
    const own = above[at];
    if (own === undefined && lower.done === true) return;
    const order =
      own === undefined ? 1 : lower.done === true ? -1 : Buffer.compare(own.key, lower.value[0]) * direction;
    if (own !== undefined && order <= 0) {
      at += 1;
      if (order === 0) lower = below.next();
      if (own.value !== undefined) yield [own.key, own.value];
    } else if (lower.done !== true) {
      yield lower.value;
      lower = below.next();
    }
  }
}
