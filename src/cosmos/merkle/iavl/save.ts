import { unreachable } from "../../../platform/base/errors.ts";
import { hashInner, hashLeaf } from "./hash-node.ts";
import type { IavlNode, Inner, NodeId, ReadNode } from "./node.ts";
import { encodeNode, encodeNodeId } from "./node-codec.ts";

/** A node as it is stored: the 12 bytes of its id, and its encoding. */
export interface NodeBytes {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/**
 * Sets the id and the hash of every new node under `root`, and returns these nodes encoded, children before parents.
 */
export function saveNewNodes(root: IavlNode, version: number, read: ReadNode): readonly NodeBytes[] {
  const writes: NodeBytes[] = [];
  let nonce = 0;
  const save = (node: IavlNode): void => {
    // A node with an id was saved before, and so was its subtree.
    if (node.id !== undefined) return;
    nonce += 1;
    const id = { version, nonce };
    // Parents take their nonce first (pre-order), but their hash needs the hashes of the children.
    if (node.kind === "inner") saveChildren(node, save);
    node.id = id;
    node.hash = hashNode(node, version, read);
    writes.push({ id: encodeNodeId(id), bytes: encodeNode(node, node.hash, idOf) });
  };
  save(root);
  return writes;
}

/** Returns the hash of a saved node. */
export function savedHash(node: IavlNode): Uint8Array {
  return node.hash ?? unreachable("a saved tree node has no hash");
}

/** Returns the id of a saved node. */
export function savedId(node: IavlNode): NodeId {
  return node.id ?? unreachable("a tree node was not saved");
}

/** Returns the id of a saved node, which may be in memory or not. */
export function idOf(child: IavlNode | NodeId): NodeId {
  return "kind" in child ? savedId(child) : child;
}

function saveChildren(node: Inner, save: (node: IavlNode) => void): void {
  if ("kind" in node.left) save(node.left);
  if ("kind" in node.right) save(node.right);
}

function hashNode(node: IavlNode, version: number, read: ReadNode): Uint8Array {
  if (node.kind === "leaf") return hashLeaf(node, version);
  const left = childHash(node.left, read);
  return hashInner(node, version, { left, right: childHash(node.right, read) });
}

function childHash(child: IavlNode | NodeId, read: ReadNode): Uint8Array {
  return savedHash("kind" in child ? child : read(child));
}
