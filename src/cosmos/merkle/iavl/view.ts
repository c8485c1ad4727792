import { compareBytes, concat, equalBytes } from "../../../platform/base/bytes.ts";
import { encodeExistence, encodeNonExistence, type ProofPath, type ProofStep } from "../ics23/proof-types.ts";
import {
  childOf,
  EMPTY_ROOT_HASH,
  goesLeft,
  hashPrefix,
  type IavlNode,
  type Inner,
  type Leaf,
  type ReadNode,
  savedHash,
  savedId,
} from "./node.ts";

/** A key with its value. The arrays of the key and the value belong to the tree and must not be modified. */
type IavlEntry = readonly [key: Uint8Array, value: Uint8Array];

type Order = "ascending" | "descending";

export interface IavlReader {
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  readonly size: () => number;
  /** Iterates over entries with start <= key < end, reading nodes lazily. An undefined bound means no limit. */
  readonly iterate: (start?: Uint8Array, end?: Uint8Array, order?: Order) => IterableIterator<IavlEntry>;
}

/** A saved, immutable version of a tree. */
export interface IavlView extends IavlReader {
  readonly version: bigint;
  readonly rootHash: Uint8Array;
  /** Returns a proof that the tree contains the key with its value, or that it does not contain the key; see `proveKey`. */
  readonly proof: (key: Uint8Array) => Uint8Array;
}

/** Creates a reader. Each call reads the tree whose root `rootNow` returns at the time of the call. */
export function createIavlReader(rootNow: () => IavlNode | undefined, read: ReadNode): IavlReader {
  return {
    get: (key) => findLeaf(rootNow(), key, read)?.value,
    has: (key) => findLeaf(rootNow(), key, read) !== undefined,
    size: () => rootNow()?.size ?? 0,
    iterate: (start, end, order = "ascending") => {
      return entriesOf(walk(rootNow(), { start, end }, order, read));
    },
  };
}

export function createIavlView(version: bigint, root: IavlNode | undefined, read: ReadNode): IavlView {
  return {
    ...createIavlReader(() => root, read),
    version,
    rootHash: rootHashOf(root),
    proof: (key) => proveKey(root, key, read),
  };
}

/** Returns the root hash of a saved tree. The root hash of an empty tree is the SHA-256 of zero bytes. */
export function rootHashOf(root: IavlNode | undefined): Uint8Array {
  return root === undefined ? EMPTY_ROOT_HASH : savedHash(root);
}

function* entriesOf(leaves: Iterable<Leaf>): IterableIterator<IavlEntry> {
  for (const leaf of leaves) yield [leaf.key, leaf.value];
}

const NOTHING = new Uint8Array();
/** Length prefix (32) of each child hash in an inner node's preimage. */
const HASH_LENGTH = Uint8Array.of(32);

/**
 * Returns an ICS-23 proof (an encoded `CommitmentProof`) that a saved tree contains `key` with its value, or that it does not
 * contain `key`.
 *
 * ICS-23 cannot prove three cases: an empty value, the absence of a key next to an empty value, and an empty tree. In these cases,
 * the function returns a proof that does not verify, like a Go node.
 */
function proveKey(root: IavlNode | undefined, key: Uint8Array, read: ReadNode): Uint8Array {
  if (root === undefined) return encodeNonExistence(key, undefined, undefined);
  if (findLeaf(root, key, read) !== undefined) return encodeExistence(pathTo(root, key, read));
  // Find the last leaf before `key` and the first leaf after `key`, which together prove the key's absence.
  const [left] = walk(root, { start: undefined, end: key }, "descending", read);
  const [right] = walk(root, { start: key, end: undefined }, "ascending", read);
  return encodeNonExistence(
    key,
    left && pathTo(root, left.key, read),
    right && pathTo(root, right.key, read),
  );
}

function pathTo(root: IavlNode, key: Uint8Array, read: ReadNode): ProofPath {
  const steps: ProofStep[] = [];
  let node = root;
  while (node.kind === "inner") {
    const left = goesLeft(node, key);
    steps.push(stepAt(node, left, read));
    node = left ? childOf(node, "left", read) : childOf(node, "right", read);
  }
  return { key: node.key, value: node.value, leafPrefix: nodePrefix(node), steps: steps.toReversed() };
}

/** Splits an inner node's preimage into the parts before and after the hash of the child on the path. */
function stepAt(node: Inner, comesFromLeft: boolean, read: ReadNode): ProofStep {
  const prefix = nodePrefix(node);
  if (comesFromLeft) {
    const suffix = concat(HASH_LENGTH, savedHash(childOf(node, "right", read)));
    return { prefix: concat(prefix, HASH_LENGTH), suffix };
  }
  return {
    prefix: concat(prefix, HASH_LENGTH, savedHash(childOf(node, "left", read)), HASH_LENGTH),
    suffix: NOTHING,
  };
}

function nodePrefix(node: IavlNode): Uint8Array {
  return hashPrefix(node, savedId(node).version);
}

/** A range of keys: start <= key < end. An undefined bound means no limit. */
interface KeyRange {
  readonly start: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
}

function findLeaf(root: IavlNode | undefined, key: Uint8Array, read: ReadNode): Leaf | undefined {
  let node = root;
  while (node?.kind === "inner")
    node = goesLeft(node, key) ? childOf(node, "left", read) : childOf(node, "right", read);
  return node !== undefined && equalBytes(node.key, key) ? node : undefined;
}

/** Iterates over the leaves in a range, reading nodes lazily. */
function* walk(
  root: IavlNode | undefined,
  { start, end }: KeyRange,
  order: Order,
  read: ReadNode,
): IterableIterator<Leaf> {
  const isAscending = order === "ascending";
  const isBelow = (key: Uint8Array): boolean => start !== undefined && compareBytes(key, start) < 0;
  const isAbove = (key: Uint8Array): boolean => end !== undefined && compareBytes(key, end) >= 0;
  // The stack contains functions that load a subtree, so that storage is read only when the iteration reaches the subtree.
  const pending: (() => IavlNode)[] = root === undefined ? [] : [() => root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = next();
    if (node.kind === "leaf") {
      if ((isAscending ? isAbove : isBelow)(node.key)) return;
      if (!isBelow(node.key) && !isAbove(node.key)) yield node;
      continue;
    }
    const left = start === undefined || compareBytes(start, node.key) < 0 ? ["left" as const] : [];
    const right = isAbove(node.key) ? [] : ["right" as const];
    const sides = isAscending ? [...right, ...left] : [...left, ...right];
    pending.push(...sides.map((side) => () => childOf(node, side, read)));
  }
}
