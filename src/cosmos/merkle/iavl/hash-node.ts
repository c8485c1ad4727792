import { sha256 } from "../../../platform/base/bytes.ts";
import { createByteWriter } from "../byte-writer.ts";
import type { IavlNode, Leaf } from "./node.ts";

const writer = createByteWriter();

/** Root hash of an empty tree: SHA-256 of no bytes. */
export const EMPTY_ROOT_HASH: Uint8Array = sha256(new Uint8Array());

/** Encodes the start of a node's preimage: height, size and the version that created the node, as zigzag varints. */
export function hashPrefix(node: IavlNode, version: number): Uint8Array {
  writePrefix(node, version);
  return writer.copy();
}

/**
 * Hashes a leaf: SHA-256 of the prefix, the key and the SHA-256 of the value. Key and value hash follow their lengths.
 */
export function hashLeaf(node: Leaf, version: number): Uint8Array {
  const valueHash = sha256(node.value);
  writePrefix(node, version);
  return writer.prefixed(node.key).prefixed(valueHash).sha256();
}

/**
 * Hashes an inner node: SHA-256 of the prefix and both children's hashes, each after its length. The key of an inner
 * node is not hashed.
 */
export function hashInner(
  node: IavlNode,
  version: number,
  children: { readonly left: Uint8Array; readonly right: Uint8Array },
): Uint8Array {
  writePrefix(node, version);
  return writer.prefixed(children.left).prefixed(children.right).sha256();
}

function writePrefix(node: IavlNode, version: number): void {
  writer.clear().varint(node.height).varint(node.size).varint(version);
}
