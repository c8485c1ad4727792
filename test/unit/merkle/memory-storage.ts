import { toHex } from "../../../src/base/bytes.ts";
import { createIavlTree, type IavlCommit, type IavlTree } from "../../../src/merkle/iavl/tree.ts";

/** A storage of tree nodes in memory, as a node keeps them on disk. */
export interface MemoryStorage {
  readonly nodes: Map<string, Uint8Array>;
  readonly loads: () => number;
  readonly keep: (commit: IavlCommit) => void;
  readonly release: (tree: IavlTree, version: bigint) => void;
  /** A tree over what is kept, as after a restart. */
  readonly open: () => IavlTree;
}

/** An empty storage. */
export function createMemoryStorage(): MemoryStorage {
  const nodes = new Map<string, Uint8Array>();
  const versions = new Map<bigint, Uint8Array | undefined>();
  let loads = 0;
  return {
    nodes,
    loads: () => loads,
    keep: ({ version, rootId, writes }) => {
      for (const { id, bytes } of writes) nodes.set(toHex(id), bytes);
      versions.set(version, rootId);
    },
    release: (tree, version) => {
      for (const id of tree.release(version)) {
        if (!nodes.delete(toHex(id))) throw new Error(`released a node that is not there: ${toHex(id)}`);
      }
      versions.delete(version);
    },
    open: () =>
      createIavlTree({
        load: (id) => {
          loads += 1;
          return nodes.get(toHex(id));
        },
        versions: [...versions].map(([version, rootId]) => ({ version, rootId })),
      }),
  };
}
