import { concat, utf8, sha256 } from "../../src/platform/base/bytes.ts";
import { createIavlTree } from "../../src/cosmos/merkle/iavl/tree.ts";
import { simpleMapProof, simpleMapRoot } from "../../src/cosmos/merkle/simple-map.ts";
import type { StorageValue } from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";

const KEYS = 10_000;
const STORES = 20;

/** Proven values of one height. */
export interface ProvenValues {
  /** App hash that the proofs lead to. */
  readonly root: Uint8Array;
  readonly all: readonly StorageValue[];
}

/** Some balances of a bank-like store of 10,000 keys in a multistore of 20 stores, with their proofs. */
export function proveBalances(count: number): ProvenValues {
  const tree = createIavlTree();
  for (let index = 0; index < KEYS; index += 1) tree.set(balanceKey(index), utf8(`${1_000_000 + index}`));
  const view = tree.at(tree.commit().version);
  if (view === undefined) throw new Error("the committed version is not kept");
  const others = Array.from({ length: STORES - 1 }, (_, index) => ({
    name: `store${index}`,
    hash: sha256(utf8(`${index}`)),
  }));
  const stores = [{ name: "bank", hash: view.rootHash }, ...others];
  const upper = simpleMapProof(stores, "bank");
  if (upper === undefined) throw new Error("the multistore has no bank");
  const all = Array.from({ length: count }, (_, index) => {
    const key = balanceKey(index * Math.floor(KEYS / count));
    const ops = [
      { type: "ics23:iavl", key, data: view.proof(key) },
      { type: "ics23:simple", key: utf8("bank"), data: upper },
    ];
    return { storagePrefix: "bank", key, value: view.get(key) ?? new Uint8Array(0), Proof: { ops } };
  });
  return { root: simpleMapRoot(stores), all };
}

function balanceKey(index: number): Uint8Array {
  return concat(Uint8Array.of(2, 20), sha256(utf8(`account ${index}`)).subarray(0, 20), utf8("untrn"));
}
