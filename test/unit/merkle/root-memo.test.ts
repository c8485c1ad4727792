import { describe, expect, it } from "vitest";
import { concat, fromHex } from "../../../src/base/bytes.ts";
import { decodeCommitmentProof } from "../../../src/merkle/ics23/decode-proof.ts";
import type { ExistenceProof } from "../../../src/merkle/ics23/proof-types.ts";
import { createRootMemo, type RootMemo } from "../../../src/merkle/ics23/root-memo.ts";
import { encodeUvarint } from "../../../src/merkle/varint.ts";

const CHILD = "c".repeat(32);
const NEXT = "n".repeat(32);
const ABOVE = { root: "r".repeat(32), highestLayer: Number.POSITIVE_INFINITY };

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

/** Keeps a path that was followed from these children on. */
function keep(memo: RootMemo, { path, end }: ExistenceProof, ...taken: readonly [string, number][]): void {
  memo.keep({ path, end, taken: taken.map(([child, height]) => ({ child, height })), above: ABOVE });
}

/** What the memo knows about the proof's steps from `index` on, above this child. */
function find(memo: RootMemo, { bytes, path, end }: ExistenceProof, index: number, child: string) {
  return memo.find(child, { bytes, start: path[index]?.start ?? end, end }, index + 1);
}

describe("memo of roots", () => {
  it("knows the steps again, from wherever they are reached", () => {
    const memo = createRootMemo();
    keep(memo, proofOf(step(2, 1), step(3, 2)), [CHILD, 2], [NEXT, 3]);
    expect(find(memo, proofOf(step(2, 1), step(3, 2)), 0, CHILD)?.root).toBe(ABOVE.root);
    expect(find(memo, proofOf(step(9, 9), step(3, 2)), 1, NEXT)?.root).toBe(ABOVE.root);
  });

  it("gives the steps as they were read, in bytes of its own", () => {
    const memo = createRootMemo();
    const kept = proofOf(step(2, 1), step(3, 2));
    keep(memo, kept, [CHILD, 2], [NEXT, 3]);
    kept.bytes.fill(0);
    const asked = proofOf(step(9, 9), step(3, 2));
    const known = find(memo, asked, 1, NEXT);
    expect(known?.path.length).toBe(2);
    expect(known?.from).toBe(1);
    const [, found] = known?.path ?? [];
    const [, read] = asked.path;
    const prefix = found?.bytes.subarray(found.prefixStart, found.prefixEnd);
    const suffix = found?.bytes.subarray(found.suffixStart, found.suffixEnd);
    expect(prefix).toEqual(read?.bytes.subarray(read.prefixStart, read.prefixEnd));
    expect(suffix).toEqual(read?.bytes.subarray(read.suffixStart, read.suffixEnd));
    expect([found?.hash, suffix?.length]).toEqual([1, 33]);
  });

  it("does not answer for another child, other steps, or more or fewer of them", () => {
    const memo = createRootMemo();
    keep(memo, proofOf(step(2, 1), step(3, 2)), [CHILD, 2]);
    expect(find(memo, proofOf(step(2, 1), step(3, 2)), 0, "d".repeat(32))).toBeUndefined();
    expect(find(memo, proofOf(step(2, 1), step(3, 3)), 0, CHILD)).toBeUndefined();
    expect(find(memo, proofOf(step(2, 1)), 0, CHILD)).toBeUndefined();
    expect(find(memo, proofOf(step(2, 1), step(3, 2), step(4, 3)), 0, CHILD)).toBeUndefined();
  });

  it("does not answer where the steps would be higher than the heights that they name", () => {
    const memo = createRootMemo();
    keep(memo, proofOf(step(2, 1), step(3, 2)), [CHILD, 2], [NEXT, 3]);
    const [below, shared] = [step(1, 7), [step(2, 1), step(3, 2)]];
    expect(find(memo, proofOf(below, ...shared), 1, CHILD)?.root).toBe(ABOVE.root);
    expect(find(memo, proofOf(below, below, ...shared), 2, CHILD)).toBeUndefined();
  });

  it("starts anew when it is full, by ways or by bytes", () => {
    for (const memo of [createRootMemo({ maxWays: 1 }), createRootMemo({ maxBytes: 80 })]) {
      keep(memo, proofOf(step(2, 1)), [CHILD, 2]);
      expect(find(memo, proofOf(step(2, 1)), 0, CHILD)?.root).toBe(ABOVE.root);
      keep(memo, proofOf(step(2, 5)), [NEXT, 2]);
      expect(find(memo, proofOf(step(2, 1)), 0, CHILD)).toBeUndefined();
      expect(find(memo, proofOf(step(2, 5)), 0, NEXT)?.root).toBe(ABOVE.root);
    }
  });

  it("keeps many paths, each with its own bytes", () => {
    const memo = createRootMemo();
    const paths = Array.from({ length: 2_000 }, (_, index) => [step(2, index % 256), step(3, index >> 8)]);
    for (const [index, path] of paths.entries()) keep(memo, proofOf(...path), [`child ${index}`, 2]);
    const known = paths.filter(
      (path, index) => find(memo, proofOf(...path), 0, `child ${index}`) !== undefined,
    );
    expect(known).toHaveLength(2_000);
  });

  it("keeps no path that is far too long", () => {
    const long = (length: number) =>
      field(0x22, concat(fromHex("0801120402040220"), field(0x1a, new Uint8Array(33 * length))));
    const memo = createRootMemo();
    keep(memo, proofOf(long(499)), [CHILD, 2]);
    expect(find(memo, proofOf(long(499)), 0, CHILD)).toBeUndefined();
    keep(memo, proofOf(long(490)), [CHILD, 2]);
    expect(find(memo, proofOf(long(490)), 0, CHILD)?.root).toBe(ABOVE.root);
  });
});
