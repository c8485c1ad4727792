import { toHex } from "../../../src/platform/base/bytes.ts";
import { createIavlTree, type IavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";

/** Storage of tree nodes in memory. */
export interface TreeStorage {
  /** Encoded nodes by id, in hex. */
  readonly nodes: Map<string, Uint8Array>;
  /** Returns the number of reads. */
  readonly loads: () => number;
  readonly keep: (commit: ReturnType<IavlTree["commit"]>) => void;
  /** Releases a version of the tree and deletes the nodes that it returns. Throws if one of them is not stored. */
  readonly release: (tree: IavlTree, version: bigint) => void;
  /** Creates a tree over the stored nodes, as after a restart. */
  readonly open: () => IavlTree;
}

/** Creates an empty storage. */
export function createTreeStorage(): TreeStorage {
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
        if (!nodes.delete(toHex(id))) throw new Error(`released a node that is not stored: ${toHex(id)}`);
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
