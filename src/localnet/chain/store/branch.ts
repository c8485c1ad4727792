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
  // A list by name: a transaction opens few stores on each of its branches, and a map for each branch takes longer to create.
  // Every node writes in the order of the names, whichever store was used first.
  const layers: { readonly name: string; readonly layer: CacheStore }[] = [];
  return {
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
  };
}
