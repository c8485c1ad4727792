/** A tree node to save. `id` is unique within its store. */
interface NodeWrite {
  readonly store: string;
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Changes of one commit. The node saves them in one database transaction with the block. */
export interface CommitChanges {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly writes: readonly NodeWrite[];
  /** Nodes that no kept height needs any more. */
  readonly deletes: readonly { readonly store: string; readonly id: Uint8Array }[];
  /** Heights that this commit makes unreadable. The node can delete their roots. */
  readonly expired?: readonly bigint[];
  /** Roots of all stores at this height. An absent id is an empty tree. */
  readonly roots: readonly { readonly store: string; readonly rootId: Uint8Array | undefined }[];
}

/** Saved state of an application, synchronous. The node implements it over SQLite. */
export interface StateStorage {
  /** Returns undefined for an empty storage. */
  readonly latestHeight: () => bigint | undefined;
  /** Heights with saved roots, ascending. */
  readonly heights: () => readonly bigint[];
  readonly roots: (height: bigint) => CommitChanges["roots"];
  readonly node: (store: string, id: Uint8Array) => Uint8Array | undefined;
}
