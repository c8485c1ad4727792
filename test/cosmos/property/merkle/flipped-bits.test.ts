import { describe, expect, it } from "vitest";
import {
  createProofVerifier,
  type ProofVerifier,
} from "../../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { type RecordedProof, readRecordedProofs } from "../../../support/merkle/recorded-proofs.ts";

const valid = readRecordedProofs().filter((recorded) => recorded.expect.valid);

/**
 * Returns the bits [from, to) of the only field that the verifier ignores, as the Go verifier does: the key in a
 * `NonExistenceProof` (field 1). The key of the query is used instead. The field is the first one of the message; its
 * tag, length and bytes are counted.
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

/**
 * Returns the bits with which the proof is still accepted when one of them is flipped. The bytes are changed in place,
 * so a verifier that kept a reference to them would fail.
 */
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
  it("is tested for all valid recorded proofs", () => {
    expect(valid).toHaveLength(42);
    expect(valid.filter((recorded) => recorded.expect.kind === "membership")).toHaveLength(21);
  });

  it.each(valid)("$name at $height is refused for every bit", (recorded) => {
    const [from, to] = ignoredBits(recorded);
    const outside = acceptedBits(recorded, createProofVerifier()).filter(
      ({ operation, bit }) => operation !== 0 || bit < from || bit >= to,
    );
    expect(outside).toEqual([]);
  });

  it("is accepted if the bit is in the key of a non-existence proof, which the verifier ignores", () => {
    const absence = valid.filter((recorded) => recorded.expect.kind === "non-membership");
    expect(absence).toHaveLength(21);
    for (const recorded of absence) {
      const [, to] = ignoredBits(recorded);
      const operations = (recorded.operations ?? []).map((bytes) => bytes.slice());
      flip(operations, { operation: 0, bit: to - 1 });
      expect(accepts(recorded, operations, createProofVerifier())).toBe(true);
    }
  });

  it("does not change later results of the same verifier", () => {
    const verifier = createProofVerifier();
    for (const recorded of valid.slice(4, 5)) {
      acceptedBits(recorded, verifier);
      expect(accepts(recorded, recorded.operations ?? [], verifier)).toBe(true);
      expect(acceptedBits(recorded, verifier)).toEqual(acceptedBits(recorded, createProofVerifier()));
    }
  });
});
