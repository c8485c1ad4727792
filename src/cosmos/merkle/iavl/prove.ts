import { concat } from "../../../platform/base/bytes.ts";
import {
  encodeExistence,
  encodeNonExistence,
  type ProofPath,
  type ProofStep,
} from "../ics23/encode-proof.ts";
import { hashPrefix } from "./hash-node.ts";
import { goesLeft, type IavlNode, type Inner, leftOf, type ReadNode, rightOf } from "./node.ts";
import { savedHash, savedId } from "./save.ts";
import { findLeaf, neighbours } from "./walk.ts";

const NOTHING = new Uint8Array();
/** Length of a hash. It precedes each hash in a node's preimage. */
const HASH_LENGTH = Uint8Array.of(32);

/**
 * Returns an ICS-23 proof (an encoded `CommitmentProof`) that a saved tree has `key` with its value, or that it does
 * not have `key`.
 *
 * Three cases cannot be proven with ICS-23: an empty value, an absent key next to an empty value, and an empty tree. As
 * on a Go node, the function then returns a proof that does not verify.
 */
export function proveKey(root: IavlNode | undefined, key: Uint8Array, read: ReadNode): Uint8Array {
  if (root === undefined) return encodeNonExistence(key, undefined, undefined);
  if (findLeaf(root, key, read) !== undefined) return encodeExistence(pathTo(root, key, read));
  const { left, right } = neighbours(root, key, read);
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
    node = left ? leftOf(node, read) : rightOf(node, read);
  }
  return { key: node.key, value: node.value, leafPrefix: nodePrefix(node), steps: steps.toReversed() };
}

/** Splits the preimage of an inner node at the hash of the child that the path comes from. */
function stepAt(node: Inner, comesFromLeft: boolean, read: ReadNode): ProofStep {
  const prefix = nodePrefix(node);
  if (comesFromLeft) {
    const suffix = concat(HASH_LENGTH, savedHash(rightOf(node, read)));
    return { prefix: concat(prefix, HASH_LENGTH), suffix };
  }
  return {
    prefix: concat(prefix, HASH_LENGTH, savedHash(leftOf(node, read)), HASH_LENGTH),
    suffix: NOTHING,
  };
}

function nodePrefix(node: IavlNode): Uint8Array {
  return hashPrefix(node, savedId(node).version);
}
