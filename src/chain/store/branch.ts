import { sortTexts } from "../../base/sort-texts.ts";
import { createCacheStore, type CacheStore } from "./cache-store.ts";
import type { KVStore } from "./kv-store.ts";

/** Returns a store by name. Throws a plain error (a bug) for a name that no module registered. */
export type StoreSource = (name: string) => KVStore;

/** A cache layer above every store. Its writes reach the stores below with `write`, or never. */
export interface Branch {
  readonly store: StoreSource;
  /** Applies all writes to the stores below. */
  readonly write: () => void;
}

/** Creates a branch. The cache layer of a store is created when the store is first used. */
export function createBranch(below: StoreSource): Branch {
  const layers = new Map<string, CacheStore>();
  return {
    store: (name) => {
      const existing = layers.get(name);
      if (existing !== undefined) return existing;
      const layer = createCacheStore(below(name));
      layers.set(name, layer);
      return layer;
    },
    write: () => {
      // Sorted, so that every node writes in the same order, whichever store was used first.
      for (const name of sortTexts([...layers.keys()])) layers.get(name)?.write();
    },
  };
}
