import { createCacheStore, type CacheStore } from "./cache-store.ts";
import type { KVStore } from "./kv-store.ts";

/** Finds a store by its module's store name; throws a plain error (our bug) for a name that nobody registered. */
export type StoreSource = (name: string) => KVStore;

/** One cache layer above all stores at once. */
export interface Branch {
  readonly store: StoreSource;
  /** Applies all writes to the layer below, store by store in the order of their names. */
  readonly write: () => void;
}

/** Creates a layer; stores are branched when they are first used. */
export function createBranch(below: StoreSource): Branch {
  const layers = new Map<string, CacheStore>();
  return {
    store: (name) => {
      const known = layers.get(name);
      if (known !== undefined) return known;
      const layer = createCacheStore(below(name));
      layers.set(name, layer);
      return layer;
    },
    write: () => {
      for (const name of [...layers.keys()].toSorted()) layers.get(name)?.write();
    },
  };
}
