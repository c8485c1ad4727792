import { describe, expect, it } from "vitest";
import { concat, fromHex } from "../../../src/base/bytes.ts";
import { conformingRoot } from "../../../src/merkle/ics23/conforming-root.ts";
import { decodeCommitmentProof } from "../../../src/merkle/ics23/decode-proof.ts";
import { SDK_SPECS } from "../../../src/merkle/ics23/proof-spec.ts";
import type { ExistenceProof } from "../../../src/merkle/ics23/proof-types.ts";
import { createRootMemo } from "../../../src/merkle/ics23/root-memo.ts";
import { encodeUvarint } from "../../../src/merkle/varint.ts";

const CHILD = "c".repeat(32);

function field(tag: number, body: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(tag), encodeUvarint(body.length), body);
}

/** A step from a left child at this height; `sibling` fills the other hash. */
function step(height: number, sibling: number): Uint8Array {
  const prefix = Uint8Array.of(2 * height, 4, 2, 32);
  const suffix = concat(Uint8Array.of(32), new Uint8Array(32).fill(sibling));
  return field(0x22, concat(fromHex("0801"), field(0x12, prefix), field(0x1a, suffix)));
}

function proofOf(...steps: readonly Uint8Array[]): ExistenceProof {
  const leaf = fromHex("1a0b0801180120012a03000202");
  const body = concat(fromHex("0a016b"), fromHex("120176"), leaf, ...steps);
  const proof = decodeCommitmentProof(field(0x0a, body));
  if (!proof.ok || proof.value.kind !== "exist") throw new Error("the test's own proof does not decode");
  return proof.value.exist;
}

const ABOVE = { root: "r".repeat(32), highestLayer: Number.POSITIVE_INFINITY };

describe("memo of roots", () => {
  it("knows the steps again, from wherever they are reached", () => {
    const memo = createRootMemo();
    memo.keep(
      proofOf(step(2, 1), step(3, 2)),
      [
        { child: CHILD, height: 2 },
        { child: "n", height: 3 },
      ],
      ABOVE,
    );
    expect(memo.find(proofOf(step(2, 1), step(3, 2)), 0, CHILD)?.root).toBe(ABOVE.root);
    expect(memo.find(proofOf(step(9, 9), step(3, 2)), 1, "n")?.root).toBe(ABOVE.root);
  });

  it("does not answer for another child, other steps, or more or fewer of them", () => {
    const memo = createRootMemo();
    memo.keep(proofOf(step(2, 1), step(3, 2)), [{ child: CHILD, height: 2 }], ABOVE);
    expect(memo.find(proofOf(step(2, 1), step(3, 2)), 0, "d".repeat(32))).toBeUndefined();
    expect(memo.find(proofOf(step(2, 1), step(3, 3)), 0, CHILD)).toBeUndefined();
    expect(memo.find(proofOf(step(2, 1)), 0, CHILD)).toBeUndefined();
    expect(memo.find(proofOf(step(2, 1), step(3, 2), step(4, 3)), 0, CHILD)).toBeUndefined();
  });

  it("does not answer where the steps would be higher than the heights that they name", () => {
    const memo = createRootMemo();
    memo.keep(
      proofOf(step(2, 1), step(3, 2)),
      [
        { child: CHILD, height: 2 },
        { child: "n", height: 3 },
      ],
      ABOVE,
    );
    const [below, shared] = [step(1, 7), [step(2, 1), step(3, 2)]];
    expect(memo.find(proofOf(below, ...shared), 1, CHILD)?.root).toBe(ABOVE.root);
    expect(memo.find(proofOf(below, below, ...shared), 2, CHILD)).toBeUndefined();
  });

  it("starts anew when it is full, by ways or by bytes", () => {
    const first = proofOf(step(2, 1));
    for (const memo of [createRootMemo({ maxWays: 1 }), createRootMemo({ maxBytes: 80 })]) {
      memo.keep(first, [{ child: CHILD, height: 2 }], ABOVE);
      expect(memo.find(first, 0, CHILD)?.root).toBe(ABOVE.root);
      memo.keep(proofOf(step(2, 5)), [{ child: "n", height: 2 }], ABOVE);
      expect(memo.find(first, 0, CHILD)).toBeUndefined();
    }
  });

  it("keeps no path that is far too long, and answers with roots that are the same as without it", () => {
    const suffix = field(0x1a, new Uint8Array(33 * 499));
    const long = field(0x22, concat(fromHex("0801120402040220"), suffix));
    const memo = createRootMemo();
    const plain = conformingRoot(proofOf(long), SDK_SPECS[0]);
    expect(plain.ok).toBe(true);
    expect(conformingRoot(proofOf(long), SDK_SPECS[0], memo)).toEqual(plain);
    memo.keep(proofOf(long), [{ child: CHILD, height: 2 }], ABOVE);
    expect(memo.find(proofOf(long), 0, CHILD)).toBeUndefined();
  });
});
