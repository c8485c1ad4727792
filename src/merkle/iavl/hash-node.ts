import { concat } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import { encodeVarint, lengthPrefixed } from "../varint.ts";
import type { IavlNode, Leaf } from "./node.ts";

/** Root hash of a tree without any key: SHA-256 of nothing. */
export const EMPTY_ROOT_HASH: Uint8Array = sha256(new Uint8Array());

/** What each node's hash begins with: height, size and the version that made the node, as zigzag varints. */
export function hashPrefix(node: IavlNode, version: number): Uint8Array {
  return concat(encodeVarint(node.height), encodeVarint(node.size), encodeVarint(version));
}

/** Hash of a leaf: of its prefix, its key and the SHA-256 of its value, the last two with their lengths. */
export function hashLeaf(node: Leaf, version: number): Uint8Array {
  return sha256(
    concat(hashPrefix(node, version), lengthPrefixed(node.key), lengthPrefixed(sha256(node.value))),
  );
}

/** Hash of an inner node: of its prefix and both children's hashes, with their lengths. Its key is not part of it. */
export function hashInner(prefix: Uint8Array, left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(prefix, lengthPrefixed(left), lengthPrefixed(right)));
}
