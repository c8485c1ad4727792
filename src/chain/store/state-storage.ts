/** One tree node to keep: its id within its store, and its encoding. */
interface NodeWrite {
  readonly store: string;
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/** What one commit changed on disk. Written in one transaction with the block, it makes a restart exact. */
export interface CommitChanges {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly writes: readonly NodeWrite[];
  /** Nodes that no kept height needs any more. */
  readonly deletes: readonly { readonly store: string; readonly id: Uint8Array }[];
  /** Heights that can be read no more with this commit: their roots may go. */
  readonly expired?: readonly bigint[];
  /** Roots of all stores at this height; an absent id is an empty tree. */
  readonly roots: readonly { readonly store: string; readonly rootId: Uint8Array | undefined }[];
}

/** Where a restarted application reads its state from (implemented by the node over SQLite). Synchronous. */
export interface StateStorage {
  /** The newest committed height, or undefined for an empty storage. */
  readonly latestHeight: () => bigint | undefined;
  /** Heights whose roots are kept, ascending. */
  readonly heights: () => readonly bigint[];
  readonly roots: (height: bigint) => CommitChanges["roots"];
  readonly node: (store: string, id: Uint8Array) => Uint8Array | undefined;
}
