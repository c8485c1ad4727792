import { describe, expect, it } from "vitest";
import { concat, utf8, encodeUvarint } from "../../../src/platform/base/bytes.ts";
import { createIavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";
import {
  conformingRoot,
  toHashText,
  createPathFollower,
  type PathFollower,
} from "../../../src/cosmos/merkle/ics23/conforming-root.ts";
import { decodeCommitmentProof } from "../../../src/cosmos/merkle/ics23/decode-proof.ts";
import { SDK_SPECS } from "../../../src/cosmos/merkle/ics23/proof-types.ts";

const KEYS = 64;

function makeProofs() {
  const tree = createIavlTree();
  const keys = Array.from({ length: KEYS }, (_, index) => utf8(`key ${index}`));
  for (const key of keys) tree.set(key, utf8("value"));
  const view = tree.at(tree.commit().version);
  if (view === undefined) throw new Error("the committed version is not kept");
  return { root: toHashText(view.rootHash), proofs: keys.map((key) => view.proof(key)) };
}

function existence(encoded: Uint8Array, follower?: PathFollower) {
  const proof = decodeCommitmentProof(encoded, follower);
  if (!proof.ok || proof.value.kind !== "exist") throw new Error("not an existence proof");
  return proof.value.exist;
}

/** Returns the content of the steps. Their bytes may be those of the proof or of the cache. */
function stepsOf(
  encoded: Uint8Array,
  follower?: PathFollower,
): readonly (readonly [number, string, string])[] {
  return existence(encoded, follower).path.map((step) => [
    step.hash,
    step.bytes.toString("hex", step.prefixStart, step.prefixEnd),
    step.bytes.toString("hex", step.suffixStart, step.suffixEnd),
  ]);
}

/** Returns the proof with more bytes after its last step. */
function extended(encoded: Uint8Array, ...more: number[]): Uint8Array {
  const lengthBytes = (encoded[1] ?? 0) < 0x80 ? 1 : 2;
  const body = concat(encoded.subarray(1 + lengthBytes), Uint8Array.from(more));
  return concat(Uint8Array.of(0x0a), encodeUvarint(body.length), body);
}

describe("path follower", () => {
  const { root, proofs } = makeProofs();

  it("keeps a cached path when the same neighbour occurs again with one more step", () => {
    const follower = createPathFollower();
    const [proof] = proofs;
    if (proof === undefined) throw new Error("no proof");
    const lengthBytes = (proof[1] ?? 0) < 0x80 ? 1 : 2;
    const body = proof.subarray(1 + lengthBytes);
    const twice = concat(
      Uint8Array.of(0x12),
      encodeUvarint(body.length),
      body,
      Uint8Array.of(0x12, 2, 0x22, 0),
    );
    const absence = decodeCommitmentProof(
      concat(Uint8Array.of(0x12), encodeUvarint(twice.length), twice),
      follower,
    );
    const left = absence.ok && absence.value.kind === "nonexist" ? absence.value.nonexist.left : undefined;
    expect(left?.path).toHaveLength(stepsOf(proof).length + 1);
    expect(left?.iavlRoot).toBeUndefined();
    expect(stepsOf(proof, follower)).toEqual(stepsOf(proof));
  });

  it("does not change the decoded steps, and computes the tree's root", () => {
    const follower = createPathFollower();
    expect(proofs).toHaveLength(KEYS);
    for (const proof of [...proofs, ...proofs]) {
      expect(stepsOf(proof, follower)).toEqual(stepsOf(proof));
      expect(existence(proof, follower).iavlRoot).toBe(root);
    }
  });

  it("returns the same objects for the steps that proofs share", () => {
    const follower = createPathFollower();
    const tops = proofs.map((proof) => existence(proof, follower).path.at(-1));
    expect(new Set(tops).size).toBe(2);
  });

  it("computes no root if a field follows the steps, even if the steps are cached", () => {
    const follower = createPathFollower();
    const [proof = new Uint8Array()] = proofs;
    existence(proof, follower);
    const [otherKey, unknown] = [extended(proof, 0x0a, 1, 0x61), extended(proof, 0x78, 1)];
    for (const altered of [otherKey, unknown]) {
      expect(existence(altered, follower).iavlRoot).toBeUndefined();
      expect(existence(altered, follower)).toEqual(existence(altered));
    }
    const plain = existence(otherKey);
    expect(conformingRoot(existence(otherKey, follower), SDK_SPECS[0])).toEqual(
      conformingRoot(plain, SDK_SPECS[0]),
    );
  });

  it("does not change the result for a truncated proof", () => {
    const follower = createPathFollower();
    const [proof = new Uint8Array()] = proofs;
    existence(proof, follower);
    for (let length = 0; length < proof.length; length++) {
      const cut = proof.subarray(0, length);
      expect(decodeCommitmentProof(cut, follower)).toEqual(decodeCommitmentProof(cut));
    }
  });
});

/** A step as a field of an existence proof. */
function innerOp(prefix: readonly number[], suffix: Uint8Array): Uint8Array {
  const step = concat(Uint8Array.of(0x08, 1, 0x12, prefix.length, ...prefix, 0x1a, suffix.length), suffix);
  return concat(Uint8Array.of(0x22, step.length), step);
}

describe("the path of an IAVL proof", () => {
  const tree = createIavlTree();
  tree.set(utf8("key"), utf8("value"));
  const leaf = tree.at(tree.commit().version)?.proof(utf8("key")) ?? expect.unreachable();
  // Height 200, size 2, version 1, and the length of the child's hash. Then the right sibling's hash with its length.
  const step = innerOp([0x90, 0x03, 4, 2, 32], Uint8Array.of(32, ...new Uint8Array(32).fill(7)));
  const proofOf = (steps: number) => extended(leaf, ...Array.from({ length: steps }, () => [...step]).flat());

  it.each([
    ["without a cache", undefined],
    ["with an empty cache", createPathFollower()],
  ])("has 128 steps at most, %s", (_name, follower) => {
    const [longest, tooLong] = [128, 129].map((steps) => existence(proofOf(steps), follower));
    expect(longest?.path).toHaveLength(128);
    expect(longest && conformingRoot(longest, SDK_SPECS[0]).ok).toBe(true);
    expect(tooLong && conformingRoot(tooLong, SDK_SPECS[0])).toEqual({
      ok: false,
      error: "innerOps depth too long: 129",
    });
  });
});

describe("a step of the multistore's tree", () => {
  const [, multistore] = SDK_SPECS;
  const leaf = Uint8Array.of(0x1a, 9, 0x08, 1, 0x18, 1, 0x20, 1, 0x2a, 1, 0);

  /** The result for a proof with so many steps with this prefix, whose suffix is the hash of a right sibling. */
  function rootWith(prefix: readonly number[], steps = 1): ReturnType<typeof conformingRoot> {
    const step = innerOp(prefix, new Uint8Array(32).fill(7));
    const path = Array.from({ length: steps }, () => step);
    const body = concat(Uint8Array.of(0x0a, 1, 0x61, 0x12, 1, 0x62), leaf, ...path);
    const encoded = concat(Uint8Array.of(0x0a), encodeUvarint(body.length), body);
    return conformingRoot(existence(encoded), multistore);
  }

  it("may follow 127 others at most", () => {
    expect(rootWith([1], 128).ok).toBe(true);
    expect(rootWith([1], 129)).toEqual({ ok: false, error: "innerOps depth too long: 129" });
  });

  it("may not begin as a leaf does, or a leaf would pass as an inner node", () => {
    expect(rootWith([1]).ok).toBe(true);
    expect(rootWith([0])).toEqual({ ok: false, error: "inner, inner Prefix starts with 00" });
    expect(rootWith([0, ...new Uint8Array(32).fill(9)])).toEqual({
      ok: false,
      error: "inner, inner Prefix starts with 00",
    });
    expect(rootWith([])).toEqual({ ok: false, error: "inner, innerOp prefix too short (0)" });
    expect(rootWith([...new Uint8Array(34).fill(1)])).toEqual({
      ok: false,
      error: "inner, innerOp prefix too long (34)",
    });
  });
});
