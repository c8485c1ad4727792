import { sha256 } from "../../base/sha256.ts";
import { createByteWriter } from "../byte-writer.ts";
import type { IavlNode, Leaf } from "./node.ts";

const writer = createByteWriter();

/** Root hash of a tree without any key: SHA-256 of nothing. */
export const EMPTY_ROOT_HASH: Uint8Array = sha256(new Uint8Array());

/** What each node's hash begins with: height, size and the version that made the node, as zigzag varints. */
export function hashPrefix(node: IavlNode, version: number): Uint8Array {
  writePrefix(node, version);
  return writer.copy();
}

/** Hash of a leaf: of its prefix, its key and the SHA-256 of its value, the last two with their lengths. */
export function hashLeaf(node: Leaf, version: number): Uint8Array {
  const valueHash = sha256(node.value);
  writePrefix(node, version);
  return writer.prefixed(node.key).prefixed(valueHash).sha256();
}

/** Hash of an inner node: of its prefix and both children's hashes, with their lengths. Its key is not part of it. */
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
