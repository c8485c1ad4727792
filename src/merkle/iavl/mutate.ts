import { compareBytes, equalBytes } from "../../base/bytes.ts";
import {
  goesLeft,
  type IavlNode,
  type Inner,
  leftOf,
  newInner,
  newLeaf,
  type ReadNode,
  rightOf,
} from "./node.ts";

/**
 * The tree with `key` set to `value`. Nodes on the way are made anew, all others are shared, so older roots stay as
 * they were. Setting a key to the value that it has makes a new leaf too: its version is part of the hash.
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

/** What is left when `key` is taken away; undefined when it was not there. Shares nodes as `setKey` does. */
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
  const left = leftOf(node, read);
  const right = rightOf(node, read);
  const changed = goesLeft(node, leaf.key)
    ? newInner(node.key, setBelow(left, leaf, read), right)
    : newInner(node.key, left, setBelow(right, leaf, read));
  return changed.size === node.size ? changed : balance(changed, read);
}

/**
 * `root` is the subtree without the key, undefined when nothing is left. `newKey` is the subtree's new smallest key when
 * it changed: the nearest ancestor that has this subtree on its right takes it as its own key.
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
  const removal = removeBelow(leftOf(node, read), key, read);
  if (removal === undefined) return undefined;
  const right = rightOf(node, read);
  if (removal.root === undefined) return { root: right, newKey: node.key };
  return { root: balance(newInner(node.key, removal.root, right), read), newKey: removal.newKey };
}

function removeRight(node: Inner, key: Uint8Array, read: ReadNode): Removal | undefined {
  const removal = removeBelow(rightOf(node, read), key, read);
  if (removal === undefined) return undefined;
  const left = leftOf(node, read);
  if (removal.root === undefined) return { root: left, newKey: undefined };
  const changed = newInner(removal.newKey ?? node.key, left, removal.root);
  return { root: balance(changed, read), newKey: undefined };
}

/** Rotates when one side is higher by two. The cases and their order are those of cosmos/iavl `balance`. */
function balance(node: Inner, read: ReadNode): Inner {
  const left = leftOf(node, read);
  const right = rightOf(node, read);
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

function leanOf(node: Inner, read: ReadNode): number {
  return leftOf(node, read).height - rightOf(node, read).height;
}

function rotateRight(node: Inner, read: ReadNode): Inner {
  const left = leftOf(node, read);
  if (left.kind === "leaf") return node;
  const lowered = newInner(node.key, rightOf(left, read), rightOf(node, read));
  return newInner(left.key, leftOf(left, read), lowered);
}

function rotateLeft(node: Inner, read: ReadNode): Inner {
  const right = rightOf(node, read);
  if (right.kind === "leaf") return node;
  const lowered = newInner(node.key, leftOf(node, read), leftOf(right, read));
  return newInner(right.key, lowered, rightOf(right, read));
}
