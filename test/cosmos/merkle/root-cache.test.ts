import { describe, expect, it } from "vitest";
import { concat, fromHex, encodeUvarint } from "../../../src/platform/base/bytes.ts";
import { decodeCommitmentProof } from "../../../src/cosmos/merkle/ics23/decode-proof.ts";
import type { ExistenceProof } from "../../../src/cosmos/merkle/ics23/proof-types.ts";
import { createRootCache, type RootCache } from "../../../src/cosmos/merkle/ics23/root-cache.ts";

const CHILD = "c".repeat(32);
const NEXT = "n".repeat(32);
const ABOVE = { root: "r".repeat(32), highestLayer: Number.POSITIVE_INFINITY };

function field(tag: number, body: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(tag), encodeUvarint(body.length), body);
}

/** Encodes a step from a left child, with this height. The sibling's hash consists of the byte `sibling`. */
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

/** Adds a path whose first steps were applied to these child hashes, with these heights. */
function add(cache: RootCache, { path, end }: ExistenceProof, ...applied: readonly [string, number][]): void {
  cache.add({ path, end, applied: applied.map(([child, height]) => ({ child, height })), above: ABOVE });
}

/** Looks up the proof's steps from `index` on, above this child hash. */
function find(cache: RootCache, { bytes, path, end }: ExistenceProof, index: number, child: string) {
  return cache.find(child, { bytes, start: path[index]?.start ?? end, end }, index + 1);
}

describe("root cache", () => {
  it("finds the steps from every applied step on", () => {
    const cache = createRootCache();
    add(cache, proofOf(step(2, 1), step(3, 2)), [CHILD, 2], [NEXT, 3]);
    expect(find(cache, proofOf(step(2, 1), step(3, 2)), 0, CHILD)?.root).toBe(ABOVE.root);
    expect(find(cache, proofOf(step(9, 9), step(3, 2)), 1, NEXT)?.root).toBe(ABOVE.root);
  });

  it("returns steps that refer to a copy of the bytes", () => {
    const cache = createRootCache();
    const added = proofOf(step(2, 1), step(3, 2));
    add(cache, added, [CHILD, 2], [NEXT, 3]);
    added.bytes.fill(0);
    const other = proofOf(step(9, 9), step(3, 2));
    const cached = find(cache, other, 1, NEXT);
    expect(cached?.path.length).toBe(2);
    expect(cached?.from).toBe(1);
    const [, found] = cached?.path ?? [];
    const [, decoded] = other.path;
    const prefix = found?.bytes.subarray(found.prefixStart, found.prefixEnd);
    const suffix = found?.bytes.subarray(found.suffixStart, found.suffixEnd);
    expect(prefix).toEqual(decoded?.bytes.subarray(decoded.prefixStart, decoded.prefixEnd));
    expect(suffix).toEqual(decoded?.bytes.subarray(decoded.suffixStart, decoded.suffixEnd));
    expect([found?.hash, suffix?.length]).toEqual([1, 33]);
  });

  it("finds nothing for another child hash, for other steps, and for more or fewer steps", () => {
    const cache = createRootCache();
    add(cache, proofOf(step(2, 1), step(3, 2)), [CHILD, 2]);
    expect(find(cache, proofOf(step(2, 1), step(3, 2)), 0, "d".repeat(32))).toBeUndefined();
    expect(find(cache, proofOf(step(2, 1), step(3, 3)), 0, CHILD)).toBeUndefined();
    expect(find(cache, proofOf(step(2, 1)), 0, CHILD)).toBeUndefined();
    expect(find(cache, proofOf(step(2, 1), step(3, 2), step(4, 3)), 0, CHILD)).toBeUndefined();
  });

  it("finds nothing if a step would be at a higher layer than the height in its prefix", () => {
    const cache = createRootCache();
    add(cache, proofOf(step(2, 1), step(3, 2)), [CHILD, 2], [NEXT, 3]);
    const [below, shared] = [step(1, 7), [step(2, 1), step(3, 2)]];
    expect(find(cache, proofOf(below, ...shared), 1, CHILD)?.root).toBe(ABOVE.root);
    expect(find(cache, proofOf(below, below, ...shared), 2, CHILD)).toBeUndefined();
  });

  it("is cleared when it is full, by entries or by bytes", () => {
    for (const cache of [createRootCache({ maxEntries: 1 }), createRootCache({ maxBytes: 80 })]) {
      add(cache, proofOf(step(2, 1)), [CHILD, 2]);
      expect(find(cache, proofOf(step(2, 1)), 0, CHILD)?.root).toBe(ABOVE.root);
      add(cache, proofOf(step(2, 5)), [NEXT, 2]);
      expect(find(cache, proofOf(step(2, 1)), 0, CHILD)).toBeUndefined();
      expect(find(cache, proofOf(step(2, 5)), 0, NEXT)?.root).toBe(ABOVE.root);
    }
  });

  it("caches many paths with their bytes", () => {
    const cache = createRootCache();
    const paths = Array.from({ length: 2_000 }, (_, index) => [step(2, index % 256), step(3, index >> 8)]);
    for (const [index, path] of paths.entries()) add(cache, proofOf(...path), [`child ${index}`, 2]);
    const found = paths.filter(
      (path, index) => find(cache, proofOf(...path), 0, `child ${index}`) !== undefined,
    );
    expect(found).toHaveLength(paths.length);
  });

  it("does not cache a path of more than 16 KiB", () => {
    const long = (length: number) =>
      field(0x22, concat(fromHex("0801120402040220"), field(0x1a, new Uint8Array(33 * length))));
    const cache = createRootCache();
    add(cache, proofOf(long(499)), [CHILD, 2]);
    expect(find(cache, proofOf(long(499)), 0, CHILD)).toBeUndefined();
    add(cache, proofOf(long(490)), [CHILD, 2]);
    expect(find(cache, proofOf(long(490)), 0, CHILD)?.root).toBe(ABOVE.root);
  });
});
