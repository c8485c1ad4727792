import { EMPTY_ROOT_HASH } from "./hash-node.ts";
import type { IavlNode, Leaf, ReadNode } from "./node.ts";
import { proveKey } from "./prove.ts";
import { savedHash } from "./save.ts";
import { findLeaf, walkDown, walkUp } from "./walk.ts";

/** A key with its value. The bytes belong to the tree and must not be changed. */
type IavlEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Reads from one tree. */
export interface IavlReader {
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  /** Returns the number of keys. */
  readonly size: () => number;
  /** Iterates over entries with start <= key < end. An undefined bound is open. Reads nodes when it reaches them. */
  readonly iterate: (
    start?: Uint8Array,
    end?: Uint8Array,
    order?: "ascending" | "descending",
  ) => IterableIterator<IavlEntry>;
}

/** A saved version. It never changes. */
export interface IavlView extends IavlReader {
  readonly version: bigint;
  readonly rootHash: Uint8Array;
  /** Returns a proof that the tree has the key with its value, or that it does not have the key; see `proveKey`. */
  readonly proof: (key: Uint8Array) => Uint8Array;
}

/** Creates a reader. Each call reads the tree whose root `rootNow` returns at that time. */
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

/** Creates the view of a saved version. */
export function createIavlView(version: bigint, root: IavlNode | undefined, read: ReadNode): IavlView {
  return {
    ...createIavlReader(() => root, read),
    version,
    rootHash: rootHashOf(root),
    proof: (key) => proveKey(root, key, read),
  };
}

/** Returns the root hash of a saved tree; SHA-256 of no bytes for an empty tree. */
export function rootHashOf(root: IavlNode | undefined): Uint8Array {
  return root === undefined ? EMPTY_ROOT_HASH : savedHash(root);
}

function* entriesOf(leaves: Iterable<Leaf>): IterableIterator<IavlEntry> {
  for (const leaf of leaves) yield [leaf.key, leaf.value];
}
