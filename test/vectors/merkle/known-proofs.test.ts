import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import { createIavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { simpleMapProof, simpleMapRoot } from "../../../src/cosmos/merkle/simple-map.ts";
import { simpleProofs, verifySimpleProof } from "../../../src/cosmos/merkle/simple-tree.ts";

/** Vectors computed with the modules of the deployed release. */
const EXISTENCE = {
  root: "dfe3e8d9f17d9a1327445d651a5ff29b3a34b932ffc91e3bec27f45fd168ac2b",
  store: "0a130a01011201761a0b0801180120012a03000202",
  multistore:
    "0a330a0462616e6b1220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa990341a090801180120012a0100",
};
const ABSENCE = {
  root: "711b70ccafff7fd6f9676d19289933f71ec60ed6bdd22dfcde04e2ef61facd8d",
  store:
    "1285010a010212400a01011201761a0b0801180120012a03000202222b08011204020402201a2120350ed89a3fa164045436736f0fe64783a16d12542fe222d3502713b2ff7caced1a3e0a01031201771a0b0801180120012a0300020222290801122502040220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa9903420",
  multistore:
    "0a330a0462616e6b1220884308cd2182dc6cef83a916b69f8eb14ddd37a477c971dd59710351456d2eb31a090801180120012a0100",
};

function bankWith(entries: Readonly<Record<string, string>>) {
  const tree = createIavlTree();
  for (const [key, value] of Object.entries(entries)) tree.set(fromHex(key), fromHex(value));
  const { version, rootHash } = tree.commit();
  const view = tree.at(version);
  if (view === undefined) throw new Error("the committed version is not kept");
  return { view, stores: [{ name: "bank", hash: rootHash }] };
}

describe.each([
  { name: "existence", entries: { "01": "76" }, key: "01", value: "76", wrong: "78", expected: EXISTENCE },
  {
    name: "absence",
    entries: { "01": "76", "03": "77" },
    key: "02",
    value: undefined,
    wrong: "76",
    expected: ABSENCE,
  },
])("known proof of $name", ({ entries, key, value, wrong, expected }) => {
  const { view, stores } = bankWith(entries);
  const operations = [fromHex(expected.store), fromHex(expected.multistore)];
  const verify = (claimed: string | undefined) =>
    createProofVerifier().verify(fromHex(expected.root), {
      store: "bank",
      key: fromHex(key),
      value: claimed === undefined ? undefined : fromHex(claimed),
      operations,
    });

  it("equals the proof of our trees", () => {
    expect(toHex(simpleMapRoot(stores))).toBe(expected.root);
    expect(toHex(view.proof(fromHex(key)))).toBe(expected.store);
    expect(toHex(simpleMapProof(stores, "bank") ?? new Uint8Array())).toBe(expected.multistore);
  });

  it("is valid, and is invalid for another value", () => {
    expect(verify(value).ok).toBe(true);
    expect(verify(wrong).ok).toBe(false);
    expect(verify("").ok).toBe(false);
  });
});

describe("known proofs of a transaction and its result", () => {
  it("match for a block with one transaction", () => {
    const { root, proofs } = simpleProofs([sha256(utf8("txbody"))]);
    expect(toHex(root)).toBe("2c91594b66e9c2343b14acf296787b24fb0ea84c96a4afb3b1e6f2f52f46c371");
    expect(proofs).toEqual([{ total: 1n, index: 0n, leafHash: root, aunts: [] }]);
    const result = simpleProofs([fromHex("12020a0b28c09a0c30f09309")]);
    expect(toHex(result.root)).toBe("a3352d29860ddaa61abe52f7c60e2c7df619406c051bb0466e83474dd2ad15ca");
  });

  it.each([
    {
      what: "inclusion",
      leaves: ["tx0", "txbody", "tx2"].map((tx) => toHex(sha256(utf8(tx)))),
      root: "e71acfc8675e3e283bdd1e54479a88747c85a7bdb5d9098d2dc85fd85a32d8f6",
      aunts: [
        "5e0bee3b0a2e783a0e43a5b93c5d769ad07969cb6213d009763153f07134fca3",
        "fe8334ff03826156a150a298ceec2b2ecb123d3a709ff509a17804ba93303fe6",
      ],
    },
    {
      what: "delivery",
      leaves: ["28013001", "12020a0b28c09a0c30f09309", "080528023002"],
      root: "128b12fb0711407c5100c57d278b0b0eb89353a4a4475b94fcc3430671ac456f",
      aunts: [
        "46c5ad277a848d8c4962995346475448809789001d6bdbd5c77b96605090f885",
        "5bc031f83e88741f44f1332944f7090d680c7f01e86e2256b43fdeba6eb97790",
      ],
    },
  ])("match for the second of three transactions: $what", ({ leaves, root, aunts }) => {
    const made = simpleProofs(leaves.map(fromHex));
    expect(toHex(made.root)).toBe(root);
    const [, second] = made.proofs;
    expect(second?.aunts.map(toHex)).toEqual(aunts);
    expect(second && verifySimpleProof(made.root, fromHex(leaves[1] ?? ""), second).ok).toBe(true);
  });
});
