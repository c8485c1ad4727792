import { describe, expect, it } from "vitest";
import { fromHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import {
  type SimpleProof,
  simpleInnerHash,
  simpleLeafHash,
  simpleProofs,
  simpleRoot,
  verifySimpleProof,
} from "../../../src/cosmos/merkle/simple-tree.ts";

const leaves = ["a", "b", "c", "d", "e"].map(utf8);
const { root, proofs } = simpleProofs(leaves);
const [first] = proofs;

function check(change: Partial<SimpleProof>): string {
  if (first === undefined) throw new Error("five leaves have a first proof");
  const result = verifySimpleProof(root, utf8("a"), { ...first, ...change });
  return result.ok ? "valid" : `${result.error.code}: ${result.error.text}`;
}

describe("simple Merkle tree", () => {
  it("without leaves has the SHA-256 of no bytes as its root", () => {
    expect(simpleRoot([])).toEqual(sha256(new Uint8Array()));
    expect(simpleProofs([]).root).toEqual(sha256(new Uint8Array()));
  });

  it("splits at the largest power of two below the number of leaves", () => {
    const [a, b, c, d, e] = leaves.map(simpleLeafHash);
    if (!a || !b || !c || !d || !e) throw new Error("five leaves have five hashes");
    expect(root).toEqual(simpleInnerHash(simpleInnerHash(simpleInnerHash(a, b), simpleInnerHash(c, d)), e));
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33, 100])(
    "of %i leaves has a proof for each leaf, which is valid for no other leaf",
    (count) => {
      const many = Array.from({ length: count }, (_, index) => utf8(`leaf ${index}`));
      const made = simpleProofs(many);
      expect(made.root).toEqual(simpleRoot(many));
      for (const [index, proof] of made.proofs.entries()) {
        const verify = (leaf: number) => verifySimpleProof(made.root, many[leaf] ?? utf8("none"), proof);
        expect(verify(index)).toEqual({ ok: true, value: undefined });
        expect(verify(index + 1).ok).toBe(false);
      }
    },
  );

  it("refuses proofs with CometBFT's error texts", () => {
    expect(check({})).toBe("valid");
    expect(check({ total: -1n })).toBe("malformed-proof: negative Total");
    expect(check({ index: -1n })).toBe("malformed-proof: negative Index");
    expect(check({ leafHash: fromHex("00") })).toBe(
      "malformed-proof: expected LeafHash size to be 32, got 1",
    );
    expect(check({ aunts: [fromHex("00")] })).toBe("malformed-proof: expected Aunts#0 size to be 32, got 1");
    expect(check({ aunts: Array.from({ length: 101 }, () => root) })).toBe(
      "malformed-proof: expected no more than 100 aunts, got 101",
    );
    expect(check({ leafHash: root })).toMatch(
      /^wrong-leaf: invalid leaf hash: wanted [0-9A-F]{64} got [0-9A-F]{64}$/,
    );
    expect(check({ index: 5n })).toBe("wrong-shape: compute root hash: invalid index 5 and/or total 5");
    expect(check({ total: 1n })).toBe("wrong-shape: compute root hash: unexpected inner hashes");
    expect(check({ aunts: [] })).toBe("wrong-shape: compute root hash: expected at least one inner hash");
    expect(check({ total: 4n, aunts: (first?.aunts ?? []).slice(0, 2) })).toMatch(
      /^wrong-root: invalid root hash: wanted [0-9A-F]{64} got [0-9A-F]{64}$/,
    );
  });
});
