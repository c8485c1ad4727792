import { EMPTY_ROOT_HASH } from "./hash-node.ts";
import type { IavlNode, Leaf, ReadNode } from "./node.ts";
import { proveKey } from "./prove.ts";
import { savedHash } from "./save.ts";
import { findLeaf, walkDown, walkUp } from "./walk.ts";

/** A key with its value. Neither may be changed. */
type IavlEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Reading of one tree. */
export interface IavlReader {
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  /** Number of keys. */
  readonly size: () => number;
  /** Entries with start <= key < end, ascending unless `descending`; an absent bound is open. Lazy. */
  readonly iterate: (
    start?: Uint8Array,
    end?: Uint8Array,
    order?: "ascending" | "descending",
  ) => IterableIterator<IavlEntry>;
}

/** A saved version; does not change. */
export interface IavlView extends IavlReader {
  readonly version: bigint;
  readonly rootHash: Uint8Array;
  /**
   * The ICS-23 proof (bytes of a `CommitmentProof`) that the key is here with its value, or that it is not here. As on a
   * real node, it does not verify for an empty value, for an absent key beside an empty value, or for an empty tree.
   */
  readonly proof: (key: Uint8Array) => Uint8Array;
}

/** Reads the tree whose root `rootNow` gives at the time of the call. */
export function createIavlReader(rootNow: () => IavlNode | undefined, read: ReadNode): IavlReader {
  return {
    get: (key) => findLeaf(rootNow(), key, read)?.value,
    has: (key) => findLeaf(rootNow(), key, read) !== undefined,
    size: () => rootNow()?.size ?? 0,
    iterate: (start, end, order = "ascending") => {
      const walk = order === "ascending" ? walkUp : walkDown;
      return entriesOf(walk(rootNow(), { start, end }, read));
    },
  };
}

/** A saved tree. */
export function createIavlView(version: bigint, root: IavlNode | undefined, read: ReadNode): IavlView {
  return {
    ...createIavlReader(() => root, read),
    version,
    rootHash: rootHashOf(root),
    proof: (key) => proveKey(root, key, read),
  };
}

/** Hash of a saved tree; SHA-256 of nothing for an empty one. */
export function rootHashOf(root: IavlNode | undefined): Uint8Array {
  return root === undefined ? EMPTY_ROOT_HASH : savedHash(root);
}

function* entriesOf(leaves: Iterable<Leaf>): IterableIterator<IavlEntry> {
  for (const leaf of leaves) yield [leaf.key, leaf.value];
}
