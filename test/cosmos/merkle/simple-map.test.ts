import { describe, expect, it } from "vitest";
import { fromBase64, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { createIavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";
import { simpleMapProof, simpleMapRoot } from "../../../src/cosmos/merkle/simple-map.ts";

const names = ["staking", "acc", "bank", "interchainqueries", "ibc", "zz"];

function storeWith(name: string) {
  const tree = createIavlTree();
  tree.set(utf8("key"), utf8(name));
  const { rootHash } = tree.commit();
  return { name, hash: rootHash, proof: tree.at(1n)?.proof(utf8("key")) ?? new Uint8Array() };
}

describe("multistore root", () => {
  const stores = names.map(storeWith);

  it("is the same for any order of the stores", () => {
    expect(simpleMapRoot(stores.toReversed())).toEqual(simpleMapRoot(stores));
    expect(simpleMapRoot([])).toEqual(sha256(new Uint8Array()));
  });

  it("of one store is the hash of a leaf with its name and the hash of its root", () => {
    const [store] = stores;
    const leaf = Buffer.concat([
      Buffer.from([0, 7]),
      utf8("staking"),
      Buffer.from([32]),
      sha256(store?.hash ?? utf8("")),
    ]);
    expect(toHex(simpleMapRoot(stores.slice(0, 1)))).toBe(toHex(sha256(leaf)));
  });

  it("has proofs that verify together with the proofs of the stores", () => {
    const root = simpleMapRoot(stores);
    for (const { name, proof } of stores) {
      const upper = simpleMapProof(stores, name) ?? fromBase64("");
      const item = { store: name, key: utf8("key"), value: utf8(name), operations: [proof, upper] };
      expect(createProofVerifier().verify(root, item)).toEqual({ ok: true, value: undefined });
      expect(createProofVerifier().verify(root, { ...item, store: "other" }).ok).toBe(false);
    }
  });

  it("has no proof for an unknown store", () => {
    expect(simpleMapProof(stores, "mint")).toBeUndefined();
  });
});
