import { compareBytes } from "../../../platform/base/bytes.ts";

/**
 * Key of a saved node: the version that created it, and its position among the nodes of that version. Positions count
 * from 1 in pre-order, so a root that version v created is (v, 1).
 */
export interface NodeId {
  readonly version: number;
  readonly nonce: number;
}

/** A key with its value. `id` and `hash` are undefined until the commit of the version that created the leaf. */
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
 * `left` and `right` are nodes, or ids of saved nodes that are not in memory.
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

/**
 * A node. Nodes are immutable, because many versions share them. Three fields are set once after creation: `id` and
 * `hash` at the commit, and a child when it is read from the storage.
 */
export type IavlNode = Leaf | Inner;

/** Reads a saved node. Throws `IavlError` if it is missing or broken. */
export type ReadNode = (id: NodeId) => IavlNode;

/** Creates a leaf without id and hash. */
export function newLeaf(key: Uint8Array, value: Uint8Array): Leaf {
  return { kind: "leaf", height: 0, size: 1, key, value, id: undefined, hash: undefined };
}

/** Creates an inner node without id and hash. */
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

/** Returns the left child. Reads it from the storage if it is not in memory, and keeps it in memory. */
export function leftOf(node: Inner, read: ReadNode): IavlNode {
  const child = node.left;
  if ("kind" in child) return child;
  const loaded = read(child);
  node.left = loaded;
  return loaded;
}

/** Returns the right child. Reads it from the storage if it is not in memory, and keeps it in memory. */
export function rightOf(node: Inner, read: ReadNode): IavlNode {
  const child = node.right;
  if ("kind" in child) return child;
  const loaded = read(child);
  node.right = loaded;
  return loaded;
}

/** Whether the path to `key` goes to the left child of this node. */
export function goesLeft(node: Inner, key: Uint8Array): boolean {
  return compareBytes(key, node.key) < 0;
}
