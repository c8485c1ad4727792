import { toHex } from "../../src/platform/base/bytes.ts";
import type { CommitChanges, StateStorage } from "../../src/localnet/chain/store/multi-store.ts";

/** In-memory counterpart of the node's state storage. */
export interface MemoryStorage extends StateStorage {
  readonly save: (changes: CommitChanges) => void;
  /** Returns the number of saved tree nodes. */
  readonly size: () => number;
}

export function createMemoryStorage(): MemoryStorage {
  const nodes = new Map<string, Uint8Array>();
  const roots = new Map<bigint, CommitChanges["roots"]>();
  const nameOf = (store: string, id: Uint8Array): string => `${store}/${toHex(id)}`;
  return {
    save: (changes) => {
      for (const { store, id, bytes } of changes.writes) nodes.set(nameOf(store, id), bytes);
      for (const { store, id } of changes.deletes) nodes.delete(nameOf(store, id));
      roots.set(changes.height, changes.roots);
      for (const height of roots.keys()) if (height < changes.height - BigInt(KEPT - 1)) roots.delete(height);
    },
    size: () => nodes.size,
    latestHeight: () => [...roots.keys()].at(-1),
    heights: () => [...roots.keys()],
    roots: (height) => roots.get(height) ?? [],
    node: (store, id) => nodes.get(nameOf(store, id)),
  };
}

/** Number of heights with saved roots. Test applications use the same number as `keepRecent`. */
export const KEPT = 5;
