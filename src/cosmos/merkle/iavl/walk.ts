import { compareBytes, equalBytes } from "../../../platform/base/bytes.ts";
import { goesLeft, type IavlNode, type Leaf, leftOf, type ReadNode, rightOf } from "./node.ts";

/** A range of keys: start <= key < end. An undefined bound is open. */
export interface KeyRange {
  readonly start: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
}

/** Returns the leaf with this key, or undefined. */
export function findLeaf(root: IavlNode | undefined, key: Uint8Array, read: ReadNode): Leaf | undefined {
  let node = root;
  while (node?.kind === "inner") node = goesLeft(node, key) ? leftOf(node, read) : rightOf(node, read);
  return node !== undefined && equalBytes(node.key, key) ? node : undefined;
}

/** Returns the last leaf before `key` and the first leaf after it. The tree must not have `key`. */
export function neighbours(
  root: IavlNode | undefined,
  key: Uint8Array,
  read: ReadNode,
): { readonly left: Leaf | undefined; readonly right: Leaf | undefined } {
  const [left] = walkDown(root, { start: undefined, end: key }, read);
  const [right] = walkUp(root, { start: key, end: undefined }, read);
  return { left, right };
}

/** Iterates over the leaves of a range by ascending key. Reads nodes when it reaches them. */
export function* walkUp(root: IavlNode | undefined, range: KeyRange, read: ReadNode): IterableIterator<Leaf> {
  const { start, end } = range;
  // A stack of functions, so that a subtree is read from the storage only when the iteration reaches it.
  const pending: (() => IavlNode)[] = root === undefined ? [] : [() => root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = next();
    if (node.kind === "leaf") {
      if (end !== undefined && compareBytes(node.key, end) >= 0) return;
      if (start === undefined || compareBytes(node.key, start) >= 0) yield node;
      continue;
    }
    if (end === undefined || compareBytes(node.key, end) < 0) pending.push(() => rightOf(node, read));
    if (start === undefined || compareBytes(start, node.key) < 0) pending.push(() => leftOf(node, read));
  }
}

/** Iterates over the leaves of a range by descending key. Reads nodes when it reaches them. */
export function* walkDown(
  root: IavlNode | undefined,
  range: KeyRange,
  read: ReadNode,
): IterableIterator<Leaf> {
  const { start, end } = range;
  const pending: (() => IavlNode)[] = root === undefined ? [] : [() => root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = next();
    if (node.kind === "leaf") {
      if (start !== undefined && compareBytes(node.key, start) < 0) return;
      if (end === undefined || compareBytes(node.key, end) < 0) yield node;
      continue;
    }
    if (start === undefined || compareBytes(start, node.key) < 0) pending.push(() => leftOf(node, read));
    if (end === undefined || compareBytes(node.key, end) < 0) pending.push(() => rightOf(node, read));
  }
}
