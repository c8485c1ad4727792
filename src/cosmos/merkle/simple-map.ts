import { compareBytes, concat, utf8, sha256, lengthPrefixed } from "../../platform/base/bytes.ts";
import { encodeExistence, type ProofStep } from "./ics23/proof-types.ts";
import { simplePath, simpleProofs, simpleRoot } from "./simple-tree.ts";

/** One store in a multistore and the root of its tree. */
export interface StoreRoot {
  readonly name: string;
  readonly hash: Uint8Array;
}

const NOTHING = new Uint8Array();
const LEAF_PREFIX = Uint8Array.of(0);
const INNER_PREFIX = Uint8Array.of(1);

/**
 * Computes a multistore's app hash: the root of a simple tree with one leaf per store, ordered by name. A leaf contains the name
 * and the SHA-256 of the store's root, each length-prefixed (SDK `store/internal/maps`).
 */
export function simpleMapRoot(stores: readonly StoreRoot[]): Uint8Array {
  return simpleRoot(sorted(stores).map(leafOf));
}

/** Returns the ICS-23 proof (an encoded `CommitmentProof`) for a store's root under the app hash, or undefined for an unknown name. */
export function simpleMapProof(stores: readonly StoreRoot[], name: string): Uint8Array | undefined {
  const ordered = sorted(stores);
  const index = ordered.findIndex((store) => store.name === name);
  const store = ordered[index];
  const proof = simpleProofs(ordered.map(leafOf)).proofs[index];
  if (store === undefined || proof === undefined) return undefined;
  const path = simplePath(proof.index, proof.total);
  const steps = proof.aunts.map((aunt, step) => toStep(aunt, path[step] === true));
  return encodeExistence({ key: utf8(name), value: store.hash, leafPrefix: LEAF_PREFIX, steps });
}

function toStep(aunt: Uint8Array, fromLeft: boolean): ProofStep {
  return fromLeft
    ? { prefix: INNER_PREFIX, suffix: aunt }
    : { prefix: concat(INNER_PREFIX, aunt), suffix: NOTHING };
}

function leafOf(store: StoreRoot): Uint8Array {
  return concat(lengthPrefixed(utf8(store.name)), lengthPrefixed(sha256(store.hash)));
}

function sorted(stores: readonly StoreRoot[]): readonly StoreRoot[] {
  return stores.toSorted((a, b) => compareBytes(utf8(a.name), utf8(b.name)));
}
