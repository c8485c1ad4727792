import { keyText, type Entry, type KVStore } from "../../src/localnet/chain/store/cache-store.ts";

/** A store in memory: a sorted list of keys beside a map. Reads cost one look-up; an insertion moves the keys behind it. */
export function createSortedStore(): KVStore {
  const entries = new Map<string, Entry>();
  const keys: string[] = [];
  return {
    get: (key) => entries.get(keyText(key))?.[1],
    has: (key) => entries.has(keyText(key)),
    set: (key, value) => {
      const name = keyText(key);
      if (!entries.has(name)) keys.splice(lowerBound(keys, name), 0, name);
      entries.set(name, [key, value]);
    },
    delete: (key) => {
      const name = keyText(key);
      if (entries.delete(name)) keys.splice(lowerBound(keys, name), 1);
    },
    iterate: (start, end) => walk(entries, keys, range(keys, start, end), 1),
    iterateReverse: (start, end) => walk(entries, keys, range(keys, start, end), -1),
  };
}

type Range = readonly [from: number, to: number];

function range(keys: readonly string[], start?: Uint8Array, end?: Uint8Array): Range {
  const from = start === undefined ? 0 : lowerBound(keys, keyText(start));
  return [from, end === undefined ? keys.length : lowerBound(keys, keyText(end))];
}

/** The store is not written during a walk: writes go to layers above it. */
function* walk(
  entries: ReadonlyMap<string, Entry>,
  keys: readonly string[],
  [from, to]: Range,
  direction: 1 | -1,
): IterableIterator<Entry> {
  for (let count = 0; count < to - from; count++) {
    const entry = entries.get(keys[direction === 1 ? from + count : to - 1 - count] ?? "");
    if (entry === undefined) throw new Error("the store was written during a walk");
    yield entry;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
