import { describe, expect, it } from "vitest";
import { createProofVerifier, type ProofVerifier } from "../../../src/merkle/ics23/proof-verifier.ts";
import { type RecordedProof, readRecordedProofs } from "../../vectors/merkle/recorded-proofs.ts";

const valid = readRecordedProofs().filter((recorded) => recorded.expect.valid);

/**
 * The one field that the Go verifier ignores too: a non-existence proof's own key, field 1 of `NonExistenceProof` (what is
 * asked for comes from the query). It stands right behind the proof's tag and length; these are the bits of its tag,
 * length and bytes, [from, to).
 */
function ignoredBits(recorded: RecordedProof): readonly [number, number] {
  if (recorded.expect.kind === "membership") return [0, 0];
  const bytes = recorded.operations?.[0] ?? new Uint8Array();
  const lengthBytes = (bytes[1] ?? 0) < 0x80 ? 1 : 2;
  const tag = 1 + lengthBytes;
  expect([bytes[0], bytes[tag], bytes[tag + 1]]).toEqual([0x12, 0x0a, recorded.key.length]);
  return [tag * 8, (tag + 2 + recorded.key.length) * 8];
}

interface FlippedBit {
  readonly operation: number;
  readonly bit: number;
}

function flip(operations: readonly Uint8Array[], { operation, bit }: FlippedBit): void {
  const bytes = operations[operation];
  if (bytes === undefined) throw new Error(`no operation ${operation}`);
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
}

function accepts(
  { root, store, key, value, expect: expected }: RecordedProof,
  operations: readonly Uint8Array[],
  verifier: ProofVerifier,
): boolean {
  const claimed = expected.kind === "membership" ? value : undefined;
  return verifier.verify(root, { store, key, value: claimed, operations }).ok;
}

/** The bits that may be flipped, each alone. The bytes are changed in place: a verifier must not rely on them later. */
function acceptedBits(recorded: RecordedProof, verifier: ProofVerifier): readonly FlippedBit[] {
  const operations = (recorded.operations ?? []).map((bytes) => bytes.slice());
  return operations.flatMap((bytes, operation) =>
    Array.from({ length: bytes.length * 8 }, (_, bit) => ({ operation, bit })).filter((flipped) => {
      flip(operations, flipped);
      const accepted = accepts(recorded, operations, verifier);
      flip(operations, flipped);
      return accepted;
    }),
  );
}

describe("a valid proof with one bit flipped", () => {
  it("is tried for all valid recorded proofs", () => {
    expect(valid).toHaveLength(42);
    expect(valid.filter((recorded) => recorded.expect.kind === "membership")).toHaveLength(21);
  });

  it.each(valid)("$name at $height is refused wherever the bit is", (recorded) => {
    const [from, to] = ignoredBits(recorded);
    const outside = acceptedBits(recorded, createProofVerifier()).filter(
      ({ operation, bit }) => operation !== 0 || bit < from || bit >= to,
    );
    expect(outside).toEqual([]);
  });

  it("is accepted within a non-existence proof's own key, which says nothing", () => {
    const absence = valid.filter((recorded) => recorded.expect.kind === "non-membership");
    expect(absence).toHaveLength(21);
    for (const recorded of absence) {
      const [, to] = ignoredBits(recorded);
      const operations = (recorded.operations ?? []).map((bytes) => bytes.slice());
      flip(operations, { operation: 0, bit: to - 1 });
      expect(accepts(recorded, operations, createProofVerifier())).toBe(true);
    }
  });

  it("changes nothing for the proof as it was, when one verifier saw all of it", () => {
    const verifier = createProofVerifier();
    for (const recorded of valid.slice(4, 5)) {
      acceptedBits(recorded, verifier);
      expect(accepts(recorded, recorded.operations ?? [], verifier)).toBe(true);
      expect(acceptedBits(recorded, verifier)).toEqual(acceptedBits(recorded, createProofVerifier()));
    }
  });
});
