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
  // A list: a transaction opens few stores on each of its branches, and a map for each branch takes longer to create.
  const layers: { readonly name: string; readonly layer: CacheStore }[] = [];
  return {
    store: (name) => {
      for (const opened of layers) if (opened.name === name) return opened.layer;
      const layer = createCacheStore(below(name));
      layers.push({ name, layer });
      return layer;
    },
    write: () => {
      // Sorted, so that every node writes in the same order, whichever store was used first.
      layers.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const { layer } of layers) layer.write();
    },
  };
}
