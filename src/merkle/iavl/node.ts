import { compareBytes } from "../../base/bytes.ts";

/**
 * Where a saved node is kept: the version that made it and its place among that version's nodes, counted from 1 in
 * pre-order, so that a root made in version v is (v, 1).
 */
export interface NodeId {
  readonly version: number;
  readonly nonce: number;
}

/** A key and its value. `id` and `hash` are absent until the version that made the leaf is committed. */
export interface Leaf {
  readonly kind: "leaf";
  readonly height: 0;
  readonly size: 1;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  id: NodeId | undefined;
  hash: Uint8Array | undefined;
}

/**
 * An inner node. `key` is the smallest key of the right subtree: smaller keys are on the left.
 * `left` and `right` are nodes, or ids of saved nodes that were not read yet.
 */
export interface Inner {
  readonly kind: "inner";
  readonly height: number;
  readonly size: number;
  readonly key: Uint8Array;
  left: IavlNode | NodeId;
  right: IavlNode | NodeId;
  id: NodeId | undefined;
  hash: Uint8Array | undefined;
}

/** A node. Everything but the filling in of `id`, `hash` and read children is fixed when it is made. */
export type IavlNode = Leaf | Inner;

/** Gives a saved node. Throws when it is gone or broken: a tree whose nodes are missing cannot go on. */
export type ReadNode = (id: NodeId) => IavlNode;

/** A new leaf, not saved. */
export function newLeaf(key: Uint8Array, value: Uint8Array): Leaf {
  return { kind: "leaf", height: 0, size: 1, key, value, id: undefined, hash: undefined };
}

/** A new inner node over two nodes, not saved. */
export function newInner(key: Uint8Array, left: IavlNode, right: IavlNode): Inner {
  return {
    kind: "inner",
    height: Math.max(left.height, right.height) + 1,
    size: left.size + right.size,
    key,
    left,
    right,
    id: undefined,
    hash: undefined,
  };
}

/** The left child; reads it when it is not in memory, and keeps it there. */
export function leftOf(node: Inner, read: ReadNode): IavlNode {
  const child = node.left;
  if ("kind" in child) return child;
  const loaded = read(child);
  node.left = loaded;
  return loaded;
}

/** The right child; reads it when it is not in memory, and keeps it there. */
export function rightOf(node: Inner, read: ReadNode): IavlNode {
  const child = node.right;
  if ("kind" in child) return child;
  const loaded = read(child);
  node.right = loaded;
  return loaded;
}

/** Whether the way to `key` turns left at this node. */
export function goesLeft(node: Inner, key: Uint8Array): boolean {
  return compareBytes(key, node.key) < 0;
}
