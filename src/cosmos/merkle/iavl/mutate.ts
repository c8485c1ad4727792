import { compareBytes, equalBytes } from "../../../platform/base/bytes.ts";
import { childOf, goesLeft, type IavlNode, type Inner, newInner, newLeaf, type ReadNode } from "./node.ts";

/*
 * Follows `recursiveSet`, `recursiveRemove` and `balance` of cosmos/iavl v1.2 (`mutable_tree.go`). The root hash depends on the
 * shape of the tree and on the version that created each node. Therefore, a sorted and balanced tree is not enough. In every
 * case, this code must create and share the same nodes as the Go code.
 */

/**
 * Sets `key` to `value` and returns the new root. The nodes on the path from the root to the leaf are new. All other nodes are
 * shared, so older roots stay valid. Setting a key to its current value also creates a new leaf, because the leaf's version is
 * hashed.
 */
export function setKey(
  root: IavlNode | undefined,
  key: Uint8Array,
  value: Uint8Array,
  read: ReadNode,
): IavlNode {
  const leaf = newLeaf(key, value);
  return root === undefined ? leaf : setBelow(root, leaf, read);
}

/**
 * Removes `key` and returns an object with the new root, which is undefined if the tree is now empty. The old and new trees share
 * unchanged nodes, as with `setKey`. Returns undefined if the tree does not contain the key.
 */
export function removeKey(
  root: IavlNode | undefined,
  key: Uint8Array,
  read: ReadNode,
): { readonly root: IavlNode | undefined } | undefined {
  return root === undefined ? undefined : removeBelow(root, key, read);
}

function setBelow(node: IavlNode, leaf: IavlNode, read: ReadNode): IavlNode {
  if (node.kind === "leaf") {
    const order = compareBytes(leaf.key, node.key);
    if (order === 0) return leaf;
    return order < 0 ? newInner(node.key, leaf, node) : newInner(leaf.key, node, leaf);
  }
  const left = childOf(node, "left", read);
  const right = childOf(node, "right", read);
  const changed = goesLeft(node, leaf.key)
    ? newInner(node.key, setBelow(left, leaf, read), right)
    : newInner(node.key, left, setBelow(right, leaf, read));
  // If only a value was replaced, no height has changed, so the tree is still balanced.
  return changed.size === node.size ? changed : balance(changed, read);
}

/**
 * `root` is the subtree without the key, or undefined if it is empty. `newKey` is the smallest key in the subtree if it changed.
 * `newKey` becomes the key of the nearest ancestor with this subtree on its right, because an inner node's key is the smallest key
 * in its right subtree.
 */
interface Removal {
  readonly root: IavlNode | undefined;
  readonly newKey: Uint8Array | undefined;
}

function removeBelow(node: IavlNode, key: Uint8Array, read: ReadNode): Removal | undefined {
  if (node.kind === "leaf") {
    return equalBytes(node.key, key) ? { root: undefined, newKey: undefined } : undefined;
  }
  return goesLeft(node, key) ? removeLeft(node, key, read) : removeRight(node, key, read);
}

function removeLeft(node: Inner, key: Uint8Array, read: ReadNode): Removal | undefined {
  const removal = removeBelow(childOf(node, "left", read), key, read);
  if (removal === undefined) return undefined;
  const right = childOf(node, "right", read);
  // Replace this node by its remaining child. As in Go, the child keeps its id and hash, and no node is created.
  if (removal.root === undefined) return { root: right, newKey: node.key };
  return { root: balance(newInner(node.key, removal.root, right), read), newKey: removal.newKey };
}

function removeRight(node: Inner, key: Uint8Array, read: ReadNode): Removal | undefined {
  const removal = removeBelow(childOf(node, "right", read), key, read);
  if (removal === undefined) return undefined;
  const left = childOf(node, "left", read);
  if (removal.root === undefined) return { root: left, newKey: undefined };
  const changed = newInner(removal.newKey ?? node.key, left, removal.root);
  return { root: balance(changed, read), newKey: undefined };
}

/**
 * Rotates if the children's heights differ by two. If the two grandchildren on the higher side have the same height, both a single
 * and a double rotation would restore the balance, but the hashes would differ. In this case, Go uses the single rotation, so
 * `leansBack` is a strict comparison.
 */
function balance(node: Inner, read: ReadNode): Inner {
  const left = childOf(node, "left", read);
  const right = childOf(node, "right", read);
  const lean = left.height - right.height;
  if (lean > 1 && left.kind === "inner") {
    const leansBack = leanOf(left, read) < 0;
    return rotateRight(leansBack ? newInner(node.key, rotateLeft(left, read), right) : node, read);
  }
  if (lean < -1 && right.kind === "inner") {
    const leansBack = leanOf(right, read) > 0;
    return rotateLeft(leansBack ? newInner(node.key, left, rotateRight(right, read)) : node, read);
  }
  return node;
}

/** Returns the left child's height minus the right child's height. */
function leanOf(node: Inner, read: ReadNode): number {
  return childOf(node, "left", read).height - childOf(node, "right", read).height;
}

function rotateRight(node: Inner, read: ReadNode): Inner {
  const left = childOf(node, "left", read);
  if (left.kind === "leaf") return node;
  const lowered = newInner(node.key, childOf(left, "right", read), childOf(node, "right", read));
  return newInner(left.key, childOf(left, "left", read), lowered);
}

function rotateLeft(node: Inner, read: ReadNode): Inner {
  const right = childOf(node, "right", read);
  if (right.kind === "leaf") return node;
  const lowered = newInner(node.key, childOf(node, "left", read), childOf(right, "left", read));
  return newInner(right.key, lowered, childOf(right, "right", read));
}
